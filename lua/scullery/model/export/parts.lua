--- Parts of a fitted pipeline that files of all kinds are written from.
local component = require "scullery.compose.component"
local core = require "scullery.core"
local fail = require "scullery.base.fail"
local keys = require "scullery.base.keys"

local parts = {}

--- parts.check(f): raises an error for models that no file but p:save's holds.
function parts.check(f)
  if f.task == "multilabel" then
    fail("the file predicts one label or the values of a row, and this model has several labels")
  end
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

--- parts.mean(f): the mean of targets with the score f as an expression of C, for a model whose
--- predictions are means; nil for others.
function parts.mean(f)
  if not f.means then return nil end
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
