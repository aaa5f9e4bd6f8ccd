--- The calls of scullery/fit.h: recipes as texts, models as bytes, rows of other programs.
local core = require "scullery.core"
local dataset = require "scullery.data.dataset"
local fail = require "scullery.base.fail"
local options = require "scullery.base.options"
local probabilities = require "scullery.model.probabilities"
local recipe = require "scullery.model.recipe"
local saving = require "scullery.model.saving"

local session = {}

-- The pipeline that a recipe gives: an expression, or statements that return one.
local function pipeline_of(sc, code)
  local names = setmetatable({ sc = sc }, { __index = _G })
  local made = load("return " .. code, "=recipe", "t", names)
  local why
  if not made then made, why = load(code, "=recipe", "t", names) end
  if not made then fail("%s", why) end
  local p = made()
  if recipe.is(p) then return p end
  fail("the recipe gives %s; it takes a pipeline, as sc.pipeline{ stage, ..., solver }",
    options.show(p))
end

--- session.fit(sc, code, rows, keep, report): the bytes of the model that the pipeline of a recipe
--- learns. rows: the fields of a data set. keep: { posterior =, probabilities = }. report: the
--- progress function, or nil.
function session.fit(sc, code, rows, keep, report)
  local p, ds = pipeline_of(sc, code), dataset.new(rows)
  if recipe.is_searched(p) then
    p = p:search(ds, { folds = 5, seed = 0, progress = report })
  else
    p:fit(ds, { progress = report })
  end
  local f = p.fitted
  if keep.probabilities and f.task == "classification" and f.solver then
    probabilities.check(f)
    if not probabilities.known(f) then p:calibrate{ progress = report } end
  end
  return saving.bytes(p, { std = keep.posterior })
end

--- session.load(bytes): the fitted pipeline.
function session.load(bytes)
  local p = saving.read("the model", bytes)
  if not (recipe.is(p) and p.fitted) then fail("it is not a fitted pipeline") end
  return p
end

-- Permutation importance in the order of the columns, d x 2: the mean and its standard error.
-- rows: the fields of a data set; columns without names get those of the model, or numbers.
local function importance(p, rows)
  local places, result, d = {}, {}, rows.X:cols()
  rows.names = rows.names or table.move(p.fitted.names or {}, 1, d, 1, {})
  for j = 1, d do
    rows.names[j] = rows.names[j] or tostring(j)
    places[rows.names[j]], result[j] = j, { 0, 0 }
  end
  for _, one in ipairs(p:importance(dataset.new(rows))) do
    result[places[one.name]] = { one.mean, one.stderr }
  end
  return core.matrix(result)
end

--- session.apply(p, what, rows): "transform", "deviations" or "importance" of the rows, a matrix.
function session.apply(p, what, rows)
  if what == "importance" then return importance(p, rows) end
  local ds = dataset.new(rows)
  if what == "transform" then return p:transform(ds) end
  return (select(2, p:predict(ds, { std = true })))
end

--- session.guarded(f, ...): f(...); errors are sentences without positions in the library.
function session.guarded(f, ...)
  local result = table.pack(pcall(f, ...))
  if result[1] then return table.unpack(result, 2, result.n) end
  local raised = result[2]
  error(options.plain(type(raised) == "table" and rawget(raised, "message") or raised), 0)
end

return session
