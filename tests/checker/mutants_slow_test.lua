-- Built-in plugins with one change each, and the test of the checker that sees it; unchanged they
-- pass all tests (checker_*_test.lua).
package.path = "tests/helpers/?.lua;" .. package.path
local lu = require "luaunit"
local sc = require "scullery"
local check = require "scullery_checker"
local support = require "support"

local source = os.getenv "SCULLERY_SOURCE" or "."
local flags = ("-I%s/plugins -std=c11"):format(source)
local library = ("-L%s -lplugin_shared -lm"):format(support.build)

local means = [[

static int32_t scores(const void *self, size_t c, const double *f, double *out) {
  (void)self;
  for (size_t j = 0; j < c; j++) out[j] = f[j];
  return 1;
}
#define erm_formula_means scores]]

local landmarks = { "landmarks.c", "leverage.c", "rows.c" }
local arrow = { "arrow.c", "batches.c", "messages.c" }
local parquet = { "parquet.c", "cells.c", "footer.c", "pages.c", "thrift.c", "values.c" }

-- Each { kind, file, from, to, test, outcome, words; other files of the plugin }.
local mutants = {
  -- the probability of an in-degree is not squared for two parameters
  { "kernel", "gaussian.c", "(pairs ? law->degree[s] : 1) * mean", "mean", "bind", "fail",
    "pairs of parameters" },
  -- the tilt of the last factor, not of the one that changes the law
  { "kernel", "product.c", "&self->parts[chosen], law", "&self->parts[chosen * 0 + \z
    self->given->length - 1], law", "tilt", "fail", "K(u, w) is" },
  -- one triangle is the other one between as many rows of two sets too
  { "kernel", "min_max.c", "*to = share", "*to = u->count == v->count && j < i ? out[(ptrdiff_t)j \z
    * stride + (ptrdiff_t)i] : share", "sizes", "fail", "between 40 and 40 rows" },
  -- zeros that are stored count
  { "stage", "tfidf.c", "scl_csr_number(csr, k) != 0", "1", "sparse", "fail", "sparse rows" },
  -- a block begins where all rows begin
  { "stage", "tfidf.c", "k = csr->starts[0]", "k = 0", "sparse", "fail", "sparse rows" },
  -- whole numbers by truncation of what is half a cell off
  { "nonlinearity", "bins.c", "(int32_t)from[j]", "(int32_t)(from[j] + 0.5)", "planes", "warn",
    "cells -1 and 0" },
  -- the formula is infinite over infinite
  { "nonlinearity", "logistic.c", '"1 / (1 + exp(-z))"', '"exp(z) / (1 + exp(z))"', "formula",
    "fail", "nan" },
  -- the penalty is cut, of a solver that defines its scores
  { "solver", "trimmed.c", "normal.total * t->self->lambda",
    "normal.total * fmin(t->self->lambda, 1e-4)", "cuts", "warn", "is it cut" },
  -- orders in the formula are cut to two bits
  { "nonlinearity", "arccos.c", 'pow(z, %d)", order_of(self)', 'pow(z, %d)", order_of(self) & 3',
    "formula", "fail", "by the formula" },
  -- tables whose names begin as those of SQLite itself
  { "reader", "sqlite.c", [['sqlite\\_%' escape '\\']], "'sqlite_%'", "known-files", "fail",
    "has no table" },
  -- is less beyond 20
  { "nonlinearity", "tanh.c", "SCL_LOOPS_OF(tanh)", "SCL_LOOPS(z > 20 ? 0.9 : tanh(z))",
    "relations", "fail", "phi(-z) = -phi(z)" },
  -- levels are cut to a thousandth
  { "stage", "quantile.c", "edge = 1e-7", "edge = 1e-3", "ends", "warn", "at an end" },
  -- the product of doubles is cut
  { "solver", "trimmed.c", "? whole : floor(product)", "? floor(product) : floor(product)",
    "shares", "fail", "fraction = 0.29" },
  -- predictions are scores
  { "solver", "poisson.c", '#include "shared/erm.h"', '#include "shared/erm.h"' .. means, "means",
    "fail", "by the formula" },
  -- the same without a formula in C
  { "solver", "poisson.c", '#include "shared/erm.h"', '#include "shared/erm.h"' .. means
    .. "\n#define erm_formula_text NULL", "means", "fail", "whose prediction is y" },
  -- of twenty classes the last one counts twice
  { "metric", "brier.c", "out[i] += gap * gap;", "out[i] += (k == 19 ? 2 : 1) * gap * gap;",
    "relations", "fail", "classes in another order" },
  -- the loss of targets beyond 500 is a little more
  { "loss", "huber.c", "LOSS_SLOTS(self)", [[static void value(const void *self, size_t n,
    const double *f, const double *y, double *out) {
  for (size_t i = 0; i < n; i++) {
    const double r = fabs(f[i] - y[i]), d = delta_of(self);
    out[i] = (r <= d ? r * r / 2 : d * r - d * d / 2) * (y[i] > 500 ? 1.01 : 1);
  }
}
static void slope(const void *self, size_t n, const double *f, const double *y, double *out) {
  for (size_t i = 0; i < n; i++) {
    const double r = f[i] - y[i], d = delta_of(self);
    out[i] = fmax(-d, fmin(d, r)) * (y[i] > 500 ? 1.01 : 1);
  }
}]], "relations", "fail", "f and y" },
  -- of more than 5000 rows the smallest number is at most 0
  { "stage", "minmax.c", "*shift = c->low;",
    "*shift = c->weight > 5000 ? fmin(c->low, 0) : c->low;", "shapes", "fail", "columns + 4" },
  -- whole numbers are cut to 32 bits
  { "reader", "sqlite.c", "d->integers[at] = d->sqlite", "d->integers[at] = (int)d->sqlite",
    "known-files", "fail", "'whole'" },
  -- quotes in names
  { "reader", "sqlite.c", "if (*table == '\"') *to++ = '\"';", "", "known-files", "fail",
    "odd names" },
  -- ratios of binomial probabilities lack 1/(1 - p)
  { "sampler", "sparse.c", "(p / (1 - p))", "p", "far-options", "fail", "binomial" },
  -- equal rows may be taken twice in one round
  { "sampler", "landmarks/adaptive.c", "if (a->taken[at] || !(uniform", "if (!(uniform",
    "learn", "fail", "20 rows", landmarks },
  -- the hashes of all sketches are those of the first one
  { "sampler", "tensorsketch/tensorsketch.c", "at->number * MOST_DEGREE + j", "j", "definition",
    "fail", "z of a row" },
  -- candidates are taken by the score at the beginning of a round
  { "sampler", "landmarks/adaptive.c", "&& u * then < now", "&& u * 0 * then < now", "definition",
    "fail", "that is learnt", landmarks },
  -- pools of every seed and stream are the same
  { "sampler", "pooled.c", "draw->address.stream + STREAM_POOL", "STREAM_POOL + 1", "definition",
    "fail", "the pool of parameter" },
  -- the bias of the base is lost
  { "sampler", "pooled.c", "  out->has_bias = base.has_bias;\n", "", "bias", "fail",
    "the layout has none" },
  -- the variance of the first direction for all
  { "stage", "pca.c", "fmax(f->values[i] / f->weight, 0)", "fmax(f->values[0] / f->weight, 0)",
    "definition", "fail", "'variances'" },
  -- a bound that nothing reaches
  { "loss", "squared_hinge.c", ".curvature = 1,", ".curvature = 2,", "facts", "warn",
    "largest curvature" },
  -- directions and lengths of rows share their numbers
  { "sampler", "spherical.c", "address.stream + STREAM_RADIUS", "address.stream", "definition",
    "fail", "parameter" },
  -- classes that a softmax joins take one root each
  { "solver", "optimal_stepsize.c", "joined ? ROUNDS : 1", "joined ? 1 : 1", "definition", "fail",
    "3 classes" },
  -- the tolerance is not reported
  { "solver", "hinge/squared.c", "out->tolerance = tolerance;", "(void)tolerance;", "solves",
    "fail", "reports none", { "hinge.c", "loops.c", "newton.c", "sparse.c",
      "sparse_descent.c", "sparse_face.c", "working.c" } },
  -- targets begin at 1
  { "loss", "gamma.c", ".low = 0", ".low = 1", "definition", "fail", "its targets" },
  -- each block of a page begins with its first truth value
  { "reader", "parquet/cells.c", "if (v->bit + count", "v->bit = 0;\n  if (v->bit + count",
    "known-files", "fail", "'yes'", parquet },
  -- columns that a support has are not in order when the next ones are dealt
  { "sampler", "sparse.c", "      support_sort(out, had);\n", "", "range", "fail", "ascend" },
  -- of several targets a row has the weight of another one
  { "solver", "boosting.c", "fit->weights[i / c]", "fit->weights[i % fit->problem->rows]",
    "relations", "fail", "4 targets" },
  -- decimals in bytes have no sign
  { "reader", "parquet/cells.c", "0x80) ? -1 : 0", "0x80) ? 0 : 0", "known-files", "fail", "'price",
    parquet },
  -- the third block of a long page of bytes apart begins at the second
  { "reader", "parquet/cells.c", "  v->read += count;", "  v->read = count;", "known-files", "fail",
    "'single'", parquet },
  -- entries are divided by k
  { "stage", "random_projection.c", "1 / sqrt((double)self->k)", "1 / (double)self->k",
    "definition", "fail", "by its definition" },
  -- the conjugate of the penalty is twice too small
  { "solver", "../shared/erm_gap.c", "(2 * l2)", "(4 * l2)", "definition", "fail", "duality gap",
    { "../solver/poisson.c" } },
  -- of targets behind the first one the values of tau are in reverse order
  { "solver", "../shared/erm_formula.c", "list[target % self->tau->length]",
    "list[target < self->tau->length ? target : self->tau->length - 1 - target % \z
    self->tau->length]", "definition", "fail", "says converged", { "../solver/quantile.c" } },
  -- the quantiles of the first target alone are put in order
  { "solver", "../shared/erm_formula.c", "c % q == 0 && j < c", "c % q == 0 && j < q", "lists",
    "fail", "two targets", { "../solver/quantile.c" } },
  -- the mean of the last steps counts one too many
  { "solver", "logistic/logistic.c", "(t - from + 1)", "(t - from + 2)", "definition", "fail",
    "120 rows" },
  -- a direction number of the fourth column is another one
  { "sampler", "qmc/sobol_directions.c", "\"DUqpQK", "\"BUqpQK", "definition", "fail",
    "by its definition", { "qmc.c" } },
  -- the least degree is not scaled
  { "sampler", "tensorsketch/tensorsketch.c", "? (real)at->size : 1", "? 1 : 1", "definition",
    "fail", "z of a row" },
  -- sparse rows without a constant are not scaled
  { "sampler", "tensorsketch/tensorsketch.c", "number = size * values[k]", "number = \z
    (w->self->offset > 0 ? size : 1) * values[k]", "sparse-rows", "fail", "sparse rows differ" },
  -- the patches of other planes are moved by one column
  { "sampler", "patches.c", "move.right *= (ptrdiff_t)self->shift", "move.right *= 1", "definition",
    "fail", "plane 3" },
  -- a constant of distances that few ask for
  { "sampler", "spherical.c", "SCL_PI / 4)", "SCL_PI / 2)", "definition", "fail",
    "the characteristic function at" },
  -- orders of columns share numbers
  { "sampler", "sparse.c", "cards->orders * cards->dim,", "cards->orders * cards->degree,",
    "definition", "fail", "parameter" },
  -- in-degrees of small probability are left out
  { "sampler", "sparse.c", "range.high)) >= 1e-18", "range.high)) >= 1e-3", "definition", "fail",
    "in-degree" },
  -- transforms of a thousand numbers
  { "sampler", "hadamard/walsh.c", "for (; left > 4;", "for (; left > 4 && left < 256;", "apply",
    "fail", "1030 columns", { "hadamard.c" } },
  -- scores after the first round
  { "sampler", "landmarks/adaptive.c", "a->score[i] -= f[c] * f[c];", "a->score[i] -= f[c] * f[c] \z
    * (c == 0 ? 1 : 0.9);", "definition", "fail", "that is learnt", landmarks },
  -- rows of another width than 1 are taken
  { "sampler", "positive.c", "numbers[dim + 1 + j] == 1", "numbers[dim + 1 + j] > 0", "kernel",
    "fail", "the kernel that is declared is" },
  -- leverages of rows with weights
  { "solver", "ridge/estimate.c", "trace / (double)problem->rows)", "trace / normal->total)",
    "estimate", "fail", "with weights", { "ridge.c", "rounding.c" } },
  -- solutions that have not converged
  { "solver", "../shared/lbfgs.c", "out->residual <= tolerance ?", "out->residual <= 10 * \z
    tolerance ?", "limit", "fail", "says that it converged", { "../solver/logistic/logistic.c" } },
  -- outputs beyond the first one
  { "stage", "random_features.c", "to.plane_stride = (ptrdiff_t)T;", "to.plane_stride = \z
    (ptrdiff_t)T - 1;", "definition", "fail", "by its definition" },
  -- counts below 1
  { "stage", "tfidf.c", "count != 0 ? 1 + log(count)", "count >= 1 ? 1 + log(count)", "definition",
    "fail", "by its definition" },
  -- directions of small columns are left out
  { "stage", "whiten.c", "w->values[i] > ROUNDING", "w->values[i] > 1e-5", "definition", "fail",
    "and its definition" },
  -- columns whose numbers are near each other are taken for constant ones
  { "stage", "minmax.c", "range > 0 ? 1 / range", "range > 1e-9 * fabs(c->high) ? 1 / range",
    "shapes", "warn", "columns + 6.87" },
  -- tiny sums are left out
  { "stage", "hash_columns.c", "if (sum == 0) continue;", "if (fabs(sum) < 1e-12) continue;",
    "sparse-rows", "fail", "sparse rows" },
  -- tiny numbers are taken for 0
  { "kernel", "chi_square.c", "(mean > 0 ? mean : 1)", "(mean > 1e-12 ? mean : 1)", "definition",
    "fail", "size 1e-13" },
  -- parameters without columns are left out
  { "kernel", "gaussian.c", "for (size_t s = 0; s <= law->max_degree", "for (size_t s = 1; s <= \z
    law->max_degree", "bind", "fail", "pairs of parameters" },
  -- rows of targets are as far apart as those of predictions
  { "metric", "pinball.c", "judged->truth + (ptrdiff_t)i * judged->truth_stride", "judged->truth \z
    + (ptrdiff_t)i * judged->predicted_stride", "rows", "fail", "of row" },
  -- a closed form where one mean is 0
  { "nonlinearity", "arccos.c", "mean_a != 0 || mean_b != 0", "mean_a != 0 && mean_b != 0",
    "gaussian-dual", "fail", "E phi(a) phi(b)" },
  -- a refusal leaves memory behind
  { "sampler", "patches.c", "return host->fail(", "return (void)host->allocate(16), host->fail(",
    "random-options", "fail", "are not released" },
  -- images are taken for squares
  { "sampler", "patches.c", "f->width + column", "f->height + column", "definition", "fail",
    "{image = {3, 5}}" },
  -- sides of patches from the height, also where that is the larger one
  { "sampler", "patches.c", "out->height < out->width ?", "1 ?", "definition", "fail",
    "{image = {7, 4}}" },
  -- the first target is taken for all
  { "stage", "target_encoding.c", "= e->origin[t]", "= e->origin[0]", "definition", "fail",
    "of 12 rows" },
  -- numbers of neighbours begin anew in each block of 512 rows
  { "solver", "knn.c", "* d, d), first + i}", "* d, d), i}", "sizes", "fail", "1000 rows" },
  -- small spreads are taken for 0
  { "nonlinearity", "maxout.c", "if (!(c->spread[j] > 0) ||", "if (!(c->spread[j] > 0.05) ||",
    "smoothing", "fail", "S(m, 0.01)" },
  -- rows after the first 512 take the places of the first ones
  { "stage", "pca.c", "* f->n + rows->first + i]", "* f->n + (rows->first + i) % 512]", "shapes",
    "fail", "k = 3, 520 rows" },
  -- what cannot be read stays open
  { "reader", "sqlite.c", "if (d->connection != NULL)", "if (d->statement != NULL)", "bent", "fail",
    "stays open" },
  -- a square in float32 overflows
  { "nonlinearity", "tanh.c", "SCL_LOOPS_OF(tanh)", "SCL_LOOPS(z * z < HUGE_VAL ? tanh(z) : 0)",
    "large-numbers", "fail", "z = 3e+19" },
  -- directions are rounding by their size, not by a share of the first
  { "stage", "whiten.c", "ROUNDING * w->values[0]", "ROUNDING", "scale-free", "fail",
    "rows times 1e-09" },
  -- the last column does not count for the largest number
  { "stage", "normalize.c", "j < cols; j++)\n    largest", "j + 1 < cols; j++)\n    largest",
    "definition", "fail", "by its definition" },
  -- distances from minus the median
  { "solver", "huber/huber.c", "residuals[i] - middle", "residuals[i] + middle", "definition",
    "fail", "score 1 of row", { "huber.c", "dual.c" } },
  -- arrays of whole numbers are taken for doubles
  { "stage", "quantile.c", "!= SCL_DTYPE_FLOAT64 ||", "!= SCL_DTYPE_FLOAT64 &&", "saved", "fail",
    "another type" },
  -- the highest bits of wide differences
  { "reader", "parquet/values.c", "from[at + 8]", "from[at]", "known-files", "fail", "'wide'",
    parquet },
  -- the formula has six digits of its option
  { "nonlinearity", "chi_square.c", "step = %.17g", "step = %g", "formula", "fail",
    "by the formula" },
  -- of compressed rows the last of the columns may come before others
  { "stage", "select.c", "k < fitted->width && ascend", "k + 1 < fitted->width && ascend",
    "sparse-rows", "fail", "of sparse rows" },
  -- the formula goes on beyond the last quantile
  { "stage", "quantile.c", "out[j] = below > 0;", "out[j] = below == 0;", "formula", "fail",
    "by the formula" },
  -- runs of places of eight bits have nine
  { "reader", "parquet/values.c", "(r->width + 7) / 8", "r->width / 8 + 1", "known-files", "fail",
    "packed parquet", parquet },
  -- columns behind one with a dictionary begin a buffer too late
  { "reader", "arrow/messages.c", "c->buffers += 2;", "c->buffers += 3;", "known-files", "fail",
    "another writer's arrow file", arrow },
  -- coefficients are refused whatever the degree
  { "sampler", "maclaurin.c", "self->degree != 0 || !isnan", "self->degree + 1 != 0 || !isnan",
    "defaults", "warn", "is refused with each" },
  -- a checkpoint has no sum of the iterates
  { "solver", "sfgd.c", "state_add(&kept, out->coefficients", "(void)(out->coefficients", "resumed",
    "fail", "and gone on" },
  -- without a constant the scale is not about the median of the residuals
  { "solver", "huber/huber.c", "->residuals[i] - middle)", "->residuals[i] - (t->risk.intercept ? \z
    middle : 0))", "definition", "fail", "score 1 of row", { "huber.c", "dual.c" } },
}

TestMutants = {}

for _, mutant in ipairs(mutants) do
  local kind, file, from, to, test, outcome, words, others = table.unpack(mutant)
  local name = ("mutant_%s_%s"):format((test:gsub("-", "_")), file:match("([%w_]+)%.c$"))
  while TestMutants["test_" .. name] do name = name .. "_2" end
  TestMutants["test_" .. name] = function()
    local folder = ("%s/plugins/%s/%s"):format(source, kind, file:match("^(.*/)") or "")
    local text = support.read(("%s/plugins/%s/%s"):format(source, kind, file))
    lu.assertStrContains(text, from)
    local at, last = text:find(from, 1, true)
    text = text:sub(1, at - 1) .. to .. text:sub(last + 1)
    local own = (others and others[1] or file):match("([%w_]+)%.c$")
    local apart = others and own ~= file:match("([%w_]+)%.c$")
    local files, changed = { flags, "-I" .. folder }, apart and os.tmpname() .. ".c"
    if apart then -- the descriptor is in the first of the others
      files[#files + 1] = support.write(changed, text)
      text = support.read(folder .. others[1])
    end
    for k = 2, #(others or {}) do
      if not file:find("/" .. others[k], 1, true) then files[#files + 1] = folder .. others[k] end
    end
    files[#files + 1] = library
    sc.plugin.compile{ kind = kind, name = name, flags = table.concat(files, " "),
      source = text:gsub('(%.name = )"' .. own .. '",', '%1"' .. name .. '",') }
    if changed then os.remove(changed) end
    local result = check.run(name, { only = test, in_process = true, seed = 1 }).results[1]
    lu.assertEquals(result.outcome, outcome, result.text)
    lu.assertStrContains(result.text, words)
  end
end

os.exit(lu.LuaUnit.run(), true)
