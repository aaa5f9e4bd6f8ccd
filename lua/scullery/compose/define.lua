--- Components written in Lua: sc.KIND.define, for prototypes of components in C.
local core = require "scullery.core"
local fail = require "scullery.base.fail"
local formula = require "scullery.compose.formula"
local keys = require "scullery.base.keys"
local option_rows = require "scullery.compose.define_options"
local options = require "scullery.base.options"

local define = {}

-- ------------ fields

local callable = { type = "function", takes = "a function" }
local text = { type = "string" }
local number = { type = "number or function",
  takes = "a number, or a function of the options that returns one" }

local function list_of(kinds)
  local function test(value)
    if type(value) ~= "table" or #value == 0 then return false end
    for _, one in ipairs(value) do if not kinds[one] then return false end end
    return true
  end
  return { test = test, takes = "a list of " .. table.concat(keys.sorted(kinds), ", ") }
end

-- The rules of a kind: its own fields and those of every kind.
local function declare(kind, own)
  local rules = { name = { type = "string", required = true }, summary = text, doc = text,
    version = text, author = text, options = { type = "table" }, check = callable }
  for name, rule in pairs(own) do rules[name] = rule end
  return options.declare(kind .. ".define", rules)
end

local spaces = list_of{ dense = true, sparse = true, threshold = true, structured = true }
local families = { choices = { "other", "gaussian", "uniform", "rademacher", "laplace", "cauchy" } }

local rules = {
  nonlinearity = declare("nonlinearity", { eval = callable, smooth = callable, dual = callable,
    threshold_dual = callable, bound = number, lipschitz = number,
    breaks = { type = "table or function",
      takes = "a list of numbers, or a function of the options that returns one" },
    scale_free = { type = "boolean" }, harmonic = number, two_valued = { type = "table" },
    formula = { type = "string or function",
      takes = "statements of C, or a function of the options that returns them" },
    fan_in = number, fan_out = number, spaces = spaces, tags = text,
    phase = { type = "boolean" } }),
  sampler = declare("sampler", { make = callable, draw = callable, factor = callable,
    characteristic = callable, law = callable, distribution = callable, learn = callable,
    moments = { type = "table or function",
      takes = "{ mean, scale }, or a function of the options that returns both" },
    family = families, normals = { type = "integer", low = 1, high = 8 },
    space = { choices = { "dense", "sparse", "threshold" } }, degree = number,
    bias = { type = "boolean" }, dependent = { type = "boolean" } }),
  kernel = declare("kernel", { eval = callable, finish = callable, move = callable, scale = number,
    pair = { choices = { "dot", "squared_distance", "absolute_distance", "cosine", "angle" } },
    spaces = list_of{ dense = true, sparse = true, threshold = true } }),
  solver = declare("solver", { solve = callable, objective = callable,
    loss = { type = "table" }, penalty = { type = "string or function",
      takes = "none, l2, l1, box, rkhs, or a function of the options that returns one" } }),
  stage = declare("stage", { column = callable, eval = callable,
    scale_free = { type = "boolean" } }),
  metric = declare("metric", { row = callable, finish = callable, measure = callable,
    needs = { choices = { "values", "labels", "scores", "probabilities" }, required = true },
    better = { choices = { "smaller", "larger" }, required = true }, low = { type = "number" },
    high = { type = "number" }, most_classes = { type = "integer", low = 2 } }),
  loss = declare("loss", { value = callable, slope = callable, curvature = callable,
    conjugate = callable, proximal = callable, probability = callable, mean = callable,
    low = number, high = number, low_open = { type = "boolean" }, lipschitz = number,
    largest_curvature = number,
    kinks = { type = "boolean" }, targets = { choices = { "numbers", "classes", "both" } } }),
}

-- ------------ fields that go together

-- The one of these fields that is given; raises an error if there are none or several.
local function need(fields, ...)
  local found
  for _, name in ipairs{ ... } do
    if fields[name] ~= nil and found then
      fail("takes '%s' or '%s', and got both", found, name)
    end
    found = found or fields[name] ~= nil and name
  end
  if not found then fail("needs the field '%s'", table.concat({ ... }, "' or '")) end
  return found
end

-- Raises an error if one of these fields is given, beside the field `found`.
local function refuse(fields, found, ...)
  for _, name in ipairs{ ... } do
    if fields[name] ~= nil then fail("the field '%s' does not go with '%s'", name, found) end
  end
end

-- By kind: checks the fields and returns the name of the main function.
local checks = {}

function checks.nonlinearity(fields)
  need(fields, "eval")
  local two = fields.two_valued
  if two and (type(two.low) ~= "number" or type(two.high) ~= "number") then
    fail("the field 'two_valued' takes { low = a, high = b }, and got %s", options.show(two))
  end
  return "eval"
end

function checks.sampler(fields)
  if need(fields, "make", "draw") == "make" then
    refuse(fields, "make", "space", "degree", "law", "characteristic", "distribution", "learn",
      "dependent")
    return "make"
  end
  refuse(fields, "draw", "normals", "moments", "factor", "family")
  if fields.space == "sparse" then need(fields, "degree") else
    refuse(fields, "space = \"" .. (fields.space or "dense") .. '"', "degree")
  end
  return "draw"
end

function checks.kernel(fields)
  if need(fields, "eval", "pair") == "eval" then
    refuse(fields, "eval", "finish", "move", "scale", "spaces")
    return "eval"
  end
  return fields.finish and "finish"
end

function checks.solver(fields)
  need(fields, "solve")
  for _, name in ipairs(fields.loss and { "value", "slope", "bound", "lipschitz" } or {}) do
    local f = fields.loss[name]
    if type(f) ~= "function" then
      fail("the field 'loss' takes four functions, value, slope, bound and lipschitz, and its \z
        '%s' is %s", name, options.show(f))
    end
    fields["loss." .. name] = f
  end
  return "solve"
end

function checks.stage(fields)
  return need(fields, "column", "eval")
end

function checks.metric(fields)
  local main = need(fields, "row", "measure")
  if main == "measure" then refuse(fields, "measure", "finish") end
  if (fields.low or -math.huge) >= (fields.high or math.huge) then
    fail("the field 'low' is %g, which is not below 'high' = %g", fields.low or -math.huge,
      fields.high or math.huge)
  end
  fields.by_labels = fields.needs == "labels"
  return main
end

-- The change of f(z, y, o) from z - h to z + h, for each unit.
local function difference(f, z, y, o, h)
  local above, below = z + h, z - h
  return (f(above, y, o) - f(below, y, o)) / (above - below)
end

-- The step of a difference at z: the root of third order of the rounding error.
local function step_at(z) return 6e-6 * math.max(1, math.abs(z)) end

-- Targets that a definition takes, for a look at its slope.
local function targets_of(fields, o)
  local function bound(value, absent)
    if type(value) == "function" then value = value(o) end
    return value or absent
  end
  local list, low, high = {}, bound(fields.low, -math.huge), bound(fields.high, math.huge)
  for _, y in ipairs(fields.targets == "classes" and { -1, 1 } or { -2, 0, 0.5, 1, 3 }) do
    if y >= low and y <= high and not (fields.low_open and y == low) then list[#list + 1] = y end
  end
  return list
end

-- Raises an error where the given slope is not that of the value. As a loss is convex, the change
-- of its value from z - h to z + h lies between the slopes at both ends, also around a kink.
local function check_slope(fields, o)
  for _, y in ipairs(targets_of(fields, o)) do
    for _, z in ipairs{ -2.3, -0.7, 0.4, 1.1, 2.6 } do
      local h = step_at(z)
      local change = difference(fields.value, z, y, o, h)
      local low, high = fields.slope(z - h, y, o), fields.slope(z + h, y, o)
      local slack = 1e-4 * (1 + math.abs(change))
      if change < low - slack or change > high + slack then
        fail("the slope at f = %g, y = %g is %g, and the value changes by %g for each unit", z, y,
          fields.slope(z, y, o), change)
      end
    end
  end
end

-- A slope that is not given is the difference of values; a curvature, without kinks, that of the
-- given slope.
function checks.loss(fields)
  need(fields, "value")
  local value, slope, check = fields.value, fields.slope, fields.check
  if not slope then
    fields.slope = function(f, y, o) return difference(value, f, y, o, step_at(f)) end
    return "value"
  end
  fields.check = function(o)
    if check then check(o) end
    check_slope(fields, o)
  end
  if not fields.kinks and not fields.curvature then
    fields.curvature = function(f, y, o)
      return math.max(0, difference(slope, f, y, o, step_at(f)))
    end
  end
  return "value"
end

-- ------------ the digest of a definition

-- The upvalues of a function that are numbers, texts or booleans, as "name=value;...".
local function scalars_of(f)
  local list = {}
  for i = 1, 255 do
    local name, value = debug.getupvalue(f, i)
    if not name then break end
    local kind = type(value)
    if kind == "number" or kind == "string" or kind == "boolean" then
      list[#list + 1] = name .. "=" .. tostring(value)
    end
  end
  return table.concat(list, ";")
end

-- The source lines of a function, without their indentation; its bytecode if the source is not
-- available.
local function code_of(f)
  local info = debug.getinfo(f, "S")
  if info.what == "C" then return "a function in C" end
  local source = not info.source:find("^[@=]") and info.source
  local file = info.source:sub(1, 1) == "@" and io.open(info.source:sub(2))
  if file then
    source = file:read("a")
    file:close()
  end
  if not source then return string.dump(f, true) end
  local list, at, last = {}, 0, info.linedefined == 0 and math.huge or info.lastlinedefined
  for line in (source .. "\n"):gmatch("([^\n]*)\n") do
    at = at + 1
    if at >= info.linedefined and at <= last then list[#list + 1] = line:match("^%s*(.-)%s*$") end
  end
  return table.concat(list, "\n")
end

-- A value as a text for the digest; for a function its source and its scalar upvalues. Tables
-- deeper than 8 levels count as equal, which also ends a circle of tables.
local function text_of(value, depth)
  if depth > 8 then return "..." end
  if type(value) == "function" then return code_of(value) .. scalars_of(value) end
  if type(value) ~= "table" then return tostring(value) end
  local parts, list = {}, keys.sorted(value, function(x, y) return tostring(x) < tostring(y) end)
  for i, key in ipairs(list) do
    parts[i] = tostring(key) .. "=" .. text_of(value[key], depth + 1)
  end
  return "{" .. table.concat(parts, ",") .. "}"
end

local own_folder = debug.getinfo(1, "S").source:match("^@(.*/)compose/[^/]*$") or "?"

-- The position of a definition as a text, "script.lua:12": the line of the main function f; if f is
-- nil or a C function, the line of the script that called the library; "a script" if unknown.
local function place(f)
  local info = f and debug.getinfo(f, "S")
  local line = info and info.linedefined or 0
  for level = 2, line > 0 and 1 or 50 do
    info = debug.getinfo(level, "Sl")
    line = info and info.currentline or 0
    local own = info and info.source:sub(1, #own_folder + 1) == "@" .. own_folder
    if not info or line > 0 and not own then break end
  end
  if not info or line < 1 or not utf8.len(info.short_src) then return "a script" end
  return ("%s:%d"):format(info.short_src, line)
end

-- ------------ defining

-- Defines a component of a kind; returns its constructor, which the group (sc.KIND) makes on
-- demand.
local function enter(kind, given, group, own)
  local title = kind .. ".define"
  if type(given) == "string" then given = formula.fields(kind, given, own) end
  local fields = options.check(title, given, rules[kind], 0)
  local main = checks[kind](fields)
  if fields.name == "define" then fail("a %s cannot be named 'define'", kind) end
  fields.rows = option_rows.of(fields.options or {}, fields.bias)
  local code = {} -- what distinguishes definitions: all but the texts
  for name, value in pairs(given) do
    if name ~= "doc" and name ~= "summary" and name ~= "author" then code[name] = value end
  end
  fields.digest = core.digest(text_of(code, 0)):sub(1, 16)
  fields.place, fields.kind = place(main and fields[main]), kind
  fields.doc = fields.doc or ""
  fields.summary = fields.summary or fields.doc:match("^%s*([^\n]+)") or "defined in Lua"
  core.define(fields)
  return group[fields.name]
end

--- define.groups: the tables sc.sampler, sc.nonlinearity, sc.kernel, sc.solver, ..., by
--- kind.
define.groups = {}

--- sc.nonlinearity.define{ name =, eval = function(z, o) ... end, ... }: defines a nonlinearity in
--- Lua as sc.nonlinearity.NAME{...}, a component like any other, about a hundred times slower than
--- one in C. Returns that constructor. o is the table of its options.
---
---   name      the name after sc.nonlinearity.
---   eval      function(z, o): phi(z). With fan_in = q and fan_out = p:
---             function(z1, ..., zq, o), which returns p numbers
---   options   { NAME = { default =, low =, high =, help = }, ... }, or { NAME = default }. Further
---             fields of an option: above and below (bounds that are not taken), form ("number",
---             "integer", "boolean", "word", "list", "named", or a list of these), words (a list),
---             width ("gamma", "length", "frequency", "rate"), role ("regularisation", ...)
---   smooth    function(m, v, o): E phi(N(m, v^2)), v > 0; with q inputs function(m1, ..., v1, ...,
---             o). Without it the host integrates numerically
---   dual      function(m, o): E phi(a) phi(b) for normal (a, b); m has mean_a, mean_b, var_a,
---             var_b and covariance; nil: no closed form for these
---   threshold_dual   function(Fa, Fb, o): E phi(a - t) phi(b - t) from P(t <= a) and P(t <= b)
---   harmonic  the kernel is this number times the characteristic function of the sampler
---   bound, lipschitz, breaks, scale_free   facts: |phi| <= bound, a Lipschitz constant, a list of
---             the places of jumps and kinks, phi(s z) = phi(z) for s > 0
---   two_valued  { low =, high =, zero_is_high = }: phi is low where z < 0, high where z > 0
---   spaces    the parameter spaces that it accepts: a list of "dense", "sparse", "threshold",
---             "structured" (default: all)
---   formula   phi as C for p:export: statements that set out[0], ... from z[0], ..., or a function
---             of o that returns them; a formula in Lua has it by itself where it is arithmetic
---   phase, tags   as in scullery/plugin/nonlinearity.h
---   check     function(o): raises an error if options contradict each other
---   summary, doc, version, author   texts for help
---
--- In place of the table a formula in Lua and its options, define("tanh(beta * z)", { beta = 1 }):
--- z, the options, and the functions of Lua's math, tanh, cosh, sinh and sign. An option is a
--- number or a table as above; `name` beside them names the component, else the formula does.
---
--- bound, lipschitz, breaks, harmonic, fan_in and fan_out may be functions of o. Features with such
--- a component are computed on the script's thread only. A name may be defined again: components
--- made later use the new definition. A saved model contains no code: the script that loads it
--- must define the component first.
function define.nonlinearity(given, own)
  return enter("nonlinearity", given, define.groups.nonlinearity, own)
end

--- sc.sampler.define{ name =, make = function(u, o) ... end, ... } or { name =, draw = function(t,
--- d, random, o) ... end, ... }: defines a sampler in Lua as sc.sampler.NAME{...}. Returns that
--- constructor. Options, check and texts: as for sc.nonlinearity.define.
---
--- Independent coordinates, w_j = mean + scale e_j:
---
---   make      function(u, o): e from u, uniform on (0, 1); with normals = k function(n1, ..., nk,
---             o), from k numbers N(0, 1)
---   moments   { mean, scale }, or a function of o that returns both (0, 1)
---   factor    function(z, o): E cos(z e), for symmetric e: the kernel of Fourier features
---   family    of e: "gaussian", "uniform", "rademacher", "laplace", "cauchy"
---
--- Any parameters:
---
---   draw      function(t, d, random, o, state): parameter t (from 1) of rows of d columns, from t
---             and random alone. random:uniform([n]) and random:normal([n]) give a number, or a
---             list of n. Returns for space = "dense" (the default) a list of d numbers, for
---             "threshold" a column and a threshold, for "sparse" a list of columns, ascending, and
---             one of their weights
---   degree    sparse: the most columns of a parameter, a number or function(d, o)
---   law       function(d, o): { family =, mean =, scale = }, a number for all columns or a list
---   characteristic   function(delta, o): Re E exp(i <w, delta>), delta a list of d numbers
---   distribution     threshold: function(column, x, o): P(t <= x)
---   learn     function(rows, T, random, o): a state, a matrix or list of numbers, from rows of
---             data, and T if it is nil. rows has the fields rows, columns and targets, and the
---             methods rows:all(), a matrix; rows:select(places); rows:walk(f), f(block) with
---             block.X, .y, .weights, .places; rows:progress(doing, done)
---   dependent true if parameters depend on each other, as quasi-random ones do
---
--- For both: bias = true adds the option `bias`, which the host implements. A formula of u, uniform
--- on (0, 1), stands for make: define("scale * tan(pi * (u - 0.5))", { scale = 1 }).
function define.sampler(given, own)
  return enter("sampler", given, define.groups.sampler, own)
end

--- sc.kernel.define{ name =, pair = "squared_distance", finish = function(number, o) ... end } or {
--- name =, eval = function(x, y, o) ... end }: defines a kernel in Lua as sc.kernel.NAME{...}.
--- Returns that constructor. Options, check and texts: as for sc.nonlinearity.define.
---
---   pair      the number of a pair (u, v), which the host computes: "dot", "squared_distance",
---             "absolute_distance", "cosine", "angle"
---   finish    function(number, o): K; for cosines and angles function(number, o, |u|, |v|).
---             Without it K is the number
---   scale     a factor that multiplies the coordinates first: a number, or a function of o
---   move      function(x, o): then applied to each coordinate of dense rows
---   spaces    the parameter spaces that it accepts: a list of "dense", "sparse", "threshold"
---   eval      in place of all this: function(x, y, o), K of two rows, lists of numbers
---
--- A formula has one of dot, squared_distance, distance (of absolute values), cosine and angle:
--- define("1 / (1 + squared_distance / width^2)", { width = 1 }).
function define.kernel(given, own)
  return enter("kernel", given, define.groups.kernel, own)
end

--- sc.solver.define{ name =, solve = function(problem, o) ... end, ... }: defines a solver in Lua
--- as sc.solver.NAME{...}. Returns that constructor. Options, check and texts: as for
--- sc.nonlinearity.define. An option with role = "regularisation" is the one that guarantees and
--- the one-standard-error rule use; one with role = "intercept" asks for a constant.
---
---   solve     function(problem, o): a table with coefficients, a features x targets matrix (or a
---             list, of one target), outcome = "converged", "stopped" or "limit", and where there
---             are iterations, gap, residual, tolerance, jitter, score, note, and intercept (else
---             the host computes it)
---   penalty   the penalty: "l2" (the default), "l1", "rkhs", "box", "signs", "other", "none"; or a
---             function of o
---   objective function(problem, coefficients, intercept, o): the value that solve minimises
---   loss      { value =, slope =, bound =, lipschitz = }: value and slope are functions (f, y, o)
---             of a row's scores and targets, numbers or lists of several; bound and lipschitz
---             functions (reach, o)
---
--- Fields of the problem: rows, features, targets, task ("classification", "regression"), classes,
--- intercept, has_kernel, log_scale, parameters, allowance, start (an initial point, or nil).
---
---   problem:normal()      { moment = Phi'Phi, right = Phi'Y, square, total }, centred with an
---                         intercept; problem:reweighted(weights) with other row weights
---   problem:dual()        Phi Phi' and the targets; problem:gram() gives G
---   problem:responses()   targets and row weights
---   problem:product(a)    Phi a; problem:adjoint(r) gives Phi'r
---   problem:sweep(a, f)   Phi' f(Phi a, block): f gives residuals of a block's scores
---   problem:solve(A, B)   X of A X = B, A symmetric and positive definite, by Cholesky
---   problem:walk(f)       f(block) with block.X, .y, .weights, .first, .count, .places
---   problem:minibatch({ seed =, step =, size =, first =, count =, plain = }, f)
---   problem:hold_out(share, seed), problem:held(f)   rows set aside
---   problem:total(values) sums of the columns of a matrix over its rows (1 x k), exact and rounded
---                         once: for sums over rows that do not depend on their order
---   problem:progress(doing, done[, loss])
function define.solver(given) return enter("solver", given, define.groups.solver) end

--- sc.stage.define{ name =, column = function(mean, deviation, low, high, o) ... end } or { name =,
--- eval = function(x, o) ... end }: defines a row stage in Lua as sc.stage.NAME{...}. Returns that
--- constructor. Options, check and texts: as for sc.nonlinearity.define.
---
---   column      shift and factor of a column, two numbers, from its mean, standard deviation,
---               smallest and largest value in the rows of the fit: x becomes (x - shift) factor
---   eval        each number x of a row becomes eval(x, o); nothing is learnt
---   scale_free  true: a positive factor of all columns does not change the result, so that the
---               stage may follow features
---
--- Rows go through such a stage on the script's thread only.
function define.stage(given) return enter("stage", given, define.groups.stage) end

--- sc.metric.define{ name =, needs =, better =, row = function(prediction, truth, o) ... end } or {
--- ..., measure = function(predictions, truth, weights, o) ... end }: defines a metric in Lua as
--- sc.metric.NAME{...}, and as sc.metrics.NAME(predictions, truth). Returns the first. Options,
--- check and texts: as for sc.nonlinearity.define.
---
---   needs     what it is computed from: "values" of a regression, or of a classification "labels",
---             "scores" (of two classes one column, larger for the second) or "probabilities"
---   better    "smaller" or "larger"
---   row       function(prediction, truth, o): the loss or gain of one row. The metric is the
---             weighted mean, and the library computes its standard error. prediction: a number, or
---             a list for several columns; a class is its position, from 1. truth: the class, or as
---             the prediction
---   finish    function(mean, o): the metric as a function of the mean; its second result is the
---             derivative there, for the standard error (without it by the jackknife)
---   measure   in place of both: function(predictions, truth, weights, o): the metric of all rows,
---             and where it knows it its standard error. Matrices; classes are lists
---   low, high limits of all values
---   most_classes   the largest number of classes for which it is defined
function define.metric(given) return enter("metric", given, define.groups.metric) end

--- sc.loss.define{ name =, value = function(f, y, o) ... end, ... }: defines a loss in Lua as
--- sc.loss.NAME{...}, for sc.solver.erm{ loss = sc.loss.NAME{} }. Returns that constructor.
--- Options, check and texts: as for sc.nonlinearity.define. A loss is convex in the score f;
--- targets y of classes are -1 and 1.
---
---   value     function(f, y, o): l(f, y)
---   slope     function(f, y, o): its derivative in f, compared with differences of value when a
---             component is made. Without it these differences are taken, with ten digits
---   curvature function(f, y, o): the second derivative, for Newton's method; without it
---             differences of the given slope
---   kinks     true: the slope jumps somewhere, as that of |f - y|
---   conjugate function(s, y, o): sup over f of s f - l(f, y), for duality gaps; math.huge: none
---   proximal  function(z, y, t, o): the f that minimises l(f, y) + (f - z)^2/(2 t); without it by
---             bisection
---   probability   function(f, o): the probability of the class 1
---   mean      function(f, o): the mean of the targets where the score is f, if it is not f; then
---             predictions are means
---   targets   "numbers" (the default), "classes" or "both"
---   low, high, low_open   the range of numbers as targets; low_open = true: more than low
---   lipschitz, largest_curvature   the largest |slope|, and the largest curvature, math.huge: none
---
--- low, high, lipschitz and largest_curvature may be functions of o.
function define.loss(given) return enter("loss", given, define.groups.loss) end

return define
