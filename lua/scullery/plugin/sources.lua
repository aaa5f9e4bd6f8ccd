--- Sources for sc.plugin.compile: a whole plugin unchanged, or one generated from a formula.
local fail = require "scullery.base.fail"
local option_rows = require "scullery.compose.define_options"

local sources = { around = "what stands around the formula" } -- to the compiler, a file's name

-- The name of the number in a formula of each kind. The formula of a kernel uses one of several,
-- each with the host's name for a number of a pair.
local pairs_of = {
  { "dot", "SCL_PAIR_DOT" },
  { "squared_distance", "SCL_PAIR_SQUARED_DISTANCE" },
  { "distance", "SCL_PAIR_ABSOLUTE_DISTANCE" },
  { "cosine", "SCL_PAIR_COSINE" },
  { "angle", "SCL_PAIR_ANGLE" },
}

local function has_word(text, word) return text:find("%f[%w_]" .. word .. "%f[^%w_]") ~= nil end

-- A text as a C string literal.
local function quoted(text)
  return '"' .. text:gsub("%s+", " "):gsub('[\\"]', "\\%0"):gsub("[^\32-\126]", "?")
    :gsub("%?%?", "?\\?") .. '"'
end

-- The members that the options are in the struct `formula`, and their declarations.
local function instance_of(rows)
  local members, lines = {}, {}
  for i, row in ipairs(rows) do
    members[i] = ("  double %s;\n"):format(row.name)
    lines[i] = ("    SCL_NUMBER(formula, %s, %s, %s, SCL_%s(%.17g, %.17g)),\n"):format(row.name,
      row.default and quoted(row.default) or "NULL", quoted(row.help), row.low_open
        and (row.high_open and "BETWEEN" or "ABOVE") or "WITHIN", row.low, row.high)
      :gsub("%-inf", "-INFINITY"):gsub("%f[%w]inf", "INFINITY")
  end
  return table.concat(members), table.concat(lines)
end

-- static double NAME(const void *instance, double NUMBER): the formula, or statements that return
-- its value, with #line directives for its own lines. Options are variables.
local function function_of(name, number, given, title)
  local source = given.source
  local is_body = has_word(source, "return")
  local variables = {}
  for i, row in ipairs(given.rows) do
    variables[i] = ("  const double %s = ((const formula *)instance)->%s;\n  (void)%s;\n"):format(
      row.name, row.name, row.name)
  end
  return table.concat({
    ("typedef struct formula {\n  scl_base base;\n%s} formula;"):format(given.members),
    ("static double %s(const void *instance, double %s) {"):format(name, number),
    ("  (void)%s;\n  (void)instance;\n%s"):format(number, table.concat(variables)),
    is_body and "" or "  return (",
    ('#line 1 %s'):format(quoted(title)),
    source,
    ('#line 1 %s'):format(quoted(sources.around)),
    is_body and "" or "  );",
    "}", "" }, "\n")
end

local function descriptor(given, texts)
  local lines = given.declarations .. (texts.options or "")
  local array = lines ~= "" and "static const scl_option options[] = {\n" .. lines .. "};\n" or ""
  if lines ~= "" then texts.members = texts.members .. ", SCL_INSTANCE(formula, options)" end
  return array .. ([[
const scl_plugin scullery_plugin = {
    .name = "%s",
    .summary = %s,
    .doc = %s,
    %s};
]]):format(given.name, quoted(texts.summary), quoted(texts.doc), texts.members)
end

local function nonlinearity(given, title)
  return [[
#include <scullery/plugin.h>
]] .. function_of("phi", "z", given, title) .. [[
SCL_LOOPS(phi(self, z))
]] .. descriptor(given, { summary = "phi(z) = " .. given.source, doc = "phi(z) = " .. given.source,
    members = "SCL_NONLINEARITY(SCL_RIDGE_LOOPS)" })
end

local function kernel(given, title)
  local found
  for _, one in ipairs(pairs_of) do
    if has_word(given.source, one[1]) then
      if found then fail("the formula of a kernel has one of %s and %s", found[1], one[1]) end
      found = one
    end
  end
  if not found then
    fail("the formula of a kernel is one of dot, squared_distance, distance (of absolute values), \z
      cosine or angle, as in \"1 / (1 + squared_distance)\"")
  end
  local dense = found[1] == "cosine" or found[1] == "angle"
  return [[
#include <scullery/plugin.h>
]] .. function_of("value", found[1], given, title) .. [[
static void finish(const void *self, const scl_pair_row *row, double *numbers) {
  for (size_t j = 0; j < row->count; j++)
    numbers[j] = value(self, numbers[j]);
}
]] .. descriptor(given, { summary = "K = " .. given.source,
    doc = "K(u, v) = " .. given.source .. ", with the " .. found[1] .. " of u and v",
    members = ("SCL_KERNEL(.spaces = %s, .pair = %s, .finish = finish)"):format(
      dense and "SCL_BIT(SCL_SPACE_DENSE)" or "SCL_SPACES_KERNEL", found[2]) })
end

local function sampler(given, title)
  return [[
#include <scullery/plugin.h>
]] .. function_of("quantile", "u", given, title) .. [[
static scl_status draw(const void *self, const scl_draw *draw, const scl_parameters *out,
                       scl_error *error) {
  const scl_host *host = ((const scl_base *)self)->host;
  (void)error;
  for (size_t i = 0; i < out->count; i++) {
    double *w = out->weights + (ptrdiff_t)i * out->stride;
    host->random->uniform(draw->address.seed, draw->address.stream, out->first + i, 0, out->dim, w);
    for (size_t j = 0; j < out->dim; j++)
      w[j] = quantile(self, w[j]);
  }
  return SCL_STATUS_OK;
}
]] .. descriptor(given, { summary = "w_j = " .. given.source .. ", u uniform on (0, 1)",
    doc = "Independent w_j = " .. given.source .. ", u uniform on (0, 1)",
    options = "    SCL_OPTION_BIAS,\n",
    members = "SCL_SAMPLER(.space = SCL_SPACE_DENSE, .draw = draw)" })
end

-- What C or the generated source has under a name that an option could have.
local taken = {}
for word in ([[auto break case char const continue default do double else enum extern float for goto
  if inline int long register restrict return short signed sizeof static struct switch typedef union
  unsigned void volatile while base formula instance NULL NAN INFINITY HUGE_VAL EOF BUFSIZ RAND_MAX
  bool true false errno stdin stdout stderr assert asm typeof linux unix]]):gmatch "%S+" do
  taken[word] = true
end
local numbers_of = { nonlinearity = { "z" }, sampler = { "u" } }

-- Raises an error for an option whose name the source of a formula has for something else.
local function check_name(kind, name)
  for _, number in ipairs(numbers_of[kind] or {}) do
    if name == number then
      fail("option 'options': '%s' is the number that the formula of a %s is of; give the option \z
        another name", name, kind)
    end
  end
  for _, one in ipairs(kind == "kernel" and pairs_of or {}) do
    if name == one[1] then
      fail("option 'options': '%s' is a number of a pair in the formula of a kernel; give the \z
        option another name", name)
    end
  end
  if taken[name] or name:find "^_" or name:find "^[Ss][Cc][Ll]_" or name:find "^[A-Z]+_" then
    fail("option 'options': '%s' is a name of C or of the library; give the option another name",
      name)
  end
end

local wrappers = { nonlinearity = nonlinearity, kernel = kernel, sampler = sampler }

--- sources.is_whole(text): true for a whole plugin, false for a formula.
function sources.is_whole(text) return text:find("scullery_plugins?%f[^%w_]") ~= nil end

--- sources.complete(given, title): the source of a whole plugin. given.source is one, or the
--- formula of the component given.kind with the name given.name. The compiler's messages name the
--- title and the lines of given.source. given.options: those of the formula, as in
--- sc.KIND.define, numbers alone.
function sources.complete(given, title)
  if sources.is_whole(given.source) then
    if given.options then
      fail("option 'options' is for formulas, and the source is a whole plugin")
    end
    return ("#line 1 %s\n%s\n"):format(quoted(title), given.source)
  end
  if not given.kind or not given.name then
    fail("%s has no symbol scullery_plugin: it is a formula, for which 'kind' and 'name' are \z
      required", title)
  end
  local wrap = wrappers[given.kind]
    or fail("a %s has no short form: the source is a whole plugin with the symbol scullery_plugin",
      given.kind)
  if not given.name:find("^%l[%l%d_]*$") or #given.name > 40 then
    fail("option 'name' takes 1 to 40 of a-z, 0-9 and _, a letter first, and got %q", given.name)
  end
  given.rows = option_rows.of(given.options or {})
  for _, row in ipairs(given.rows) do
    check_name(given.kind, row.name)
    if row.forms[1] ~= "number" or #row.forms > 1 then
      fail("option 'options': those of a formula are numbers, and '%s' is not", row.name)
    end
    if not has_word(given.source, row.name) then
      fail("option 'options': the formula does not have '%s'", row.name)
    end
  end
  given.members, given.declarations = instance_of(given.rows)
  return wrap(given, title)
end

return sources
