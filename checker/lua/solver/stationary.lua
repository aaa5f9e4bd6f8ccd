--- A test of solvers that report "converged" and declare no objective: whether coefficients a of
--- smooth losses l(f, y) with a penalty on ||a||^2 are stationary,
---
---   mean_i l'(f_i, y_i) x_i + s a = 0,   mean_i l'(f_i, y_i) = 0 with a constant.
---
--- The factor s of the penalty is the solver's own: the one that fits best, or where that is within
--- 1 % of it, lambda times 1/2, 1 or 2.
local core = require "scullery_checker.core"
local problems = require "scullery_checker.solver.problems"

-- A residual is in the solver's own norm: this often the tolerance is no finding.
local NORMS <const> = 10
-- Slopes above this share of those at 0, or this often the tolerance where the solver declares no
-- loss and squares stand for it, are those of another objective.
local OTHER <const>, OTHER_TOLERANCES <const> = 0.01, 1e4

-- Slopes of the loss at scores f (n x 1), the solver's own or that of squares.
local function slopes_of(component, f, Y)
  local instance, out = problems.instance(component), core.zeros(Y:rows(), 1)
  for i = 1, Y:rows() do
    local _, slope = core.solver_row(instance, { f:get(i, 1) }, { Y:get(i, 1) })
    out:set(i, 1, slope[1])
  end
  return out
end

local function dot(A, B) return A:mul(B):sum() end

-- s for the slope g of the loss in a.
local function factor_of(g, a, lambda)
  local square = dot(a, a)
  local best = square > 0 and math.max(-dot(g, a) / square, 0) or 0
  for _, times in ipairs(lambda and { 0.5, 1, 2 } or {}) do
    if math.abs(best - times * lambda) <= 0.01 * times * lambda then return times * lambda end
  end
  return best
end

-- The slope at a fit of the rows of a problem, as a share of that at 0.
local function share_of(component, problem, fit, lambda)
  local n, constant = problem.X:rows(), problems.facts(component).intercept
  local function slope_at(f)
    local slopes = slopes_of(component, f, problem.Y) * (1 / n)
    return problem.X:t() * slopes, constant and slopes:sum() or 0
  end
  local zero = slope_at(problem.Y * 0)
  local g, g_constant = slope_at(fit.predictions)
  g = g + fit.weights * factor_of(g, fit.weights, lambda)
  return math.sqrt((dot(g, g) + g_constant ^ 2) / dot(zero, zero))
end

-- "judged"; "unknown" where it says converged and nothing can be tried; nil where it does not.
-- Features with a K may be shown to the solver in other coordinates.
local function judge(t, one, case)
  local component, role = one.exact, problems.option(t, "role", "regularisation")
  local problem = problems.with(case.problem, { Z = case.problem.X })
  local fit = problems.solved(t, component, problem, case.label)
  if fit.status ~= "converged" or not fit.tolerance then return nil end
  local facts = problems.facts(component)
  if problem.T or facts.penalty ~= "l2" then return "unknown" end
  local share = share_of(component, problem, fit, role and tonumber(one.given[role.name]))
  local most = facts.loss and OTHER or math.min(OTHER, OTHER_TOLERANCES * fit.tolerance)
  if share ~= share or share > most then return "unknown" end
  if share > NORMS * fit.tolerance then
    t:warn("%s: says converged to a tolerance of %.3g, and the slope of its loss and penalty is \z
      %.3g of that at 0", case.label, fit.tolerance, share)
  end
  return "judged"
end

local function stationary(t)
  local facts = problems.facts(t.subject:make())
  if facts.objective then t:skip("it declares its objective, which the test 'optimal' checks") end
  if facts.models then t:skip("it makes models, which have no coefficients") end
  if not problems.option(t, "name", "tolerance") then t:skip("it has no option 'tolerance'") end
  local seen = {}
  for one in problems.variants(t) do
    for _, case in ipairs(one.cases) do seen[judge(t, one, case) or "nothing"] = true end
  end
  if seen.judged then return end
  if seen.unknown then
    t:warn("\"converged\" cannot be verified: its loss and penalty are not known; offer \z
      SCL_ABILITY_OBJECTIVE")
  else
    t:skip("it states no optimality")
  end
end

return {
  { name = "stationary", about = "where it reports converged, loss plus penalty is stationary",
    run = stationary },
}
