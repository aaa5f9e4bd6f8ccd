--- Tests of solvers: the same problem in another form has the same solution.
local core = require "scullery_checker.core"
local problems = require "scullery_checker.solver.problems"

-- The predictions of a problem in other forms are those of its first form, up to a share, or where
-- they may be rounded up to the root of the tolerance of the objective: small steps end elsewhere
-- within it. forms: lists of { label, changes }.
local function same_in_all_forms(t, component, case, forms, share)
  local want
  for _, form in ipairs(forms) do
    local what = case.label .. ", " .. form[1]
    local fit = problems.solved(t, component, problems.with(case.problem, form[2] or {}), what)
    want = want or fit
    local allowed = share == 0 and 0 or math.max(share, math.sqrt(fit.tolerance or 0))
    problems.same(t, want.predictions, fit.predictions, allowed, "%s, and %s", forms[1][1], what)
  end
end

-- ------------ blocks and threads

local function blocks(t)
  local forms = { { "all rows in one block" }, { "blocks of 17 rows", 17 },
    { "blocks of one row", 1 } }
  for one in problems.variants(t) do
    for _, case in ipairs(problems.all_cases(t, one)) do
      local list = {}
      for _, memory in ipairs{ 1.5e9, 0 } do
        for _, form in ipairs(forms) do
          list[#list + 1] = { form[1] .. (memory == 0 and ", none kept" or ""),
            { block = form[2] or 120, allowance = memory } }
        end
      end
      same_in_all_forms(t, one.exact, case, list, 1e-8)
    end
  end
end

local function threads(t)
  local before = core.threads()
  local ok, message = pcall(function()
    for one in problems.variants(t) do
      for _, case in ipairs(problems.all_cases(t, one)) do
        local problem = problems.make(t, { n = 1000, d = 20, classes = case.problem.classes,
          positive = case.problem.positive, T = case.problem.T, targets = case.problem.Y:cols() })
        local want
        for _, count in ipairs{ 1, 4, 3, 4 } do
          core.threads(count)
          local fit = problems.solved(t, one.hasty, problem, case.label)
          want = want or fit
          problems.same(t, want.predictions, fit.predictions, 1e-8, "%s, 1000 rows, 20 columns: 1 \z
            and %d threads", case.label, count)
          if problems.apart(want.predictions, fit.predictions) > 0 then
            t:warn("%s: 1 and %d threads give different last digits", case.label, count)
          end
        end
      end
    end
  end)
  core.threads(before)
  if not ok then error(message, 0) end
end

local function again(t)
  for one in problems.variants(t) do
    for _, case in ipairs(problems.all_cases(t, one)) do
      same_in_all_forms(t, one.hasty, case, { { "once" }, { "once more" },
        { "a third time" } }, 0)
    end
  end
end

-- ------------ float32

-- The numbers of a matrix as float32 holds them, in float64.
local function rounded(A) return A:astype("float32"):astype("float64") end

local function float32(t)
  for one in problems.variants(t) do
    local component = t.subject:make(problems.exact(t, one.given, 1e-9, 500))
    for _, case in ipairs(problems.all_cases(t, one)) do
      local problem = problems.with(case.problem, { X = rounded(case.problem.X),
        Z = rounded(case.problem.Z) })
      local wide = problems.solved(t, component, problem, case.label)
      local narrow = problems.solved(t, component, problems.with(problem, { dtype = "float32" }),
        case.label .. " in float32")
      -- the rows are what float32 holds: only sums may be rounded
      local slack = math.max(6e-5, problems.unfinished(wide, narrow))
      problems.same(t, wide.predictions, narrow.predictions, slack, "%s, in float64 and float32",
        case.label)
    end
  end
end

-- ------------ what is penalised

-- An orthogonal matrix: products of reflections along random vectors.
local function orthogonal(t, d)
  local Q = core.eye(d)
  for k = 1, 3 do
    local v = t:random(d, 1, 60 + k)
    Q = Q - (Q * v) * v:t() * (2 / (v:t() * v):get(1, 1))
  end
  return Q
end

local function reversed(d, sign)
  local P = core.zeros(d, d)
  for i = 1, d do P:set(i, d + 1 - i, i % 2 == 0 and sign or 1) end
  return P
end

local what_of = { l2 = "rows turned by an orthogonal matrix", signs = "columns in another order" }

-- A penalty on ||a|| does not change where the axes turn; on single coefficients, not where they
-- change places, and signs, unless these are bound.
local function penalty(t)
  local tried
  for one in problems.variants(t) do
    local facts = problems.facts(one.exact)
    t:expect(facts.penalty, "its penalty is number %d, which is not a penalty",
      facts.penalty_number)
    for _, case in ipairs(one.cases) do
      local d = case.problem.X:cols()
      local turns = { l2 = orthogonal(t, d), l1 = reversed(d, -1), box = reversed(d, -1),
        signs = reversed(d, 1) }
      local fit = problems.solved(t, one.exact, case.problem, case.label)
      local turn = turns[facts.penalty]
      if turn and not case.problem.T and fit.status == "converged" and not facts.models then
        tried = true
        local what = what_of[facts.penalty] or "columns in another order, some with the other sign"
        local turned = problems.solved(t, one.exact, problems.with(case.problem, {
          X = case.problem.X * turn, Z = case.problem.Z * turn }), case.label .. ", " .. what)
        problems.same(t, fit.predictions, turned.predictions, problems.slack(fit, turned),
          "%s, penalty %s: %s", case.label, facts.penalty, what)
      end
    end
  end
  if tried then return end
  t:skip("it declares no penalty on coefficients of rows, or no optimality")
end

-- ------------ a point to start from

-- All 0, half of it 0, and none 0.
local function starts(t, rows, cols)
  local half = t:random(rows, cols, 62)
  for i = 1, rows // 2 do
    for j = 1, cols do half:set(i, j, 0) end
  end
  return { core.zeros(rows, cols), half, t:random(rows, cols, 61) }
end

local function start(t)
  local tried
  for one in problems.variants(t) do
    for _, case in ipairs(problems.all_cases(t, one)) do
      local cold = problems.solved(t, one.exact, case.problem, case.label)
      if cold.status == "converged" and cold.weights then
        tried = true
        local what = case.label .. ", from a random point (scl_problem.warm)"
        for _, point in ipairs(starts(t, cold.weights:rows(), cold.weights:cols())) do
          local warm = problems.solved(t, one.exact, case.problem, what, { start = point })
          problems.same(t, cold.predictions, warm.predictions, math.max(problems.slack(cold, warm),
            problems.unfinished(warm)), "%s, and from 0", what)
        end
      end
    end
  end
  if not tried then t:skip("it makes models, or states no optimality") end
end

-- ------------ sparse rows

-- One-hot features, as a map gives them, and the same as rows.
local function one_hot(t, problem)
  local sc = require "scullery"
  local features = sc.features{ p = sc.sampler.grid(), phi = sc.nonlinearity.bins(), T = 4,
    seed = t.seed }
  local fitted = sc.pipeline{ features }:fit(problem.X)
  return fitted:transform(problem.X), fitted:transform(problem.Z), features
end

local function sparse(t)
  if not problems.facts(t.subject:make()).sparse then
    t:skip("it does not read sparse rows (SCL_ABILITY_SPARSE_ROWS)")
  end
  for one in problems.variants(t) do
    for _, case in ipairs(problems.all_cases(t, one)) do
      if not case.problem.T then
        local X, Z, features = one_hot(t, case.problem)
        local dense = problems.solved(t, one.exact, problems.with(case.problem, { X = X, Z = Z }),
          case.label .. ", one-hot rows with their zeros")
        local thin = problems.solved(t, one.exact, problems.with(case.problem,
          { cells = features }), case.label .. ", sparse one-hot rows")
        problems.same(t, dense.predictions, thin.predictions, problems.slack(dense, thin),
          "%s, one-hot rows, sparse and with their zeros", case.label)
      end
    end
  end
end

-- The rows of a matrix with 0 in place of the numbers near 0, and a row and a column of zeros.
local function thinned(X)
  local thin = X:copy()
  for i = 1, X:rows() do
    for j = 1, X:cols() do
      if i == 2 or j == 2 or math.abs(X:get(i, j)) < 0.8 then thin:set(i, j, 0) end
    end
  end
  return thin
end

-- Weights 0, 1, 2, 3 of the rows.
local function some_weights(X)
  local i = -1
  return X:column(1):map(function()
    i = i + 1
    return i % 4
  end)
end

-- Rows that are refused with their zeros, as some forms do with weights, may be refused without.
local function check_csr(t, component, problem, label)
  if problems.refused(problems.solve(component, problem)) then return end
  local dense = problems.solved(t, component, problem, label .. ", rows with their zeros")
  local thin = problems.solved(t, component, problems.with(problem, { csr = true }),
    label .. ", compressed sparse rows")
  problems.same(t, dense.predictions, thin.predictions, problems.slack(dense, thin),
    "%s, compressed sparse rows and the same with their zeros", label)
end

-- Besides 120 rows of 5 columns: more columns than rows, very many, several targets and classes.
local function other_rows(t, problem)
  local list, T = { problem }, { problem.classes > 0 and 3 or 0, problem.classes == 0 and 3 or nil }
  for _, size in ipairs{ { 40, 90 }, { 30, 700 } } do
    for _, many in ipairs{ false, true } do
      list[#list + 1] = problems.make(t, { n = size[1], d = size[2],
        classes = many and T[1] or problem.classes, targets = many and T[2] or nil,
        positive = problem.positive })
    end
  end
  return list
end

local function csr(t)
  if not problems.facts(t.subject:make()).csr then
    t:skip("it does not read compressed sparse rows (SCL_ABILITY_CSR_ROWS)")
  end
  for one in problems.variants(t) do
    for _, case in ipairs(one.cases) do
      for k, of in ipairs(case.problem.T and {} or other_rows(t, case.problem)) do
        if k > 1 and not one.is_default then break end
        local rows = problems.with(of, { X = thinned(of.X), Z = thinned(of.Z) })
        local label = ("%s, %d columns"):format(case.label, of.X:cols())
        check_csr(t, one.exact, rows, label)
        rows = problems.with(rows, { weights = some_weights(rows.X) })
        check_csr(t, one.exact, rows, label .. ", weights")
      end
    end
  end
end

return {
  { name = "blocks", about = "blocks of 1, 17 and all rows, kept or not: the same predictions",
    run = blocks, seconds = 60 },
  { name = "any-threads", about = "1 and many threads give the same predictions", run = threads,
    seconds = 60 },
  { name = "same-bits", about = "one problem three times gives the same bits", run = again },
  { name = "float32", about = "float32 rows give nearly the predictions of float64",
    run = float32 },
  { name = "penalty", about = "the declared norm is penalised: rotated rows, same predictions",
    run = penalty },
  { name = "start", about = "another point to start from ends at the same solution", run = start },
  { name = "sparse", about = "sparse rows are the same rows without their zeros", run = sparse },
  { name = "csr", about = "compressed sparse rows, with weights and without, give the predictions \z
    of the same rows with their zeros", run = csr, seconds = 60 },
}
