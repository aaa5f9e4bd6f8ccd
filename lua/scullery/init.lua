--- Scullery: learning with random features. local sc = require "scullery"; help(sc) at the prompt.
local core = require "scullery.core"
require "scullery.base.bytecode" -- first: it loads the modules below
local component = require "scullery.compose.component"
local define = require "scullery.compose.define"
local fault = require "scullery.base.fault"
local instantiation = require "scullery.compose.instantiation"
local objects = require "scullery.base.objects"
local options = require "scullery.base.options"
local stages = require "scullery.compose.stages"

-- For completion: the options are checked in C.
options.declare("matrix.csr", {
  rows = { type = "integer", low = 0 }, columns = { type = "integer", low = 0, required = true },
  starts = { type = "any", required = true }, indices = { type = "any", required = true },
  values = { type = "any", required = true }, base = { type = "integer", low = 0, high = 1 },
  dtype = { choices = { "float64", "float32" } } })

-- These rooms add methods to classes of lower rooms.
require "scullery.model"
require "scullery.pictures"
require "scullery.report"

-- Error messages refer to the help topic of the function.
function fault.topic(name) return require("scullery.help.topics").topic(name) end

local sc = {
  version = core.version,
  matrix = setmetatable({ csr = core.csr }, { __call = function(_, ...)
    return core.matrix(...)
  end }),
  zeros = core.zeros, ones = core.ones, eye = core.eye, rand = core.rand,
    randn = core.randn, hcat = core.hcat, vcat = core.vcat,
  choose = require("scullery.compose.choose").public,
  sampler = component.group "sampler", nonlinearity = component.group "nonlinearity",
    kernel = component.group "kernel", solver = component.group "solver",
    transport = component.group "transport", stage = component.group "stage",
    metric = component.group "metric", loss = component.group "loss",
    reader = component.group "reader",
  space = instantiation.space, instantiation = instantiation.new, features = instantiation.features,
  standardize = stages.standardize, minmax = stages.minmax, normalize = stages.normalize,
    add_bias = stages.add_bias, select = stages.select, pca = stages.pca,
    relevance = stages.relevance, agop = stages.agop, text = require("scullery.compose.text").new,
  pipeline = require "scullery.model.pipeline".new,
  load = require "scullery.model.saving".load,
  merge = require "scullery.model.merging".merge,
  compare = require "scullery.model.comparing".run,
  optimize = require "scullery.model.optimize".run,
  dataset = require "scullery.data.dataset".new, texts = core.texts,
  metrics = require "scullery.metrics",
  codes = require "scullery.compose.codes",
  kernel_error = require "scullery.compose.kernel_error".run,
  mmd = require "scullery.compose.mmd_hsic".mmd,
  hsic = require "scullery.compose.mmd_hsic".hsic,
  experiment = require "scullery.experiment",
  data = require "scullery.data",
  plot = require "scullery.plot",
  plugin = require "scullery.plugin",
  profile = require "scullery.base.profile".run,
  progress = { level = require "scullery.base.progress".level },
  arguments = require "scullery.base.arguments".parse,
  publish = require "scullery.report.publish".run,
  range = require "scullery.base.range".list,
  processes = require "scullery.base.processes".namespace,
  threads = core.threads, clock = core.clock,
}

sc.plot.learning_curve = require "scullery.pictures.learning_curve".plot
sc.plot.embedding = require "scullery.pictures.embedding".plot

local definable = { "sampler", "nonlinearity", "kernel", "solver", "stage", "metric", "loss" }
for _, kind in ipairs(definable) do
  define.groups[kind] = sc[kind]
  rawset(sc[kind], "define", objects.guarded(kind .. ".define", define[kind]))
end
for _, name in ipairs{ "instantiation", "features", "standardize", "minmax", "normalize",
  "add_bias", "select", "pca", "relevance", "agop", "text", "pipeline", "merge", "compare",
  "dataset", "kernel_error", "mmd", "hsic", "optimize",
  "profile", "arguments", "publish", "range" } do
  sc[name] = objects.guarded(name, sc[name])
end
for _, name in ipairs{ "choose", "matrix", "metrics", "codes", "data", "plot", "plugin", "progress",
  "experiment", "processes" } do
  objects.module(name, sc[name])
end

return objects.namespace("sc", setmetatable(sc, {
  __index = function(_, name)
    local names = {}
    for known in pairs(sc) do names[#names + 1] = known end
    error(("sc has no %s%s"):format(objects.shown(name), objects.suggestion(name, names)), 2)
  end,
}))
