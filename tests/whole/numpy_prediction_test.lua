-- The prediction without Scullery that docs/models.md prints, run as it stands there.
package.path = (os.getenv("SCULLERY_SOURCE") or ".") .. "/tests/helpers/?.lua;" .. package.path
local lu = require "luaunit"
local sc = require "scullery"
local models, support = require "small_models", require "support"

local function printed()
  local text = support.read((os.getenv("SCULLERY_SOURCE") or ".") .. "/docs/models.md")
  return assert(text:match("```python\n(.-)```"), "docs/models.md prints no Python")
end

-- A Python with NumPy, or nil. A sanitizer's environment is not for it.
local function python()
  for _, name in ipairs{ "python3", "/usr/bin/python3" } do
    if support.shell(name .. " -c 'import numpy'") == 0 then return name end
  end
end

local function write_rows(path, X)
  local lines = {}
  for i = 1, X:rows() do
    local row = {}
    for j = 1, X:cols() do row[j] = ("%.17g"):format(X:get(i, j)) end
    lines[i] = table.concat(row, ",")
  end
  support.write(path, table.concat(lines, "\n") .. "\n")
end

function TestItIsShort()
  local _, count = printed():gsub("\n", "\n")
  lu.assertTrue(count <= 25, count .. " lines")
end

function TestPredictionInNumPy()
  local name = python()
  lu.skipIf(not name, "there is no Python with NumPy")
  local base = os.tmpname()
  support.write(base .. ".py", printed())
  for _, classes in ipairs{ 2, 3 } do
    local ds = models.classes(90, classes)
    local train, test = ds:split{ test = 0.5, seed = 0 }
    local p = sc.pipeline{ sc.standardize(), sc.features{ p = sc.sampler.gaussian(),
      phi = sc.nonlinearity.fourier(), T = 50 },
      sc.solver.ridge{ lambda = 1e-3, intercept = true } }:fit(train)
    p:save(base .. ".model", { parameters = true })
    write_rows(base .. ".csv", test.X)
    local status, out, err = support.shell(("%s -P %s.py %s.model %s.csv"):format(name, base, base,
      base))
    lu.assertEquals(status, 0, err)
    local said, wanted = {}, {}
    for label in out:gmatch("[^\n]+") do said[#said + 1] = label end
    for i = 1, #test do wanted[i] = p.classes[p:predict(test.X):get(i, 1)] end
    lu.assertEquals(said, wanted)
  end
  for _, ending in ipairs{ "", ".py", ".model", ".csv" } do os.remove(base .. ending) end
end

os.exit(lu.LuaUnit.run())
