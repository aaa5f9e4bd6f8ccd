--- Fitted pipelines as a graph of ONNX: p:export("model.onnx"). What plugins compute comes from
--- their slots `formula` and `operators`; nothing here knows a plugin.
local core = require "scullery.core"
local fail = require "scullery.base.fail"
local graphs = require "scullery.model.export.graph"
local parts = require "scullery.model.export.parts"
local statements = require "scullery.model.export.statements"

local PI, SQRT2 = 3.14159265358979323846, 1.41421356237309504880

local function variables(own)
  own.SCL_PI, own.SCL_SQRT2, own.HUGE_VAL = PI, SQRT2, math.huge
  return own
end

-- ------------ stages

local function stage(g, x, one)
  local saved, info = core.stage_save(one), core.stage_info(one)
  local text = core.stage_operators(one)
  if not text then fail("stage.%s has no operators of ONNX for these options", saved.kind) end
  local v = variables{ x = x, cols = info.cols_in, width = info.cols_out }
  for _, array in ipairs(parts.arrays(saved)) do v[array.name] = { matrix = array.matrix } end
  statements.run(text, g, v)
  return g:tensor(v.out)
end

-- ------------ features

-- z = W x + bias by the space of the parameters W: columns (from 1), weights, bias.
local spaces = {}

function spaces.dense(g, x, W, about)
  return g:node("MatMul", { x, g:matrix(W:slice(1, W:rows(), 1, about.dim):t(), about.float32) })
end

-- Columns and weights of each parameter, unused places with column 0, as rows with zeros.
function spaces.sparse(g, x, W, about)
  local slots = (W:cols() - about.bias) // 2
  g:check_room(W:rows() * about.dim)
  local rows = core.zeros(W:rows(), about.dim)
  for i = 1, W:rows() do
    for k = 1, slots do
      local j = math.tointeger(W:get(i, k))
      if j > 0 then rows:set(i, j, rows:get(i, j) + W:get(i, slots + k)) end
    end
  end
  return g:node("MatMul", { x, g:matrix(rows:t(), about.float32) })
end

function spaces.threshold(g, x, W, about)
  local columns = {}
  for i = 1, W:rows() do columns[i] = math.tointeger(W:get(i, 1)) - 1 end
  return g:binary("-", g:take(x, columns), g:matrix(W:column(2):t(), about.float32))
end

-- Columns first .. first + count - 1 of a tensor, from 0.
local function slice(g, a, first, count)
  return g:node("Slice", { a, g:integers{ first }, g:integers{ first + count }, g:integers{ 1 } })
end

-- The numbers out[0], out[1], ... of phi of z[0], z[1], ... of T columns each.
local function phi(g, z, about)
  local zs, out = { [0] = z }, {}
  for k = 0, about.fan_in - 1 do
    if about.fan_in > 1 then zs[k] = slice(g, z, k * about.T, about.T) end
  end
  if about.simple then
    out[0] = statements.value(about.phi, g, variables{ z = zs[0] })
  else
    statements.run(about.phi, g, variables{ z = zs, out = out })
  end
  for k = 0, about.fan_out - 1 do -- a constant is one for each row and feature
    if type(out[k]) == "number" then out[k] = g:binary("+", g:binary("*", zs[0], 0), out[k]) end
  end
  return out
end

-- Features rounded to whole numbers, where the map has such.
local function rounded(g, x, map)
  local grid = parts.rounding(map)
  if not grid then return x end
  local base = { matrix = grid.base }
  local v = g:binary("*", g:binary("-", x, base), { matrix = grid.inverse })
  v = g:call("fmin", { g:call("fmax", { v, -grid.most }), grid.most })
  return g:binary("+", g:binary("*", g:node("Round", { v }), { matrix = grid.unit }), base)
end

local function plain_features(g, x, map)
  local about, W, info = core.map_formula(map), core.map_parameters(map), core.map_info(map)
  about.dim, about.T, about.bias = info.dim, info.T, about.has_bias and 1 or 0
  local space = spaces[about.space]
    or fail("parameters of the space \"%s\" have no operators of ONNX", about.space)
  local z = space(g, x, W, about)
  if about.has_bias then
    z = g:binary("+", z, g:matrix(W:column(W:cols()):t(), about.float32))
  end
  local out, first = phi(g, z, about), about.scales:get(1, 1)
  local scale = about.scales:min() == about.scales:max() and first or { matrix = about.scales }
  local list = {}
  for k = 0, about.fan_out - 1 do list[k + 1] = g:binary("*", out[k], scale) end
  return rounded(g, #list == 1 and list[1] or g:node("Concat", list, { axis = 1 }), map)
end

-- Of a union the features of its parts, side by side.
local function features(g, x, map)
  local list = {}
  for i, part in ipairs(core.map_parts(map) or {}) do
    local from, places = x, {}
    for k, column in ipairs(part.columns or {}) do places[k] = column - 1 end
    if part.columns then from = g:take(x, places) end
    list[i] = g:binary("*", plain_features(g, from, part.map), part.scale)
  end
  if #list == 0 then return plain_features(g, x, map) end
  return rounded(g, g:node("Concat", list, { axis = 1 }), map)
end

-- ------------ predictions

local function scores_of(g, f, x)
  if f.pilot then x = g:binary("-", x, { matrix = f.pilot }) end
  return g:binary("+", g:node("MatMul", { x, { matrix = f.weights } }), { matrix = f.intercept })
end

-- The scores of each target sorted, by the ranks of its values.
local function sorted(g, f, scores, ranks)
  local list, q = {}, f.outputs
  for first = 0, f.weights:cols() - 1, q do
    local places = {}
    local ascending = g:node("TopK", { slice(g, scores, first, q), g:integers{ q } },
      { axis = 1, largest = 0 }, nil, true)
    for k = 1, q do places[k] = ranks[first + k] - 1 end
    list[#list + 1] = g:take(ascending, places)
  end
  return #list == 1 and list[1] or g:node("Concat", list, { axis = 1 })
end

-- Values of a regression: means of scores, and transformed targets back.
local function values(g, f, scores)
  local mean, form, value, ranks = parts.mean(f), f.form, scores, parts.ranks(f)
  if ranks then value = sorted(g, f, scores, ranks) end
  if mean then value = statements.value(mean, g, variables{ f = value }) end
  if form then
    value = g:binary("*", value, { matrix = core.matrix{ form.scale } })
    value = g:binary("+", value, { matrix = core.matrix{ form.mean } })
  end
  if form and form.log then value = g:call("exp", { value }) end
  g:output("values", value, "float64", { "rows", f.weights:cols() })
end

-- Multi-label targets: 1 for the labels that the row has, else 0.
local function several(g, f, scores)
  local half = g:binary("+", g:binary("*", scores, 0.5), 0.5)
  g:output("labels", g:node("Cast", { g:node("Greater", { half, 0.5 }) }, { to = 7 }), "int64",
    { "rows", #f.classes })
end

-- The label: of the largest score, the first among equals, or the second of two at 0 and above.
local function label(g, f, scores)
  local place
  if #f.classes == 2 then
    local second = g:node("Cast", { g:node("GreaterOrEqual", { scores, 0 }) }, { to = 7 })
    place = g:node("Reshape", { second, g:integers{ -1 } })
  else
    place = g:node("ArgMax", { scores }, { axis = 1, keepdims = 0 })
  end
  local whole, texts = true, {}
  for k, one in ipairs(f.classes) do
    -- a text such as "007" is none
    whole, texts[k] = whole and math.type(one) and math.tointeger(one), tostring(one)
  end
  local labels = whole and g:integers(f.classes) or g:texts(texts)
  g:output("label", g:node("Gather", { labels, place }, { axis = 0 }),
    whole and "int64" or "string", { "rows" })
end

local function row(list) return { matrix = core.matrix{ list } } end

-- An isotonic curve at a column s: the first share, and of each stretch between knots as much of
-- its rise as s has passed.
local function share(g, curve, s)
  local from, gaps, rises = {}, {}, {}
  for k = 1, #curve.scores - 1 do
    from[k], gaps[k] = curve.scores[k], curve.scores[k + 1] - curve.scores[k]
    rises[k] = { curve.shares[k + 1] - curve.shares[k] }
  end
  if #from == 0 then return g:binary("+", g:binary("*", s, 0), curve.shares[1]) end
  local passed = g:binary("/", g:binary("-", s, row(from)), row(gaps))
  passed = g:call("fmin", { g:call("fmax", { passed, 0 }), 1 })
  return g:binary("+", g:node("MatMul", { passed, { matrix = core.matrix(rises) } }),
    curve.shares[1])
end

-- By Platt's sigmoids: those of a model of two classes and their complement.
local function sigmoids(g, calibration, scores, count)
  local s = g:binary("+", g:binary("*", scores, row(calibration.slopes)), row(calibration.offsets))
  local p = g:node("Sigmoid", { g:unary("-", s) })
  return count == 2 and { g:node("Sigmoid", { s }), p } or { p }
end

-- By isotonic curves, one for each column of scores.
local function curves(g, calibration, scores, count)
  local list = {}
  for k, curve in ipairs(calibration.curves) do
    list[k] = share(g, curve, g:take(scores, { k - 1 }))
  end
  return count == 2 and { g:binary("-", 1, list[1]), list[1] } or list
end

-- Probabilities of a calibration; over their sum for three classes and more.
local function probabilities(g, f, scores)
  local calibration, count = f.calibration, #f.classes
  if not (calibration and (calibration.sigmoids or calibration.curves)) then return end
  local list = (calibration.curves and curves or sigmoids)(g, calibration, scores, count)
  local p = #list == 1 and list[1] or g:node("Concat", list, { axis = 1 })
  if count > 2 then
    local sum = g:call("row_sum", { p })
    p = g:where(g:binary(">", sum, 0), g:binary("/", p, sum), 1 / count)
  end
  g:output("probabilities", p, "float64", { "rows", count })
end

-- ------------ the file

-- Texts about the model that the file keeps.
local function about(f)
  local out = { task = f.task, rows = tostring(f.n) }
  if f.names then out.columns = core.json_encode(f.names) end
  if f.classes then out.classes = core.json_encode(f.classes) end
  return out
end

local onnx = {}

--- onnx.text(f, stem): the bytes of the file of a model, named by the stem.
function onnx.text(f, stem)
  local g = graphs.new()
  local x = g:input("x", { "rows", f.dim })
  for _, one in ipairs(f.stages) do x = stage(g, x, one) end
  if f.map then x = features(g, x, f.base or f.map) end
  for _, one in ipairs(f.after or {}) do x = stage(g, x, one) end
  if f.base then x = rounded(g, x, f.map) end
  local scores, sizes = scores_of(g, f, x), { "rows", f.weights:cols() }
  if f.task == "classification" then
    label(g, f, scores)
    probabilities(g, f, scores)
    g:output("scores", scores, "float64", sizes)
  elseif f.task == "multilabel" then
    several(g, f, scores)
    g:output("scores", scores, "float64", sizes)
  else
    values(g, f, scores)
    if f.form or f.means then g:output("scores", scores, "float64", sizes) end
  end
  return g:bytes(stem, about(f))
end

return onnx
