--- Parts of a fitted pipeline that files of all kinds are written from.
local component = require "scullery.compose.component"
local core = require "scullery.core"
local fail = require "scullery.base.fail"
local keys = require "scullery.base.keys"

local parts = {}

--- parts.check(f): raises an error for models that no file but p:save's holds.
function parts.check(f)
  if f.encoder then fail("a pipeline of sc.text takes texts, and the file takes numbers") end
  if f.learnt then
    fail("solver.%s keeps a model of its own, which has no formula in C", f.solver.name)
  end
end

--- parts.arrays(saved): the arrays of a saved stage, { name, matrix } sorted by name.
function parts.arrays(saved)
  local list = {}
  for i, name in ipairs(keys.sorted(saved.arrays or {})) do
    local matrix = saved.arrays[name]
    if not core.is_rows(matrix) then
      fail("stage.%s has an array '%s' that is not of float64, which the file cannot have",
        saved.kind, name)
    end
    list[i] = { name = name, matrix = matrix }
  end
  return list
end

--- parts.rounding(map): how features are rounded to whole numbers, { most, unit, base, inverse }:
--- base + unit v with v = (feature - base) inverse, rounded and at most `most`; nil: they are not.
function parts.rounding(map)
  local found = core.map_rounding(map)
  if not found then return nil end
  found.inverse = found.unit:map(function(unit) return unit == 0 and 0 or 1 / unit end)
  return found
end

--- parts.ranks(f): where each of the values that the solver predicts of a target stands among them
--- in ascending order, from 1, if its predictions are the sorted scores; nil: they are not.
function parts.ranks(f)
  local q = f.outputs
  if not (f.means and q) then return nil end
  local bare = f:with{}
  bare.form = nil
  local ranks, sorts = {}, true
  for turn = 1, q do -- scores 1 .. q in all turned orders
    local scores = core.zeros(1, f.weights:cols())
    for j = 1, scores:cols() do scores:set(1, j, (j + turn) % q + 1) end
    local values = bare:decide(scores)
    for j = 1, scores:cols() do
      ranks[j] = ranks[j] or math.tointeger(values:get(1, j)) or 0
      sorts = sorts and values:get(1, j) == ranks[j] and ranks[j] == ranks[(j - 1) % q + 1]
        and ranks[j] >= 1 and ranks[j] <= q
    end
  end
  return sorts and ranks or nil
end

--- parts.mean(f): the mean of targets with the score f as an expression of C, for a model whose
--- predictions are means; nil for others.
function parts.mean(f)
  if not f.means or parts.ranks(f) then return nil end
  local own = core.formula(component.instance(f.solver))
  if own then return own end
  for _, value in pairs(component.options(f.solver, {})) do
    if component.is(value, "loss") then
      return core.formula(component.instance(value))
        or fail("the means of loss.%s have no formula in C", value.name)
    end
  end
  return fail("what solver.%s makes of its scores has no formula in C", f.solver.name)
end

return parts
