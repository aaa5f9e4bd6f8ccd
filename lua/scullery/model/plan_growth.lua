--- p:plan of features with T = "auto": the plan of the growth to the largest number of parameters
--- that it may try (growing.lua). It can end earlier, as that depends on the losses.
local automatic = require "scullery.model.automatic"
local candidates = require "scullery.model.candidates"
local component = require "scullery.compose.component"
local core = require "scullery.core"
local growing = require "scullery.model.growing"
local growing_fits = require "scullery.model.growing_fits"
local options = require "scullery.base.options"
local plan = require "scullery.model.plan"
local trials = require "scullery.model.trials"

local plan_growth = {}

local rules = options.declare("pipeline:plan", { budget = growing.rule })

-- Values of a regularisation that is not given, which a solver of a path tries in each step, and
-- the fits that judge them where the rows are few (growing_fits.lua).
local VALUES, FITS = { 1e-6, 1e-5, 1e-4, 1e-3, 1e-2 }, 2

-- The values of the path option that a step solves for, or nil.
local function values_of(p)
  local open = automatic.open(p)
  if not (open and open.lambda) then return nil end
  local path = core.solver_facts(component.instance(p.solver)).path_option
  return path == candidates.regularisation(p.solver).name and VALUES or nil
end

-- What a step with T parameters takes: its sizes, and the sums of the operations and seconds of its
-- parts. known: sizes with times, or nil to measure them.
local function step_of(p, ds, T, values, known)
  local t = plan.sizes(p, ds, { T = T, values = values, seconds = not known })
  if known then plan.take_times(t, known) end
  local step = { T = T, sizes = t, bytes = plan.peak(t), flops = 0, seconds = 0 }
  local judged = values and #values or 1
  for _, one in ipairs(plan.parts(t, true, { fits = FITS, candidates = judged })) do
    step.flops, step.seconds = step.flops + one.flops, step.seconds + one.seconds
  end
  return step
end

-- Whether the growth ends before a step, by its budget or by the memory that is left.
local function exceeds(step, seconds, budget, left)
  return step.T > growing.BEGIN and (step.bytes > left
    or budget and budget.seconds and seconds + step.seconds > budget.seconds
    or budget and budget.bytes and step.bytes > budget.bytes)
end

-- The steps, from the first number of parameters to the largest.
local function steps_of(p, ds, budget)
  local list, seconds, left = {}, 0, core.memory_left()
  local largest, values = growing.largest(ds:size(), budget), values_of(p)
  local known = plan.sizes(p, ds, { T = growing.largest((ds:size())), seconds = true })
  local T = growing.first(trials.least_T(p))
  repeat
    local step = step_of(p, ds, T, values, known)
    if exceeds(step, seconds, budget, left) then break end
    list[#list + 1], seconds, T = step, seconds + step.seconds, 2 * T
  until T > largest
  return list, known
end

--- plan_growth.run(p, ds, given): the plan of a fit with T = "auto"; given: { budget = }. Its field
--- T is the largest number of parameters.
function plan_growth.run(p, ds, given)
  local budget = options.check("pipeline:plan", given, rules, 0).budget
  growing_fits.check(p, ds)
  local steps, known = steps_of(p, ds, budget)
  local last, least = steps[#steps], steps[1]
  for _, step in ipairs(steps) do
    if step.T <= growing.BEGIN then least = step end
  end
  local t = plan.sizes(p, ds, { T = last.T, once = true })
  plan.take_times(t, known)
  local list, grown = plan.parts(t, true), { what = "growth", bytes = last.bytes, flops = 0,
    seconds = 0, about = ("T = %d to %d"):format(steps[1].T, last.T) }
  for _, step in ipairs(steps) do
    grown.flops, grown.seconds = grown.flops + step.flops, grown.seconds + step.seconds
    if step == least then least.after = grown.seconds end
  end
  list[#list + 1] = grown
  list[#list + 1] = plan.choosing(p, t)
  local made = plan.made(list, t, math.max(plan.peak(t), last.bytes), true)
  made.T = last.T
  made.note = ("T = \"auto\" is at most %d here; growth that ends with T = %d takes %s more, and %s"
    ):format(last.T, least.T, plan.bytes_text(least.bytes), plan.seconds_text(least.after))
    .. (made.note and "\n" .. made.note or "")
  return made
end

return plan_growth
