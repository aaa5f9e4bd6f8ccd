-- Widths that do not fit the data: fit says so once, in info().note too, and names the way out; it
-- says nothing where the kernel does tell rows apart.
local lu = require "luaunit"
local sc = require "scullery"
local stages = require "scullery.compose.stages"
local core = require "scullery.core"
local width = require "scullery.model.width"

local X = sc.rand{ 300, 30, seed = 1 } * 255 -- grey values
local y = X:column(1)

local function features(p, phi) return sc.features{ p = p, phi = phi or sc.nonlinearity.fourier(),
  T = 40, seed = 1 } end
local function note_of(feats, rows, ...)
  local p = sc.pipeline{ feats, ... }:fit(rows)
  return width.note(core.source(rows), p.fitted.stages, p.fitted.map, feats)
end
local gaussian, cauchy = sc.sampler.gaussian, sc.sampler.cauchy

-- What a fit writes to standard error.
local function said(code)
  local path, out = os.tmpname(), os.tmpname()
  local file = assert(io.open(path, "w"))
  file:write("local X = sc.rand{ 300, 30, seed = 1 } * 255\nlocal y = X:column(1)\n", code)
  file:close()
  local binary = os.getenv("SCULLERY_BINARY") or arg[-1]
  assert(os.execute(("'%s' '%s' 2> '%s'"):format(binary, path, out)))
  file = assert(io.open(out))
  local text = file:read("a")
  file:close()
  os.remove(path)
  os.remove(out)
  return text
end

function TestFitSaysItOnceAndInItsNote()
  local text = said[[
    local f = sc.features{ p = sc.sampler.gaussian{ gamma = 0.02 }, phi = sc.nonlinearity.fourier(),
      T = 40 }
    local p = sc.pipeline{ f, sc.solver.ridge{} }:fit(X, y)
    assert(p:info().note:find('"median"', 1, true))
    assert(tostring(p):find("within 1e-6 of 0", 1, true))]]
  local _, count = text:gsub("within 1e%-6 of 0", "")
  lu.assertEquals(count, 1)
  lu.assertStrMatches(text,
    "scullery: the kernel of the features .*\"median\" of sampler.gaussian.*")
  -- a search says it of the model that it keeps, and not of each cell
  text = said[[
    sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ gamma = sc.choose{ 0.01, 0.02, 0.03 } },
      phi = sc.nonlinearity.fourier(), T = 40 }, sc.solver.ridge{} }:search(
      sc.dataset{ X = X, y = y }, { folds = 3 })]]
  lu.assertEquals(select(2, text:gsub("within 1e%-6 of 0", "")), 1)
  lu.assertEquals(said[[
    sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ gamma = "median" },
      phi = sc.nonlinearity.fourier(), T = 40 }, sc.solver.ridge{} }:fit(X, y)]], "")
end

function TestTooNarrow()
  for _, feats in ipairs{ features(gaussian{ gamma = 0.02 }), features(cauchy{ gamma = 1 }),
    features(sc.sampler.hadamard{ gamma = 0.02 }),
    features(sc.sampler.landmarks{}, sc.kernel.gaussian{ gamma = 0.02 }) } do
    lu.assertStrContains(note_of(feats, X), "within 1e-6 of 0")
    lu.assertNil(note_of(feats, sc.pipeline{ sc.standardize() }:fit(X):transform(X) * 0.3))
  end
end

function TestTooWide()
  for _, feats in ipairs{ features(gaussian{ gamma = 1e-15 }),
    features(sc.sampler.landmarks{}, sc.kernel.gaussian{ gamma = 1e-15 }) } do
    lu.assertStrContains(note_of(feats, X), "all rows look alike")
  end
  -- thresholds far from all rows: no closed form is needed to see that features do not differ
  local far = sc.instantiation{ W = sc.space.threshold(), K = sc.kernel.gaussian{ width = 1 },
    p = sc.sampler.threshold{ sigma = 1 }, phi = sc.nonlinearity.sign() }:features{ T = 20 }
  lu.assertStrContains(note_of(far, X + 1e6), "all rows look alike")
  lu.assertNil(note_of(far, X / 255 - 0.5))
end

function TestNothingWhereTheWidthIsNotTheMatter()
  lu.assertNil(note_of(features(gaussian{ gamma = "median" }), X))
  for _, phi in ipairs{ "sign", "relu", "tanh", "step" } do
    lu.assertNil(note_of(features(gaussian{ sigma = 1 }, sc.nonlinearity[phi]()), X), phi)
  end
  -- orthogonal rows, one column, equal rows, one row
  local identity = features(gaussian{ sigma = 1 }, sc.nonlinearity.identity())
  lu.assertNil(note_of(identity, sc.eye(60)))
  lu.assertNil(note_of(identity, X:column(1)))
  lu.assertNil(note_of(features(gaussian{ gamma = 1 }), sc.ones(20, 3)))
  lu.assertNil(note_of(features(gaussian{ gamma = 1 }), X:slice(1, 1)))
end

function TestTheSampleIsSeededAndStaged()
  local stage = stages.fit(sc.standardize(), core.source(X), {})
  local a, b = core.sample(core.source(X), { stage }, 50, 0), core.sample(core.source(X), { stage },
    50, 0)
  lu.assertTrue(a == b and a:rows() == 50 and math.abs(a:column(1):mean()) < 0.5)
  lu.assertFalse(a == core.sample(core.source(X), { stage }, 50, 1))
  lu.assertEquals(core.sample(core.source(X:slice(1, 7)), {}, 50, 0):rows(), 7)
end

function TestAStreamIsSampledAtItsBeginning()
  local path = os.tmpname()
  local file = assert(io.open(path, "w"))
  for i = 1, 300 do
    file:write(("%.17g,%.17g,%.17g\n"):format(X:get(i, 1), X:get(i, 2), y:get(i, 1)))
  end
  file:close()
  local ds = sc.data.csv(path, { target = 3, stream = true, header = false })
  local p = sc.pipeline{ features(gaussian{ gamma = 10 }), sc.solver.ridge{} }:fit(ds)
  lu.assertStrContains(p:info().note, "within 1e-6 of 0")
  lu.assertEquals(p:predict(ds):rows(), 300) -- and it is read from its beginning again
  os.remove(path)
end

os.exit(lu.LuaUnit.run(), true)
