--- Everything that the specimens can be asked for, as numbers: what a later host, or a plugin from
--- another header, must answer alike.
local sc = require "scullery"
local core = require "scullery.core"
local component = require "scullery.compose.component"
local dataset = require "scullery.data.dataset"

-- Answers are those of the declared defaults.
require("scullery.model.automatic").chooses = false

local battery = {}

local X = sc.randn{ 30, 3, seed = 1 }
local x0 = X:slice(1, 30, 1, 1)
local y = x0 * 2 + X:column(2):copy()
local words = {}
for i = 1, 30 do words[i] = y:get(i, 1) > 0 and "yes" or "no" end

local function features(given, data)
  given.seed = 3
  local fitted = sc.features(given):fit(data or X)
  return { fitted:transform(data or X), fitted:parameters(), fitted:info().method }
end

local function kernel(p, phi) return sc.instantiation{ p = p, phi = phi }:kernel(X, X) end

-- What to ask, by specimen: f(component constructors by specimen) -> a list of values.
local questions = {}

function questions.plain(own)
  local p, phased = own.plain{ sigma = 0.5 }, own.plain{ bias = "uniform" }
  return { features{ p = p, phi = own.wave(), T = 5 }, features{ p = phased, phi = own.wave(),
    T = 5 }, core.law(component.instance(phased), 3), kernel(p, own.waves()), kernel(p, own.wave()),
    features{ p = own.plain{ sigma = "median" }, phi = own.wave(), T = 5 } }
end

function questions.general(own)
  local p = own.general{ sigma = 2, extra = { a = 3 }, inner = own.long{ gamma = 1 } }
  local settings, text = core.settings(component.instance(p))
  return { features{ p = p, phi = own.waves(), T = 5 }, kernel(p, own.waves()), settings.mode,
    text, core.law(component.instance(p), 3), features{ p = p, phi = own.waves(), T = 5,
    K = own.long{ gamma = 0.5 } } }
end

function questions.split(own)
  local p, phi = own.split(), own.side()
  return { features{ p = p, phi = phi, T = 5 }, kernel(p, phi),
    sc.features{ p = p, phi = phi, T = 5 }:fit(X):codes(X):unpack() }
end

function questions.lattice(own)
  local p, phi = own.lattice(), own.cell()
  local fitted = sc.pipeline{ sc.features{ p = p, phi = phi, T = 5, seed = 1 }, own.square() }
  return { kernel(p, phi), fitted:fit(X, y):predict(X) }
end

function questions.rotated(own)
  local p = own.rotated{ sigma = 0.5 }
  return { features{ p = p, phi = own.waves(), T = 5 }, features{ p = p, phi = own.wave(), T = 5,
    K = own.long{ gamma = 1 } } }
end

function questions.few(own)
  return { features{ p = own.few(), phi = own.wave(), T = 5 },
    core.law(component.instance(own.few()), 3) }
end

function questions.shared(own)
  return { features{ p = own.shared(), phi = own.wave(), T = 5 },
    features{ p = own.shared(), phi = sc.nonlinearity.maxout{ q = 3 }, T = 5 } }
end

function questions.pupil(own)
  local section = sc.features{ p = own.pupil(), phi = own.long{ gamma = 1 } }
  local fitted = sc.pipeline{ section, own.square() }:fit(X, y)
  return { features{ p = own.pupil(), phi = own.wave(), T = 6 }, fitted:predict(X),
    fitted:weights() }
end

function questions.wrapper(own)
  local p = own.wrapper{ inner = own.plain{ sigma = 0.5, bias = "gaussian" } }
  local bare = own.wrapper{ inner = own.plain{ sigma = 0.5 } }
  return { features{ p = p, phi = own.wave(), T = 5 }, core.law(component.instance(p), 3),
    kernel(bare, own.waves()) }
end

function questions.wave(own)
  local p = own.plain()
  return { features{ p = p, phi = own.wave(), T = 5 }, kernel(p, own.wave()),
    features{ p = p, phi = own.wave(), T = 5, K = own.long{ gamma = 1 } },
    features{ p = p, phi = own.wave(), T = 5, dtype = "float32" },
    features{ p = p, phi = own.wave(), T = 5, dtype = "float32", K = own.long{ gamma = 1 } } }
end

function questions.waves(own)
  local p = own.general()
  return { features{ p = p, phi = own.waves{ factor = 2 }, T = 5, dtype = "float32" },
    features{ p = p, phi = own.waves{ factor = 2 }, T = 5, dtype = "float32",
      K = own.long{ gamma = 1 } } }
end

function questions.side(own)
  local inst = sc.instantiation{ p = own.general(), phi = own.side() }
  return { inst:kernel(X, X), inst:collision(X, X),
    core.two_valued(component.instance(own.side())).low,
    kernel(own.split(), own.side()),
    features{ p = own.general(), phi = own.side(), T = 5 } }
end

function questions.cell(own) return questions.lattice(own) end

local function machine(K)
  return sc.pipeline{ sc.solver.kernel_ridge{ kernel = K, lambda = 0.1 } }:fit(X, y):predict(X)
end

function questions.bell(own)
  return { own.bell{ gamma = 0.5 }:gram(X), own.bell{ gamma = "median" }:gram(X),
    machine(own.bell()) }
end

function questions.long(own)
  local K = own.long{ gamma = 0.5 }
  return { K:gram(X), machine(K),
    features{ p = own.general(), phi = own.wave(), T = 5, K = own.long() },
    features{ p = own.general(), phi = own.wave(), T = 5, K = K },
    sc.instantiation{ p = own.general(), phi = own.wave(), K = K }:theta(3) }
end

function questions.twice(own)
  return { own.twice{ inner = own.long{ gamma = 0.5 } }:gram(X),
    machine(own.twice{ inner = own.long{ gamma = 0.5 } }),
    features{ p = own.general(), phi = own.wave(), T = 5, K = own.twice{ inner = own.long() } },
    features{ p = own.general(), phi = own.wave(), T = 5,
      K = own.twice{ inner = own.long{ gamma = 2 } } } }
end

-- What a solver minimises, at ones.
local function objective(solver)
  local source = dataset.source_of_targets(sc.dataset{ X = X, y = y })
  local training <close> = core.training(source, {}, nil, {})
  return core.objective(training, component.instance(solver), sc.ones(X:cols(), 1))
end

local function fit(stages, target, given) return sc.pipeline(stages):fit(X, target or y, given) end

function questions.square(own)
  local wide = sc.features{ p = own.general(), phi = own.wave(), T = 40, seed = 1 }
  local with_kernel = sc.features{ p = own.general(), phi = own.wave(), K = own.long{ gamma = 1 },
    T = 5, seed = 1 }
  local several = sc.pipeline{ wide, own.square{ lambda = sc.choose{ 0.1, 1 } } }:search(
    sc.dataset{ X = X, y = y }, { folds = 3 })
  local classes = fit({ with_kernel, own.square() }, words)
  sc.pipeline{ wide, own.square() }:plan(X, y) -- its numbers are of the machine
  return { fit({ wide, own.square{ all = true, intercept = true } }):predict(X),
    fit({ with_kernel, own.square{ all = true } }):weights(), several:predict(X),
    classes:probabilities(X), core.loss(component.instance(own.square()), 2),
    core.solver_facts(component.instance(own.square())).penalty,
    objective(own.square()) }
end

function questions.mean(own)
  local model = fit{ own.mean() }
  local saved = core.model_save(model.fitted.learnt)
  local again = core.model_load(component.instance(own.mean()), saved)
  local f = model.fitted
  local chosen = sc.pipeline{ own.mean{ shrink = sc.choose{ 0, 0.25, 1 } } }
  local searched = chosen:search(sc.dataset{ X = X, y = y }, { folds = 3 })
  return { model:predict(X), searched:predict(X),
    f:with{ learnt = again }:scores(core.source(X)) }
end

battery.names = {}
for name in pairs(questions) do battery.names[#battery.names + 1] = name end
table.sort(battery.names)

-- Numbers and texts, whatever they are wrapped in.
local function flatten(value, out)
  if core.is_matrix(value) then
    for i = 1, value:rows() do
      for j = 1, value:cols() do out[#out + 1] = value:get(i, j) end
    end
  elseif type(value) == "table" then
    local keys = {}
    for key in pairs(value) do keys[#keys + 1] = key end
    table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
    for _, key in ipairs(keys) do flatten(value[key], out) end
  else
    out[#out + 1] = value
  end
  return out
end

--- battery.kind[specimen]: its kind.
battery.kind = { wave = "nonlinearity", waves = "nonlinearity", side = "nonlinearity",
  cell = "nonlinearity", bell = "kernel", long = "kernel", twice = "kernel", square = "solver",
  mean = "solver" }
for _, name in ipairs(battery.names) do battery.kind[name] = battery.kind[name] or "sampler" end

--- battery.constructors(names): the constructors of components that were loaded under these names.
function battery.constructors(names)
  local own = {}
  for name, other in pairs(names) do
    own[name] = function(given) return sc[battery.kind[name]][other](given) end
  end
  return own
end

--- battery.ask(specimen, own): the answers to what that specimen is asked for, as a list of
--- numbers and texts.
function battery.ask(specimen, own) return flatten(questions[specimen](own), {}) end

return battery
