--- ds:relabel: new labels for the classes of a data set.
local fail = require "scullery.base.fail"
local options = require "scullery.base.options"
local targets = require "scullery.data.targets"

-- Raises an error unless f is a function, or a table whose keys are all classes.
local function check(f, classes)
  if type(f) == "function" then return end
  if type(f) ~= "table" or getmetatable(f) then
    fail("takes a function of a label or a table of labels, and got %s", options.show(f))
  end
  local known = {}
  for _, label in ipairs(classes) do known[label] = true end
  for label in next, f do
    if not known[label] then
      fail("the table has %s, and the data set has no such label: its classes are %s",
        options.show(label), options.show(classes))
    end
  end
end

-- The new label of each class; nil from f keeps the old one.
local function new_labels(f, classes)
  local new = {}
  for k, label in ipairs(classes) do
    local other
    if type(f) == "table" then other = f[label] else other = f(label) end
    new[k] = other == nil and label or other
  end
  return new
end

--- relabel(ds, f): see Dataset:relabel. Returns the new classes and the codes of the rows.
return function(self, f)
  if self.task ~= "classification" then fail("a regression has no labels") end
  check(f, self.classes)
  local new, code = new_labels(f, self.classes), {}
  local ok, y, classes = pcall(targets.read, new, nil, "classification")
  if not ok then fail("the new labels: %s", y) end
  for value, k in pairs(targets.places(self.classes)) do code[value] = y:get(k, 1) end
  return classes, self.y:map(function(v)
    return code[v] or fail("a row has a label that is not one of the classes")
  end)
end
