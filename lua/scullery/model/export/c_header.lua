--- Fitted pipelines as one file of C, which predicts without any library: p:export("model.h"). What
--- plugins compute comes from their slots `formula`; nothing here knows a plugin.
local core = require "scullery.core"
local fail = require "scullery.base.fail"
local options = require "scullery.base.options"
local parts = require "scullery.model.export.parts"

local MOST = 3e7 -- numbers in a file

-- ------------ pieces of C

-- A text as a string of C: printable ASCII, the rest as octal escapes. "?" is escaped because of
-- trigraphs.
local function quoted(text)
  return '"' .. tostring(text):gsub('[^ !#->@-%[%]-~]', function(c)
    return ("\\%03o"):format(c:byte())
  end) .. '"'
end

-- A text in a comment.
local function comment(text)
  return (tostring(text):gsub("%*/", "* /"):gsub("/%*", "/ *"):gsub("[^ -~\n]", "?"))
end

-- Lines moved by two more columns for each level.
local function indented(text, level)
  return (("\n" .. text):gsub("\n([^\n])", "\n" .. ("  "):rep(level or 1) .. "%1"):sub(2))
end

-- A formula with the constants of the interface as numbers.
local function with_constants(text)
  return (text:gsub("%f[%w_]SCL_PI%f[^%w_]", "3.14159265358979323846")
    :gsub("%f[%w_]SCL_SQRT2%f[^%w_]", "1.41421356237309504880"))
end

-- An array of the numbers of a matrix, row by row.
local function array(name, matrix, type)
  return ("  static const %s %s[] = {\n%s};\n"):format(type or "double", name,
    core.c_numbers(matrix, type == "float"))
end

-- ------------ stages and features

-- Writer: out = the list of pieces; stem, upper = the names of the file; numbers = how many so far.
local Writer = {}
Writer.__index = Writer

function Writer:add(format, ...)
  self.out[#self.out + 1] = select("#", ...) > 0 and format:format(...) or format
end

function Writer:count(rows, cols)
  self.numbers = self.numbers + rows * cols
  if self.numbers > MOST then
    fail("a file of C would have more than %.0f numbers; p:save writes models of any size", MOST)
  end
end

-- A function of a row stage, called by its name from the chain of steps.
function Writer:stage(stage, name)
  local saved, info = core.stage_save(stage), core.stage_info(stage)
  local text = core.formula(stage)
  if not text then fail("stage.%s has no formula in C for these options", saved.kind) end
  self:add("/* stage.%s: %d numbers to %d. */\n", comment(saved.kind), info.cols_in, info.cols_out)
  self:add("static inline void %s(const double *x, double *out) {\n", name)
  self:add("  const int cols = %d, width = %d;\n", info.cols_in, info.cols_out)
  local unused = { "  (void)cols, (void)width" }
  for _, array_of in ipairs(parts.arrays(saved)) do
    local one, matrix = array_of.name, array_of.matrix
    self:count(matrix:rows(), matrix:cols())
    self:add(array(one, matrix))
    self:add("  const int %s_rows = %d, %s_cols = %d;\n", one, matrix:rows(), one, matrix:cols())
    unused[#unused + 1] = (", (void)%s, (void)%s_rows, (void)%s_cols"):format(one, one, one)
  end
  self:add(table.concat(unused) .. ";\n")
  self:add(indented(with_constants(text)) .. "\n}\n\n")
  return info.cols_out
end

-- The loop of z = <w, x> + b over the parameters w of a space: the text of its arrays, and that of
-- the sum. W: a row for each parameter: columns (from 1), weights, bias.
local spaces = {}

function spaces.dense(W, dim, type)
  return array("w", W:slice(1, W:rows(), 1, dim), type),
    ("for (j = 0; j < %d; j++)\n  sum += w[row * %d + j] * x[j];"):format(dim, dim)
end

-- Columns and weights of each parameter; unused places have weight 0 and column 0.
function spaces.sparse(W, _, type, bias)
  local slots = (W:cols() - bias) // 2
  local columns = W:slice(1, W:rows(), 1, slots)
  local weights = W:slice(1, W:rows(), slots + 1, 2 * slots):copy()
  for i = 1, W:rows() do
    for k = 1, slots do if columns:get(i, k) == 0 then weights:set(i, k, 0) end end
  end
  columns = columns:map(function(column) return math.max(column - 1, 0) end)
  return array("columns", columns, "int") .. array("w", weights, type),
    ("for (j = 0; j < %d; j++)\n  sum += w[row * %d + j] * x[columns[row * %d + j]];"):format(
      slots, slots, slots)
end

function spaces.threshold(W, _, type)
  return array("columns", W:column(1):map(function(column) return column - 1 end), "int")
    .. array("w", W:column(2), type), "sum += x[columns[row]] - w[row];"
end

-- The function of the features: of a union those of its parts, side by side.
function Writer:features(map, name)
  local list, calls, width = core.map_parts(map), {}, 0
  if not list then return self:plain_features(map, name) end
  for i, part in ipairs(list) do
    local own = ("%s_%d"):format(name, i)
    local count = self:plain_features(part.map, own)
    local columns, from = part.columns, "x"
    local lines = { ("  for (k = 0; k < %d; k++) out[%d + k] *= %.17g;\n"):format(count, width,
      part.scale) }
    if columns then
      local places = {}
      for k, column in ipairs(columns) do places[k] = column - 1 end
      table.insert(lines, 1, array("columns", core.matrix{ places }, "int"))
      table.insert(lines, 2, ("  double row[%d];\n"):format(#columns))
      table.insert(lines, 3,
        ("  for (k = 0; k < %d; k++) row[k] = x[columns[k]];\n"):format(#columns))
      from = "row"
    end
    table.insert(lines, #lines, ("  %s(%s, out + %d);\n"):format(own, from, width))
    calls[i], width = "  {\n" .. indented(table.concat(lines)) .. "  }\n", width + count
  end
  self:add("static inline void %s(const double *x, double *out) {\n  int k;\n", name)
  self:add(table.concat(calls) .. "}\n\n")
  return width
end

function Writer:plain_features(map, name)
  local about, W = core.map_formula(map), core.map_parameters(map)
  local info, bias = core.map_info(map), about.has_bias and 1 or 0
  local space = spaces[about.space]
    or fail("parameters of the space \"%s\" have no formula in C", about.space)
  local type, dim, T = about.float32 and "float" or "double", info.dim, info.T
  self:count(W:rows(), W:cols())
  self:add("/* nonlinearity of %d number%s z to %d feature%s. */\n", about.fan_in,
    about.fan_in == 1 and "" or "s", about.fan_out, about.fan_out == 1 and "" or "s")
  local phi = with_constants(about.phi)
  if about.simple then
    self:add("static inline double %s_phi(double z) { return %s; }\n\n", name, phi)
  else
    self:add("static inline void %s_phi(const double *z, double *out) {\n%s\n}\n\n", name,
      indented(phi))
  end
  local arrays, sum = space(W, dim, type, bias)
  self:add("/* Features of %d parameters. */\n", T)
  self:add("static inline void %s(const double *x, double *out) {\n", name)
  self:add(arrays)
  if bias == 1 then self:add(array("bias", W:column(W:cols()), type)) end
  local one = about.scales:min() == about.scales:max()
  if not one then self:add(array("scale", about.scales)) end
  local scale = one and core.c_numbers(about.scales:slice(1, 1, 1, 1)):match "[^,]+" or "scale[t]"
  self:add("  int t, k, j;\n  for (t = 0; t < %d; t++) {\n    double z[%d], y[%d];\n", T,
    about.fan_in, about.fan_out)
  self:add("    for (k = 0; k < %d; k++) {\n      const int row = k * %d + t;\n", about.fan_in, T)
  self:add("      double sum = %s;\n", bias == 1 and "bias[row]" or "0")
  self:add("%s\n      z[k] = sum;\n    }\n", indented(sum, 3))
  self:add(about.simple and ("    y[0] = %s_phi(z[0]);\n"):format(name)
    or ("    %s_phi(z, y);\n"):format(name))
  self:add("    for (k = 0; k < %d; k++) out[k * %d + t] = %s * y[k];\n  }\n  (void)j;\n}\n\n",
    about.fan_out, T, scale)
  return T * about.fan_out
end

-- ------------ predictions

-- model_decide: the chain of steps { function, width }, then scores = (f - pilot) W + intercept.
function Writer:decide(f, steps)
  local W, c = f.weights, f.weights:cols()
  self:count(W:rows(), W:cols())
  self:add("/* The %s_SCORES scores of a row of %s_COLUMNS numbers. */\n", self.upper, self.upper)
  self:add("static inline void %s_decide(const double *x, double *scores) {\n", self.stem)
  self:add(array("weights", W) .. array("intercept", f.intercept))
  if f.pilot then self:add(array("pilot", f.pilot)) end
  local from = "x"
  for i, step in ipairs(steps) do self:add("  double rows_%d[%d];\n", i, step[2]) end
  self:add("  int i, k;\n")
  for i, step in ipairs(steps) do
    self:add("  %s(%s, rows_%d);\n", step[1], from, i)
    from = "rows_" .. i
  end
  self:add("  for (k = 0; k < %d; k++) scores[k] = intercept[k];\n", c)
  self:add("  for (i = 0; i < %d; i++)\n    for (k = 0; k < %d; k++)\n", W:rows(), c)
  self:add("      scores[k] += %s * weights[i * %d + k];\n}\n\n",
    f.pilot and ("(%s[i] - pilot[i])"):format(from) or from .. "[i]", c)
end

-- Names as a function of their place.
function Writer:names(title, names, what)
  if not names then return end
  local list = {}
  for i, name in ipairs(names) do list[i] = quoted(name) end
  self:add("/* %s, j from 0. */\n", what)
  self:add("static inline const char *%s_%s(int j) {\n", self.stem, title)
  self:add("  static const char *const names[] = {\n    ")
  self:add(table.concat(list, ",\n    ") .. "};\n")
  self:add("  return names[j];\n}\n\n")
end

-- Features rounded to whole numbers, halves to even.
function Writer:rounded(grid, name)
  local d = grid.unit:cols()
  self:count(3, d)
  self:add("/* Features rounded to whole numbers. */\n")
  self:add("static inline void %s(const double *x, double *out) {\n", name)
  for _, one in ipairs{ "base", "inverse", "unit" } do self:add(array(one, grid[one])) end
  self:add("  const double most = %d;\n  int j;\n  for (j = 0; j < %d; j++) {\n", grid.most, d)
  self:add("    const double v = rint((x[j] - base[j]) * inverse[j]);\n")
  self:add("    out[j] = base[j] + unit[j] * (v < -most ? -most : v > most ? most : v);\n")
  self:add("  }\n}\n\n")
  return d
end

-- values[] of each target sorted, by the ranks of its values.
function Writer:sorted(f, ranks)
  local q, list = f.outputs, {}
  for k = 1, q do list[k] = ("%d"):format(ranks[k] - 1) end
  self:add("  for (k = 0; k < %d; k += %d) {\n", f.weights:cols(), q)
  self:add("    static const int rank[] = {%s};\n", table.concat(list, ", "))
  self:add("    double sorted[%d];\n    int i, j;\n    for (i = 0; i < %d; i++) {\n", q, q)
  self:add("      for (j = i; j > 0 && sorted[j - 1] > values[k + i]; j--)\n")
  self:add("        sorted[j] = sorted[j - 1];\n      sorted[j] = values[k + i];\n    }\n")
  self:add("    for (i = 0; i < %d; i++) values[k + i] = sorted[rank[i]];\n  }\n", q)
end

-- Multi-label targets: 1 for the labels that the row has, else 0.
function Writer:labels(f)
  local count = #f.classes
  self:names("class", f.classes, "Label j")
  self:add("/* labels[0 .. %s_CLASSES-1]: 1 for those that a row has, else 0. */\n", self.upper)
  self:add("static inline void %s_predict(const double *x, int *labels) {\n", self.stem)
  self:add("  double scores[%d];\n  int k;\n  %s_decide(x, scores);\n", count, self.stem)
  self:add("  for (k = 0; k < %d; k++) labels[k] = scores[k] * 0.5 + 0.5 > 0.5;\n}\n\n", count)
end

-- Values of a regression: means of scores, and transformed targets back.
function Writer:values(f)
  local c, mean, form, ranks = f.weights:cols(), parts.mean(f), f.form, parts.ranks(f)
  self:add("/* values[0 .. %s_SCORES-1], the predictions of a row. */\n", self.upper)
  self:add("static inline void %s_predict(const double *x, double *values) {\n", self.stem)
  if form then
    self:add(array("mean", core.matrix{ form.mean }) .. array("scale", core.matrix{ form.scale }))
  end
  self:add("  int k;\n  %s_decide(x, values);\n", self.stem)
  if ranks then self:sorted(f, ranks) end
  self:add("  for (k = 0; k < %d; k++) {\n", c)
  self:add("    double f = values[k];\n")
  if mean then self:add("    f = %s;\n", with_constants(mean)) end
  if form then self:add("    f = f * scale[k] + mean[k];\n") end
  if form and form.log then self:add("    f = exp(f);\n") end
  self:add("    values[k] = f;\n  }\n}\n\n")
end

-- The class of a classification.
function Writer:classes(f)
  local stem, count, c = self.stem, #f.classes, f.weights:cols()
  self:names("class", f.classes, "The label of class j")
  self:add("/* The class, from 0: of the largest score, or the second of two at 0 and above. */\n")
  self:add("static inline int %s_predict(const double *x) {\n  double scores[%d];\n", stem, c)
  if count == 2 then
    self:add("  %s_decide(x, scores);\n  return scores[0] >= 0;\n}\n\n", stem)
  else
    self:add("  int k, best = 0;\n  %s_decide(x, scores);\n", stem)
    self:add("  for (k = 1; k < %d; k++)\n    if (scores[k] > scores[best]) best = k;\n", count)
    self:add("  return best;\n}\n\n")
  end
end

-- share_k(s), the isotonic curve of column k: linear between its knots.
function Writer:curve(k, curve)
  local count = #curve.scores
  self:count(count, 2)
  self:add("static inline double %s_share_%d(double s) {\n", self.stem, k)
  self:add(array("at", core.matrix{ curve.scores }) .. array("share", core.matrix{ curve.shares }))
  self:add("  int low = 0, high = %d;\n", count - 1)
  self:add("  if (!(s > at[low])) return share[low];\n  if (s >= at[high]) return share[high];\n")
  self:add("  while (high - low > 1) {\n    const int middle = low + (high - low) / 2;\n")
  self:add("    if (at[middle] <= s) low = middle;\n    else high = middle;\n  }\n")
  self:add("  return share[low] + (s / 2 - at[low] / 2) / (at[high] / 2 - at[low] / 2) *\n")
  self:add("    (share[high] - share[low]);\n}\n\n")
end

-- The probabilities of the classes, by Platt's sigmoids or isotonic curves.
function Writer:probabilities(f)
  local calibration, count, c, stem = f.calibration, #f.classes, f.weights:cols(), self.stem
  local curves = calibration and calibration.curves
  if not (calibration and (calibration.sigmoids or curves)) then return end
  for k, curve in ipairs(curves or {}) do self:curve(k - 1, curve) end
  self:add("/* p[0 .. %s_CLASSES-1], the probabilities of the classes (%s). */\n", self.upper,
    curves and "isotonic regression" or "Platt's sigmoids")
  self:add("static inline void %s_probabilities(const double *x, double *p) {\n", stem)
  if not curves then
    self:add(array("slope", core.matrix{ calibration.slopes }))
    self:add(array("offset", core.matrix{ calibration.offsets }))
  end
  self:add("  double scores[%d]%s;\n", c, count > 2 and ", sum = 0" or "")
  self:add("%s  %s_decide(x, scores);\n", count > 2 and "  int k;\n" or "", stem)
  if curves then
    for k = 0, c - 1 do
      self:add("  p[%d] = %s_share_%d(scores[%d]);\n", count == 2 and 1 or k, stem, k, k)
    end
    self:add(count == 2 and "  p[0] = 1 - p[1];\n}\n\n"
      or ("  for (k = 0; k < %d; k++) sum += p[k];\n"):format(count))
  elseif count == 2 then
    self:add("  p[1] = 1 / (1 + exp(slope[0] * scores[0] + offset[0]));\n")
    self:add("  p[0] = 1 / (1 + exp(-(slope[0] * scores[0] + offset[0])));\n}\n\n")
  else
    self:add("  for (k = 0; k < %d; k++) {\n", count)
    self:add("    p[k] = 1 / (1 + exp(slope[k] * scores[k] + offset[k]));\n    sum += p[k];\n  }\n")
  end
  if count > 2 then
    self:add("  for (k = 0; k < %d; k++) p[k] = sum > 0 ? p[k] / sum : 1.0 / %d;\n", count, count)
    self:add("}\n\n")
  end
end

-- ------------ the file

-- The name of the functions from that of the file.
local function stem_of(stem)
  stem = stem:gsub("[^%w_]", "_")
  if stem:find "^%d" then
    fail("functions are named by the file, and %s begins with a digit", options.show(stem))
  end
  return stem
end

-- The comment at the top.
local function head(w, f)
  local what = f.task == "regression" and f.task or ("%d %s"):format(#f.classes,
    f.task == "multilabel" and "labels of a row" or "classes")
  local single = f.map_info and f.map_info.dtype == "float32"
  w:add("/* %s: a model of %d columns, %s, trained on %d rows.\n", comment(w.name), f.dim, what,
    f.n)
  w:add(" * Written by Scullery %s. It needs <math.h> alone, in C and in C++.%s */\n", core.version,
    single and "\n * The model has float32 features, which are computed in double here: scores \z
      agree to the\n * rounding of float32." or "")
  w:add("#ifndef %s_H\n#define %s_H\n\n#include <math.h>\n\n", w.upper, w.upper)
  w:add("#define %s_COLUMNS %d\n#define %s_SCORES %d\n", w.upper, f.dim, w.upper, f.weights:cols())
  if f.classes then w:add("#define %s_CLASSES %d\n", w.upper, #f.classes) end
  w:add("\n")
end

local c_header = {}

--- c_header.text(f, stem, name): the text of the file of a model, named by stem and name.
function c_header.text(f, stem, name)
  stem = stem_of(stem)
  local w = setmetatable({ out = {}, numbers = 0, stem = stem, upper = stem:upper(), name = name },
    Writer)
  head(w, f)
  w:names("column", f.names, "The name of column j")
  local steps = {}
  local function step(title, method, part)
    local own = ("%s_%s"):format(stem, title)
    steps[#steps + 1] = { own, w[method](w, part, own) }
  end
  for i, stage in ipairs(f.stages) do step("stage_" .. i, "stage", stage) end
  local function round(map, title)
    local grid = map and parts.rounding(map)
    if grid then step(title, "rounded", grid) end
  end
  if f.map then step("features", "features", f.base or f.map) end
  round(f.base or f.map, "rounded")
  for i, stage in ipairs(f.after or {}) do step("after_" .. i, "stage", stage) end
  if f.base then round(f.map, "rounded_after") end
  w:decide(f, steps)
  if f.task == "classification" then
    w:classes(f)
    w:probabilities(f)
  elseif f.task == "multilabel" then
    w:labels(f)
  else
    w:values(f)
  end
  w:add("#endif\n")
  return table.concat(w.out)
end

return c_header
