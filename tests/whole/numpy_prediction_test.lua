-- The prediction without Scullery that docs/models.md prints, run as it stands there.
package.path = (os.getenv("SCULLERY_SOURCE") or ".") .. "/tests/helpers/?.lua;" .. package.path
local lu = require "luaunit"
local sc = require "scullery"
local models, support = require "small_models", require "support"

local function printed()
  local text = support.read((os.getenv("SCULLERY_SOURCE") or ".") .. "/docs/models.md")
  return assert(text:match("```python\n(import json, struct, sys.-)```"),
    "docs/models.md prints no Python")
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

-- What the printed program says of the rows, as a list of lines.
local function lines_of(p, X)
  local base, name, said = os.tmpname(), python(), {}
  support.write(base .. ".py", printed())
  p:save(base .. ".model", { parameters = true })
  write_rows(base .. ".csv", X)
  local status, out, err = support.shell(("%s -P %s.py %s.model %s.csv"):format(name, base, base,
    base))
  for _, ending in ipairs{ "", ".py", ".model", ".csv" } do os.remove(base .. ending) end
  lu.assertEquals(status, 0, err)
  for line in out:gmatch("[^\n]+") do said[#said + 1] = line end
  return said
end

function TestRegressionInNumPy()
  lu.skipIf(not python(), "there is no Python with NumPy")
  for targets = 1, 2 do
    local X = sc.randn{ 80, 3, seed = 1 }
    local ds = sc.dataset{ X = X, y = X:slice(1, 80, 1, targets):map(math.sin) * 100,
      task = "regression" }
    local p = sc.pipeline{ sc.standardize(), sc.features{ p = sc.sampler.gaussian{ sigma = 0.5 },
      phi = sc.nonlinearity.fourier(), T = 50 }, sc.solver.ridge{ lambda = 1e-3 } }:fit(ds)
    local said, values = lines_of(p, X), p:predict(X)
    lu.assertEquals(#said, 80)
    for i, line in ipairs(said) do
      local j = 0
      for number in line:gmatch("[^,]+") do
        j = j + 1
        lu.assertAlmostEquals(tonumber(number), values:get(i, j), 1e-9)
      end
      lu.assertEquals(j, targets)
    end
  end
end

function TestPredictionInNumPy()
  lu.skipIf(not python(), "there is no Python with NumPy")
  for _, classes in ipairs{ 2, 3 } do
    local ds = models.classes(90, classes)
    local train, test = ds:split{ test = 0.5, seed = 0 }
    local p = sc.pipeline{ sc.standardize(), sc.features{ p = sc.sampler.gaussian(),
      phi = sc.nonlinearity.fourier(), T = 50 },
      sc.solver.ridge{ lambda = 1e-3, intercept = true } }:fit(train)
    local said, wanted = lines_of(p, test.X), {}
    for i = 1, #test do wanted[i] = p.classes[p:predict(test.X):get(i, 1)] end
    lu.assertEquals(said, wanted)
  end
end

os.exit(lu.LuaUnit.run())
