-- Definitions that plugins declare: the functions that they may use, and that a plugin with another
-- one fails.
local lu = require "luaunit"
local sc = require "scullery"
local check = require "scullery_checker"
local core = require "scullery_checker.core"
local definition = require "scullery_checker.definition"
local functions = require "scullery_checker.definition.functions"

TestFunctions = {}

function TestFunctions:test_special_functions()
  lu.assertAlmostEquals(functions.lgamma(0.5), math.log(math.pi) / 2, 1e-14)
  lu.assertAlmostEquals(functions.lgamma(11), math.log(3628800), 1e-13)
  lu.assertAlmostEquals(functions.erfc(3.5) / 7.430983723414127e-07, 1, 1e-12)
  lu.assertAlmostEquals(functions.tanh(0.5), 0.46211715726000975, 1e-15)
end

function TestFunctions:test_integrals()
  local function gaussian(x) return math.exp(-x * x / 2) end
  lu.assertAlmostEquals(functions.integral(gaussian, -math.huge, math.huge),
    math.sqrt(2 * math.pi), 1e-12)
  lu.assertAlmostEquals(functions.integral(function(x) return 1 / math.sqrt(x) end, 0, 4), 4, 1e-7)
end

function TestFunctions:test_integral_of_a_narrow_function()
  for _, width in ipairs{ 0.3, 0.1 } do
    local function peak(x) return math.exp(-((x - 1.7) / width) ^ 2) end
    lu.assertAlmostEquals(functions.integral(peak, -8, 9) / width, math.sqrt(math.pi), 1e-8)
  end
end

function TestFunctions:test_small_angles_keep_their_digits()
  lu.assertAlmostEquals(functions.angle({ 1, 0 }, { 1, 1e-9 }) / 1e-9, 1, 1e-12)
end

TestDefinition = {}

local source = [[
#include <scullery/plugin.h>
typedef struct inverse { scl_base base; double width; } inverse;
static const scl_option options[] = {
    SCL_NUMBER(inverse, width, "1", "the width", SCL_POSITIVE)};
static double scale(const void *self) { return 1 / ((const inverse *)self)->width; }
static void finish(const void *self, const scl_pair_row *row, double *numbers) {
  (void)self;
  for (size_t j = 0; j < row->count; j++) numbers[j] = 1 / (1 + numbers[j]);
}
const scl_plugin scullery_plugin = {.name = "%s", .summary = "inverse quadratic",
    .doc = "1/(1 + r^2), positive definite", .version = "1", .definition = "%s",
    SCL_KERNEL(.spaces = SCL_SPACES_KERNEL, .pair = SCL_PAIR_SQUARED_DISTANCE, .finish = finish,
               .scale = scale),
    SCL_INSTANCE(inverse, options)};
]]

local function outcome(name, text)
  sc.plugin.compile{ kind = "kernel", name = name, source = source:format(name, text) }
  return check.run(name, { only = "definition", in_process = true, seed = 3 }).results[1]
end

function TestDefinition:test_right_one_passes_and_is_shown()
  local found = outcome("inverse_right",
    [[q(u, v) =\n  squared_distance(u, v)/width^2\nK(u, v) = 1/(1 + q(u, v))]])
  lu.assertEquals(found.outcome, "pass", found.text)
  lu.assertStrContains(require("scullery.help.topics").plugin("kernel", "inverse_right"),
    "K(u, v) = 1/(1 + q(u, v))")
end

-- Right with the default width alone.
function TestDefinition:test_other_one_fails()
  local found = outcome("inverse_other", "K(u, v) = 1/(1 + squared_distance(u, v)/width)")
  lu.assertEquals(found.outcome, "fail")
  lu.assertStrContains(found.text, "by its definition")
end

function TestDefinition:test_one_that_is_no_lua_fails()
  local found = outcome("inverse_broken", "K(u, v) = 1/(1 + ")
  lu.assertEquals(found.outcome, "fail")
  lu.assertStrContains(found.text, "cannot be read")
end

-- Each is told, and none passes.
function TestDefinition:test_mistakes_are_told()
  for k, case in ipairs{
    { "K = 3", "no line of the form name(arguments) = expression" },
    { "K(u, v) = nil", "gives no finite number anywhere" },
    { "K(u, v) = angel(u, v)", "angel" },
    { "K(u, v) = u == v", "boolean in place of a number" },
    { "K(u, v) = u", "numbers in place of one" },
    { "K(u, v) = \\\"1\\\"", "string in place of a number" },
    { "K(u, v) = K(u, v)", "instructions of Lua" },
  } do
    local found = outcome("inverse_mistake_" .. k, case[1])
    lu.assertEquals(found.outcome, "fail", case[1])
    lu.assertStrContains(found.text, case[2])
  end
end

-- The component of `scullery plugin new`, changed; what its definition says of it.
local function template_outcome(kind, name, pattern, other)
  local file <close> = assert(io.open(("%s/lua/scullery/templates/%s.c"):format(
    os.getenv "SCULLERY_SOURCE" or ".", kind)))
  local text, count = file:read "a":gsub("my_plugin", name):gsub(pattern, other)
  assert(count > 0, pattern)
  sc.plugin.compile{ kind = kind, name = name, source = text }
  return check.run(name, { only = "definition", in_process = true, seed = 3 }).results[1]
end

function TestDefinition:test_faults_in_templates()
  for k, case in ipairs{
    { "sampler", "normal%[2 %* j%] %* normal", "normal[j] * normal" },
    { "sampler", "%->sigma;", "->sigma * 1.01;" },
    { "sampler", "sqrt%(1 %+ z", "sqrt(1 + 0.5 * z" },
    { "sampler", "= normal%[2", "= -normal[2" },
    { "solver", "self%->lambda %* x", "2 * self->lambda * x" },
    { "solver", "right%[i %* c %+ j%]", "right[j * d + i]" },
    { "solver", "out%[i%] / normal%->total", "out[i] / (normal->total + 1)" },
    { "reader", "%(size_t%)i %* t%->columns %+ j%]", "(size_t)j * count + i]" },
    { "reader", "%(double%)t%->numbers", "-(double)t->numbers" },
    { "reader", "%.name = at", ".name = t->names" },
    -- its own files: no rows, and more than a block
    { "reader", "t%->columns == 0", "t->rows == 0" },
    { "reader", "t%->rows %- t%->row", "(uint8_t)t->rows - t->row" },
  } do
    local kind, pattern, other = table.unpack(case)
    local found = template_outcome(kind, "faulty_" .. k, pattern, other)
    lu.assertEquals(found.outcome, "fail", other)
    lu.assertStrContains(found.text, "definition")
  end
  local found = template_outcome("reader", "silent", '%.definition =.-",\n', "")
  lu.assertEquals(found.outcome, "skip")
  lu.assertStrContains(found.text, "no .definition")
end

local laplace = [[
#include <scullery/plugin.h>
static void make(const void *self, size_t count, const double *u, double *e) {
  (void)self;
  for (size_t j = 0; j < count; j++) {
    const double near = fmax(u[j] < 0.5 ? u[j] : 1 - u[j], %g);
    e[j] = (u[j] < 0.5 ? 1 : -1) * log(2 * near);
  }
}
static void moments(const void *self, double *mean, double *scale) {
  (void)self;
  *mean = 0;
  *scale = 1;
}
static double factor(const void *self, double z) { (void)self; return 1 / (1 + z * z); }
const scl_plugin scullery_plugin = {.name = "%s", .summary = "Laplace", .doc = "Laplace numbers",
    .definition = "density(w) = exp(-abs(w))", .version = "1",
    SCL_SAMPLER(.space = SCL_SPACE_DENSE, .make = make, .moments = moments, .factor = factor,
                .family = SCL_FAMILY_OTHER)};
]]

local higher = [[
#include <scullery/plugin.h>
static scl_status measure(const void *self, const scl_judged *judged, double *value,
                          double *standard_error, scl_error *error) {
  double sum = 0, all = 0;
  (void)self, (void)standard_error, (void)error;
  for (size_t i = 0; i < judged->rows; i++) {
    all += judged->weights[i];
    if (judged->predicted[(ptrdiff_t)i * judged->predicted_stride] %s
        judged->truth[(ptrdiff_t)i * judged->truth_stride]) sum += judged->weights[i];
  }
  *value = sum / all;
  return SCL_STATUS_OK;
}
const scl_plugin scullery_plugin = {.name = "%s", .summary = "too high", .doc = "too high",
    .definition = "value(rows) = type(rows[1].y) == \"number\""
                  " and average(rows, function(r) return r.f > r.y and 1 or 0 end)", .version = "1",
    SCL_METRIC(.needs = SCL_NEEDS_VALUES, .low = 0, .high = 1, .measure = measure)};
]]

-- Tails beyond one number in a thousand, and predictions that are equal to the truth.
function TestDefinition:test_rare_numbers()
  for k, case in ipairs{ { "sampler", laplace, 1e-9 }, { "sampler", laplace, 1e-3 },
    { "metric", higher, ">" }, { "metric", higher, ">=" } } do
    local kind, text, part = table.unpack(case)
    local name = "rare_" .. k
    sc.plugin.compile{ kind = kind, name = name, source = text:format(part, name) }
    local found = check.run(name, { only = "definition", in_process = true, seed = 3 }).results[1]
    lu.assertEquals(found.outcome, k % 2 == 1 and "pass" or "fail", found.text)
  end
end

local function solver_outcome(name, objective)
  return template_outcome("solver", name, '%.definition =.-",\n',
    (".definition = \"objective(rows, a) = %s\",\n"):format(objective))
end

function TestDefinition:test_objectives_of_solvers()
  local squares = "average(rows, function(r) return (r.f - r.y)^2 end) + "
  local found = solver_outcome("conjugate_right", squares .. "lambda*dot(a, a)")
  lu.assertEquals(found.outcome, "pass", found.text)
  found = solver_outcome("conjugate_other", squares .. "lambda/2*dot(a, a)")
  lu.assertEquals(found.outcome, "fail")
  lu.assertStrContains(found.text, "it says converged, and near its coefficients")
end

-- The mean of the two nearest rows, by their weights.
function TestDefinition:test_scores_of_models()
  local component = require("scullery").solver.knn{ k = 2 }
  local score = definition.of(component).score
  local rows = { { x = { 0, 0 }, y = 1, w = 1 }, { x = { 1, 0 }, y = 4, w = 2 },
    { x = { 9, 9 }, y = 70, w = 1 } }
  lu.assertAlmostEquals(score(rows){ 0.2, 0 }[1], 3, 1e-15)
end

function TestDefinition:test_a_script_calls_them()
  local of = sc.plugin.definition
  lu.assertAlmostEquals(of(sc.kernel.gaussian{ width = 2 }).K({ 0, 1 }, { 1, 1 }),
    math.exp(-1 / 8), 1e-15)
  lu.assertEquals(of("pinball").value{ { f = 1, y = 2, w = 3 } }, 0.5)
  local _, r = of("sampler.uniform", { seed = 7, stream = 3, dim = 2, total = 9 })
  lu.assertEquals({ r.dim, r.total, r.uniform(0, 4, 1) }, { 2, 9, core.uniform(7, 3, 4, 1) })
  for _, case in ipairs{ { 3, "takes a component, as sc.kernel.NAME{}, or its name" },
    { "none", "no plugin 'none'" }, { "gaussian", "there are several" },
    { "stage.agop", "declares no .definition" },
    { sc.kernel.gaussian{ width = "median" }, "needs a number" },
    { sc.kernel.gaussian{ width = sc.choose{ 1, 2 } }, "needs a number" } } do
    lu.assertErrorMsgContains(case[2], of, case[1])
  end
end

function TestDefinition:test_equations()
  lu.assertEquals(functions.solve({ { 0, 2 }, { 1, 1 } }, { 4, 5 }), { 3, 2 })
end

function TestDefinition:test_rounding_of_arguments_is_allowed_for()
  local wanted, slack = definition.values(function(x) return 1 / (1 - x) end, 1 - 1e-6)
  lu.assertAlmostEquals(wanted[1], 1e6, 1)
  lu.assertTrue(slack[1] > 100)
end

os.exit(lu.LuaUnit.run())
