-- Plugins: what is refused, what is said of options, and a third party's component in every path.
local lu = require "luaunit"
local sc = require "scullery"
local core = require "scullery.core"
local support = dofile("tests/helpers/support.lua")
local fails = support.fails

local folder = (os.getenv("SCULLERY_BUILD") or "build") .. "/tests/plugins/"

function TestRefusals()
  fails({ "interface 8", "speaks 1" }, sc.plugin.load, folder .. "wrong_abi.so")
  fails({ "no symbol 'scullery_plugin'" }, sc.plugin.load, folder .. "no_symbol.so")
  fails({ "no such file" }, sc.plugin.load, folder .. "absent.so")
  fails({ "folder" }, sc.plugin.load, folder)
  local text = os.tmpname()
  support.write(text, "this is no shared object")
  fails({ "not a loadable shared object" }, sc.plugin.load, text)
  os.execute("chmod o+w '" .. text .. "'")
  fails({ "every user may write" }, sc.plugin.load, text)
  os.remove(text)
  sc.sampler.gaussian{}
  fails({ "there is a sampler 'gaussian' already" }, sc.plugin.load, folder .. "duplicate.so")
  fails({ "path" }, sc.plugin.load, 7)
end

-- Refusals are told of the line that asks.
function TestRefusalsAreRaisedAtTheCallersLine()
  local here = "plugin_test.lua:" .. debug.getinfo(1, "l").currentline + 2
  local chunks = {
    function() sc.plugin.load(folder .. "absent.so") end,
    function() sc.plugin.info("sampler.no") end
  }
  for _, f in ipairs(chunks) do
    local message = fails({}, f)
    lu.assertNotNil(message:find("plugin_test%.lua:%d+: "), message)
    lu.assertNil(message:find("scullery/plugin/init.lua", 1, true), message)
  end
  lu.assertStrContains(fails({}, chunks[1]), here)
end

function TestUnknownNames()
  fails({ "gausian", "did you mean 'gaussian'", "threshold" }, function()
    return sc.sampler.gausian
  end)
  fails({ "no solver 'rigde'", "ridge" }, function() return sc.solver.rigde end)
  fails({ "../evil" }, function() return sc.sampler["../evil"] end)
  fails({ "no plugin 'sigm'", "did you mean 'sign'" }, sc.plugin.info, "sigm")
  lu.assertEquals(sc.plugin.info("sampler.threshold").name, "threshold")
  fails({ "several", "sampler.gaussian", "kernel.gaussian" }, sc.plugin.info, "gaussian")
end

function TestOptions()
  fails({ "solver.ridge", "lamda", "did you mean 'lambda'" }, sc.solver.ridge, { lamda = 1 })
  fails({ "'alpha' (did you mean 'lambda'?)" }, sc.solver.ridge, { alpha = 1 })
  fails({ "'n_components'", "T of sc.features" }, sc.sampler.gaussian, { n_components = 100 })
  fails({ "'desc' (did you mean 'describe'?)" }, function() return sc.data.load("wdbc"):desc() end)
  fails({ "'n_components' (did you mean 'T'?)" }, sc.features, { n_components = 10 })
  fails({ "'lambda'", "-1", "at least 0" }, sc.solver.ridge, { lambda = -1 })
  fails({ "'lambda'", "\"big\"" }, sc.solver.ridge, { lambda = "big" })
  fails({ "'lambda'" }, sc.solver.ridge, { lambda = 0 / 0 })
  fails({ "'lambda'" }, sc.solver.ridge, { lambda = math.huge })
  fails({ "'penalty'", "l2, rkhs" }, sc.solver.ridge, { penalty = "l1" })
  fails({ "'intercept'", "true or false" }, sc.solver.ridge, { intercept = 1 })
  fails({ "sigma", "gamma" }, sc.sampler.gaussian, { sigma = 1, gamma = 1 })
  fails({ "'sigma'", "above 0", "scale" }, sc.sampler.gaussian, { sigma = 0 })
  fails({ "'bias'", "none, uniform" }, sc.sampler.gaussian, { bias = "normal" })
  fails({ "low < high" }, sc.sampler.gaussian, { bias = { 2, 1 } })
  fails({ "'sigma'" }, sc.sampler.gaussian, { sigma = { 1, -1 } })
  fails({ "'sigma'" }, sc.sampler.gaussian, { sigma = function() end })
  fails({ "sampler.gaussian", "named options", "got 5 without a name" }, sc.sampler.gaussian, { 5 })
  fails({ "table of named options" }, sc.sampler.gaussian, 5)
  fails({ "give one" }, sc.kernel.gaussian, { gamma = 1, theta = 0.5 })
  fails({ "'form'", "phase, pair" }, sc.nonlinearity.fourier, { form = "both" })
  fails({ "'x'", "takes none" }, sc.nonlinearity.sign, { x = 1 })
end

-- All components, those apart that the other tests here load.
local function shipped()
  local list = {}
  for _, entry in ipairs(core.plugin_list()) do
    if not entry.path:find("/tests/plugins/", 1, true) then list[#list + 1] = entry end
  end
  return list
end

-- One component a file, or a folder of files, whose name is the name that one types.
function TestEverySourceFileIsRegisteredUnderItsName()
  local registered, sources = {}, {}
  for _, entry in ipairs(shipped()) do
    registered[#registered + 1] = entry.kind .. "." .. entry.name
  end
  for path in io.popen("ls plugins/*/*.c plugins/*/*/*.c"):lines() do
    local kind, place = path:match "^plugins/(%w+)/(.+)%.c$"
    local name = place:match "[%w_]+$"
    if kind ~= "shared" and (place == name or place == name .. "/" .. name) then
      sources[#sources + 1] = kind .. "." .. name
    end
  end
  table.sort(registered)
  table.sort(sources)
  lu.assertEquals(registered, sources)
end

-- A summary is one line, and help is read on a terminal.
function TestEveryRegisteredComponentIsDescribed()
  local function one_line(text, least, what)
    lu.assertTrue(text ~= nil and #text >= least, what)
    lu.assertNil(text:find("\n"), what)
  end
  for _, entry in ipairs(shipped()) do
    local name = entry.kind .. "." .. entry.name
    local info = core.plugin_info(entry.kind, entry.name)
    lu.assertEquals({ info.kind, info.name, info.path }, { entry.kind, entry.name, entry.path })
    one_line(info.summary, 6, name)
    lu.assertTrue(#info.summary <= 100, name)
    lu.assertTrue(#info.doc >= 20, name)
    for line in info.doc:gmatch("[^\n]+") do lu.assertTrue(#line <= 100, name .. ": " .. line) end
    for _, option in ipairs(info.options) do
      one_line(option.help, 4, name .. "." .. option.name)
      one_line(option.takes, 4, name .. "." .. option.name)
    end
    -- defaults are taken, and are what the declaration says
    local settings = core.settings(core.instance(entry.kind, entry.name, {}))
    for _, option in ipairs(info.options) do
      lu.assertEquals(settings[option.name] ~= nil, option.default ~= nil,
        name .. "." .. option.name)
    end
  end
end

local X = sc.randn{ 20, 3, seed = 1 }
local function softplus(given)
  pcall(sc.plugin.load, folder .. "softplus.so")
  return sc.nonlinearity.softplus(given)
end

function TestThirdPartyFeatures()
  local p = sc.sampler.gaussian{ sigma = 1 }
  local feats = sc.features{ p = p, phi = softplus(), T = 10, seed = 3 }:fit(X)
  local w, phi = feats:parameters(), feats:transform(X)
  local z = X * w:t()
  for i = 1, 20 do
    for t = 1, 10 do
      lu.assertAlmostEquals(phi:get(i, t), math.log(1 + math.exp(z:get(i, t))) / math.sqrt(10),
        1e-12)
    end
  end
  -- through float64
  local narrow = sc.features{ p = p, phi = softplus(), T = 10, seed = 3,
    dtype = "float32" }:transform(X)
  lu.assertTrue((narrow - phi):abs():max() < 1e-6)
end

function TestThirdPartyWeightingByQuadrature()
  local inst = sc.instantiation{ p = sc.sampler.gaussian{ sigma = 0.8 },
    K = sc.kernel.gaussian{ width = 1.2 }, phi = softplus() }
  local u = inst:sample{ T = 4, seed = 1, d = 3 }
  local value, info = inst:expectation(u, X)
  lu.assertEquals(info.method, "quadrature")
  local simulated, about = inst:expectation(u, X, { method = "monte-carlo", samples = 1 << 17,
    tolerance = 2e-3 })
  lu.assertTrue((value - simulated):abs():max() / about.stderr < 5)
end

function TestAPluginThatFails()
  local function fit(given)
    return sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ sigma = 1 }, phi = softplus(given),
      T = 5 }, sc.solver.ridge{ lambda = 1 } }
      :fit(X, X:column(1):copy())
  end
  fails({ "softplus", "asked to fail" }, fit, { fail = true })
  fails({ "NaN", "nonlinearity" }, fit, { nan = true })
end

function TestMonteCarloWhereThereIsNoTilt()
  -- a uniform threshold has no conjugate kernel: the features say that they are approximate
  local inst = sc.instantiation{ p = sc.sampler.threshold{ a = 1 },
    K = sc.kernel.gaussian{ width = 1 }, phi = sc.nonlinearity.sign() }
  local feats = inst:features{ T = 5, seed = 1 }:fit(X)
  lu.assertEquals(feats:info().method, "monte-carlo")
  local u = inst:sample{ T = 5, seed = 1, d = 3 }
  local value, info = inst:expectation(u, X, { tolerance = 1e-3, samples = 1 << 18, seed = 5 })
  -- independent: E K phi = (1/d) * integral over t in [-1, 1] of exp(-(u-t)^2/2) sign(x_i - t)/2 by
  -- a midpoint rule
  for t = 1, 5 do
    local i = math.tointeger(u:get(t, 1))
    local sum, n = 0, 20000
    for k = 1, n do
      local s = -1 + 2 * (k - 0.5) / n
      sum = sum + math.exp(-(u:get(t, 2) - s) ^ 2 / 2) * (X:get(1, i) - s < 0 and -1 or 1) / n
    end
    lu.assertTrue(math.abs(value:get(t, 1) - sum / 3) < 5 * info.stderr + 1e-4)
  end
end

function TestAProblemAnswersEveryVerbAlike()
  sc.plugin.load(folder .. "probe.so")
  local y = sc.hcat(X:column(1), X:column(2) - X:column(3))
  local many = sc.vcat(X, X * 2, X * -1, X + 0.5)
  y = sc.vcat(y, y, y, y)
  for _, dtype in ipairs{ "float64", "float32" } do
    for _, intercept in ipairs{ false, true } do
      for _, K in ipairs{ false, sc.kernel.gaussian{ width = 1 } } do
        local feats = sc.features{ K = K or nil, p = sc.sampler.gaussian{ sigma = 1 },
          phi = sc.nonlinearity.sign(), T = 6, seed = 1, dtype = dtype }
        local p = sc.pipeline{ feats, sc.solver.probe{ intercept = intercept }, block = 33 }:fit(
          many, y)
        lu.assertEquals(p:weights():abs():max(), 0)
        -- the host's, mean y - mean phi 0
        if intercept then
          lu.assertAlmostEquals(p:intercept():get(1, 2), y:column(2):mean(), 1e-9)
        end
      end
      for _, map in ipairs{ { sc.sampler.gaussian(), sc.nonlinearity.fourier{ form = "pair" } },
        { sc.sampler.hadamard(), sc.nonlinearity.sign() },
                            { sc.sampler.pooled{ projections = 9 }, sc.nonlinearity.sign() },
                              { sc.sampler.cauchy(), sc.nonlinearity.sign(),
                                sc.kernel.gaussian() } } do
        local feats = sc.features{ p = map[1], phi = map[2], K = map[3], T = 11, seed = 1,
          dtype = dtype }
        sc.pipeline{ feats, sc.solver.probe{ intercept = intercept } }:fit(many, y)
      end
    end
  end
end

os.exit(lu.LuaUnit.run(), true)
