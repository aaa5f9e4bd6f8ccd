--- Data sets as files.
local core = require "scullery.core"
local fail = require "scullery.base.fail"
local options = require "scullery.base.options"
local warn = require "scullery.base.warn"

-- y as numbers, and the texts that these stand for or nil.
local function targets_of(ds)
  local texts = ds.classes and type(ds.classes[1]) == "string"
  return ds.y, texts and ds.classes or nil
end

local function write_npz(ds, path)
  local y, labels = targets_of(ds)
  core.write_npz(ds.X, y, labels, path)
end

local function write_libsvm(ds, path)
  local y, labels = targets_of(ds)
  if not y then fail("LIBSVM text has a label in each row, and the data set has no y") end
  if labels then
    fail("LIBSVM text has numbers as labels, and the classes are texts such as %s; \z
      ds:relabel{ ... } gives them numbers", options.show(labels[1]))
  end
  if y:cols() ~= 1 then fail("LIBSVM text has one label in a row, and y has %d", y:cols()) end
  core.write_libsvm(ds.X.sparse and ds.X or core.csr(ds.X), y, path)
end

local writers = { npz = write_npz, libsvm = write_libsvm, svm = write_libsvm }

--- writing.save(ds, path): see Dataset:save.
return function(ds, path)
  options.expect(type(path) == "string", "the path of a file", path)
  local writer = writers[path:match("%.(%w+)$")]
  if not writer then
    fail("\"%s\" is not the name of a .npz, .libsvm or .svm file: the name says the format", path)
  end
  if core.is_texts(ds.X) then
    fail("the rows are texts, and these files hold numbers: p:transform(ds) makes such rows")
  end
  writer(ds, path)
  local left = {}
  for _, name in ipairs{ "weights", "groups", "time", "names" } do
    if ds[name] then left[#left + 1] = name end
  end
  if #left > 0 then
    warn(("dataset:save: %s does not hold the %s of the data set"):format(path,
      table.concat(left, ", ")))
  end
end
