--- Sources for sc.plugin.compile: a whole plugin unchanged, or one generated from a formula.
local fail = require "scullery.base.fail"

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

-- static double NAME(double NUMBER): the formula, or statements that return its value, with #line
-- directives for its own lines.
local function function_of(name, number, source, title)
  local is_body = has_word(source, "return")
  return table.concat({
    ("static double %s(double %s) {"):format(name, number),
    ("  (void)%s;"):format(number),
    is_body and "" or "  return (",
    ('#line 1 %s'):format(quoted(title)),
    source,
    ('#line 1 %s'):format(quoted(sources.around)),
    is_body and "" or "  );",
    "}", "" }, "\n")
end

local function descriptor(given, texts)
  return ([[
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
]] .. function_of("phi", "z", given.source, title) .. [[
SCL_LOOPS(phi(z))
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
]] .. function_of("value", found[1], given.source, title) .. [[
static void finish(const void *self, const scl_pair_row *row, double *numbers) {
  (void)self;
  for (size_t j = 0; j < row->count; j++)
    numbers[j] = value(numbers[j]);
}
]] .. descriptor(given, { summary = "K = " .. given.source,
    doc = "K(u, v) = " .. given.source .. ", with the " .. found[1] .. " of u and v",
    members = ("SCL_KERNEL(.spaces = %s, .pair = %s, .finish = finish)"):format(
      dense and "SCL_BIT(SCL_SPACE_DENSE)" or "SCL_SPACES_KERNEL", found[2]) })
end

local function sampler(given, title)
  return [[
#include <scullery/plugin.h>
]] .. function_of("quantile", "u", given.source, title) .. [[
static scl_status draw(const void *self, const scl_draw *draw, const scl_parameters *out,
                       scl_error *error) {
  const scl_host *host = ((const scl_base *)self)->host;
  (void)error;
  for (size_t i = 0; i < out->count; i++) {
    double *w = out->weights + (ptrdiff_t)i * out->stride;
    host->random->uniform(draw->address.seed, draw->address.stream, out->first + i, 0, out->dim, w);
    for (size_t j = 0; j < out->dim; j++)
      w[j] = quantile(w[j]);
  }
  return SCL_STATUS_OK;
}
static const scl_option options[] = {SCL_OPTION_BIAS};
]] .. descriptor(given, { summary = "w_j = " .. given.source .. ", u uniform on (0, 1)",
    doc = "Independent w_j = " .. given.source .. ", u uniform on (0, 1)",
    members = "SCL_SAMPLER(.space = SCL_SPACE_DENSE, .draw = draw), SCL_OPTIONS(options)" })
end

local wrappers = { nonlinearity = nonlinearity, kernel = kernel, sampler = sampler }

--- sources.is_whole(text): true for a whole plugin, false for a formula.
function sources.is_whole(text) return text:find("scullery_plugins?%f[^%w_]") ~= nil end

--- sources.complete(given, title): the source of a whole plugin. given.source is one, or the
--- formula of the component given.kind with the name given.name. The compiler's messages name the
--- title and the lines of given.source.
function sources.complete(given, title)
  if sources.is_whole(given.source) then
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
  return wrap(given, title)
end

return sources
