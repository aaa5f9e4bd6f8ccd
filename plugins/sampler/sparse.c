/* Sparse rows: a support N of s of the d columns, uniform without replacement, and weights on it
 * (Harris 2019, Additive function approximation in the brain); z = <w_N, x_N> + b.
 *
 * The in-degree s is fixed, binomial(d, p) or drawn from a table P(0), P(1), ...; given s, a weight
 * is
 *   gaussian     N(0, sigma^2/s)
 *   uniform      U[-sqrt(3) sigma/sqrt(s), sqrt(3) sigma/sqrt(s)]
 *   rademacher   +-sigma/sqrt(s)
 * so that E ||w||^2 = sigma^2 for every s > 0; nonnegative: the absolute values.
 *
 * Fourier features estimate, with delta = x - y and c_s the characteristic function of one weight,
 *   k(x, y) = sum_s P(s) mean over |N| = s of prod_{j in N} c_s(delta_j),
 * a mixture of normalised elementary symmetric polynomials of the c_s(delta_j). */
#include "shared/blocks.h"
#include "shared/draws.h"
#include "shared/subset_means.h"
#include "shared/supports.h"

/* Laws of a weight, and of the in-degree, in the order of the words of their options. */
enum { WEIGHTS_GAUSSIAN, WEIGHTS_UNIFORM, WEIGHTS_RADEMACHER };
enum { DEGREE_BINOMIAL, DEGREE_TABLE, DEGREE_FIXED };

typedef struct sparse {
  scl_base base;
  const scl_value *degree;
  double sigma;
  int32_t weights;
  bool nonnegative, biregular;
  int32_t law;  /* of the in-degree */
  size_t most;  /* fixed: s; table: the last one of positive probability */
  double total; /* table: its sum, 1 to rounding */
} sparse;

static const scl_option options[] = {
    SCL_ROW(sparse, degree, SCL_FORM_INTEGER | SCL_FORM_NAMED, "binomial|table", "1",
            "in-degree s, the number of columns of a parameter: s; {binomial = p}: s ~ B(d, p); "
            "{table = {P(0), P(1), ...}}",
            .range = SCL_RANGE_HIGH_OPEN, .low = 1, .high = INFINITY),
    SCL_NUMBER(sparse, sigma, "1",
               "root mean square length of a row: E ||w||^2 = sigma^2 whatever the in-degree",
               SCL_POSITIVE),
    SCL_WORD(sparse, weights, "gaussian|uniform|rademacher", "gaussian",
             "law of a weight, with variance sigma^2/s: gaussian, uniform on an interval about 0, "
             "or one of two values"),
    SCL_BOOLEAN(sparse, nonnegative, "false", "true: absolute values of the weights"),
    SCL_BOOLEAN(
        sparse, biregular, "false",
        "true: each column occurs equally often in a block of lcm(d, s)/s parameters; for a "
        "fixed in-degree s"),
    SCL_OPTION_BIAS};

/* ------------ the law of the in-degree */

/* Checks that the table has probabilities that sum to 1. */
static scl_status read_table(sparse *self, scl_error *error) {
  const scl_host *host = self->base.host;
  const scl_value *table = self->degree;
  for (size_t s = 0; s < table->length; s++) {
    if (!(table->list[s] >= 0))
      return host->fail(error, SCL_STATUS_BAD_OPTION,
                        "option 'degree': P(%zu) = %g in the table; probabilities are not negative",
                        s, table->list[s]);
    self->total += table->list[s];
    if (table->list[s] > 0) self->most = s;
  }
  if (fabs(self->total - 1) <= 1e-9) return SCL_STATUS_OK;
  return host->fail(error, SCL_STATUS_BAD_OPTION,
                    "option 'degree': the %zu probabilities of the table sum to %.12g; it takes 1",
                    table->length, self->total);
}

static scl_status read_binomial(const sparse *self, scl_error *error) {
  const scl_value *p = self->degree;
  if (p->length == 1 && p->list[0] >= 0 && p->list[0] <= 1) return SCL_STATUS_OK;
  return self->base.host->fail(error, SCL_STATUS_BAD_OPTION,
                               "option 'degree': {binomial = p} takes one probability in [0, 1], "
                               "and got %g (of %zu numbers)",
                               p->length > 0 ? p->list[0] : NAN, p->length);
}

/* Reads the law of the in-degree from the option `degree`. */
static scl_status read_degree(sparse *self, scl_error *error) {
  self->law = self->degree->form == SCL_FORM_NAMED ? self->degree->place : DEGREE_FIXED;
  if (self->law == DEGREE_TABLE) return read_table(self, error);
  if (self->law == DEGREE_BINOMIAL) return read_binomial(self, error);
  if (self->degree->number > INT32_MAX)
    return self->base.host->fail(
        error, SCL_STATUS_BAD_OPTION,
        "option 'degree' = %g is more than the largest number of columns (2^31 - 1)",
        self->degree->number);
  self->most = (size_t)self->degree->number;
  return SCL_STATUS_OK;
}

/* In-degrees low .. high: all with a probability of at least 1e-18 of the largest. A draw made
 * from 53 bits cannot give any other. */
typedef struct degree_range {
  size_t low, high;
} degree_range;

/* P(s + 1) / P(s) of B(dim, p) */
static double binomial_step(double p, size_t dim, size_t s) {
  return (double)(dim - s) / (double)(s + 1) * (p / (1 - p));
}

/* The likeliest in-degree of B(dim, p). */
static size_t binomial_mode(double p, size_t dim) {
  const double mode = floor(((double)dim + 1) * p);
  return mode < (double)dim ? (size_t)mode : dim;
}

static degree_range binomial_range(double p, size_t dim) {
  if (p == 0 || p == 1) return p == 0 ? (degree_range){0, 0} : (degree_range){dim, dim};
  const size_t mode = binomial_mode(p, dim);
  degree_range range = {mode, mode};
  for (double ratio = 1; range.high < dim && (ratio *= binomial_step(p, dim, range.high)) >= 1e-18;)
    range.high++;
  for (double ratio = 1; range.low > 0 && (ratio /= binomial_step(p, dim, range.low - 1)) >= 1e-18;)
    range.low--;
  return range;
}

/* The range for `dim` columns; fails where in-degrees exceed dim. */
static scl_status find_range(const sparse *self, size_t dim, degree_range *out, scl_error *error) {
  const scl_host *host = self->base.host;
  if (dim == 0 || dim > INT32_MAX)
    return host->fail(error, SCL_STATUS_BAD_SHAPE,
                      "sparse rows take 1 to 2^31 - 1 columns, and the data have %zu", dim);
  if (self->law == DEGREE_BINOMIAL) {
    *out = binomial_range(self->degree->list[0], dim);
    return SCL_STATUS_OK;
  }
  const bool fixed = self->law == DEGREE_FIXED;
  *out = (degree_range){fixed ? self->most : 0, self->most};
  if (self->most <= dim) return SCL_STATUS_OK;
  return host->fail(
      error, SCL_STATUS_BAD_SHAPE,
      "option 'degree' asks for %s%zu columns in each parameter, and the data have %zu",
      fixed ? "" : "up to ", self->most, dim);
}

/* P(low), ..., P(high) of B(dim, p) by their ratios, from the largest on: no factorial, no
 * underflow. */
static void fill_binomial(double p, size_t dim, degree_range range, double *out) {
  const size_t count = range.high - range.low + 1, top = binomial_mode(p, dim) - range.low;
  double sum = 1;
  out[top] = 1;
  for (size_t i = top + 1; i < count; i++)
    sum += out[i] = out[i - 1] * binomial_step(p, dim, range.low + i - 1);
  for (size_t i = top; i-- > 0;)
    sum += out[i] = out[i + 1] / binomial_step(p, dim, range.low + i);
  for (size_t i = 0; i < count; i++)
    out[i] /= sum;
}

/* P(low), ..., P(high) */
static void fill_degrees(const sparse *self, size_t dim, degree_range range, double *out) {
  if (self->law == DEGREE_BINOMIAL) {
    fill_binomial(self->degree->list[0], dim, range, out);
    return;
  }
  for (size_t s = range.low; s <= range.high; s++)
    out[s - range.low] = self->law == DEGREE_FIXED ? 1 : self->degree->list[s] / self->total;
}

/* The in-degree at which the distribution function first exceeds u. */
static size_t degree_at(degree_range range, const double *probability, double u) {
  double sum = 0;
  for (size_t s = range.low; s < range.high; s++) {
    sum += probability[s - range.low];
    if (u < sum) return s;
  }
  return range.high;
}

/* ------------ biregular supports
 *
 * A block of lcm(d, s)/s parameters takes, s at a time, the columns of lcm(d, s)/d random orders of
 * all columns, one after the other, so that each column occurs equally often. Where a parameter
 * needs the end of one order and the beginning of the next, the next is a random one among those
 * that begin with columns that it has not. By symmetry each support is uniform. */
typedef struct deal {
  const scl_random *random;
  scl_address address;
  uint64_t block;
  size_t dim, degree;
  uint32_t *order; /* d */
  size_t orders;   /* dealt so far */
  size_t next;     /* in the order */
} deal;

/* lcm(d, s)/s = d/gcd(d, s), by Euclid's algorithm. */
static size_t deal_block(size_t dim, size_t degree) {
  size_t a = dim, b = degree;
  while (b != 0) {
    const size_t rest = a % b;
    a = b;
    b = rest;
  }
  return dim / a;
}

/* Draws a new order whose first degree - had entries are different from the `had` columns
 * (ascending) that the parameter already has: each of these is moved to the end, from the
 * largest on, while each is still at its original place. */
static void deal_order(deal *cards, const int32_t *columns, size_t had) {
  for (size_t j = 0; j < cards->dim; j++)
    cards->order[j] = (uint32_t)j;
  for (size_t k = had; k-- > 0;) {
    const size_t end = cards->dim - (had - k);
    cards->order[columns[k]] = cards->order[end];
    cards->order[end] = (uint32_t)columns[k];
  }
  draw_shuffle(cards->random, cards->address, cards->block, cards->orders * cards->dim,
               cards->degree - had, cards->dim - had, cards->dim, cards->order);
  cards->orders++;
  cards->next = 0;
}

/* The next parameter's columns. */
static void deal_support(deal *cards, int32_t *out) {
  for (size_t had = 0; had < cards->degree; had++) {
    if (cards->orders == 0 || cards->next == cards->dim) {
      support_sort(out, had);
      deal_order(cards, out, had);
    }
    out[had] = (int32_t)cards->order[cards->next++];
  }
  support_sort(out, cards->degree);
}

/* ------------ layout and drawing */

/* Checks the in-degree, and that biregular supports have a fixed one. */
static scl_status sparse_create(void *instance, scl_error *error) {
  sparse *self = instance;
  const scl_status status = read_degree(self, error);
  if (status != SCL_STATUS_OK) return status;
  if (self->biregular && self->law != DEGREE_FIXED)
    return self->base.host->fail(
        error, SCL_STATUS_BAD_OPTION,
        "'biregular' takes a fixed in-degree, as degree = 3, and 'degree' got a law");
  return SCL_STATUS_OK;
}

static scl_status sparse_layout(const void *instance, size_t dim, scl_layout *out,
                                scl_error *error) {
  const sparse *self = instance;
  degree_range range;
  const scl_status status = find_range(self, dim, &range, error);
  if (status != SCL_STATUS_OK) return status;
  out->reals = out->integers = range.high > 0 ? range.high : 1; /* one even if s is always 0 */
  if (self->biregular) out->block = deal_block(dim, range.high);
  return SCL_STATUS_OK;
}

enum { STREAM_WEIGHTS = 0, STREAM_SUPPORTS = 2, STREAM_DEGREES = 3 };

static scl_address at_stream(const scl_draw *draw, uint64_t stream) {
  return (scl_address){draw->address.seed, draw->address.stream + stream};
}

static int32_t *sparse_support_of(const scl_parameters *out, size_t i) {
  return out->support + (ptrdiff_t)i * out->support_stride;
}

/* e with mean 0 and variance 1, from the number of its law. */
static double sparse_weight_of(const sparse *self, double number) {
  const double e = self->weights == WEIGHTS_GAUSSIAN  ? number
                   : self->weights == WEIGHTS_UNIFORM ? sqrt(3) * (2 * number - 1)
                   : number < 0.5                     ? -1
                                                      : 1;
  return self->nonnegative ? fabs(e) : e;
}

/* The weights of parameter i of the batch. Slots from the in-degree on hold 0 and -1. */
static void draw_weights(const sparse *self, const scl_draw *draw, const scl_parameters *out,
                         size_t i, size_t degree) {
  const scl_random *random = self->base.host->random;
  const scl_address address = at_stream(draw, STREAM_WEIGHTS);
  const double scale = self->sigma / sqrt((double)degree);
  double *w = out->weights + (ptrdiff_t)i * out->stride;
  (self->weights == WEIGHTS_GAUSSIAN ? random->normal : random->uniform)(
      address.seed, address.stream, out->first + i, 0, degree, w);
  for (size_t j = 0; j < degree; j++)
    w[j] = scale * sparse_weight_of(self, w[j]);
  for (size_t j = degree; j < out->reals; j++) {
    w[j] = 0;
    sparse_support_of(out, i)[j] = -1;
  }
}

/* Draws supports of a fixed in-degree block by block. The supports before the batch's first
 * parameter in its block are drawn as well, as they determine the rest. */
static scl_status draw_biregular(const sparse *self, const scl_draw *draw,
                                 const scl_parameters *out, size_t degree, scl_error *error) {
  const scl_host *host = self->base.host;
  uint32_t *order = host->scratch(out->dim * sizeof *order);
  int32_t *passed = host->scratch(degree * sizeof *passed);
  block_part part = {0};
  if (order == NULL || passed == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for an order of %zu columns",
                      out->dim);
  while (block_next(out, deal_block(out->dim, degree), &part)) {
    deal cards = {.random = host->random,
                  .address = at_stream(draw, STREAM_SUPPORTS),
                  .block = part.block,
                  .dim = out->dim,
                  .degree = degree,
                  .order = order};
    for (size_t i = 0; i < part.from + part.count; i++)
      deal_support(&cards,
                   i < part.from ? passed : sparse_support_of(out, part.at + i - part.from));
  }
  for (size_t i = 0; i < out->count; i++)
    draw_weights(self, draw, out, i, degree);
  return SCL_STATUS_OK;
}

/* Draws each parameter independently: its in-degree from one uniform number, then support and
 * weights. */
static scl_status draw_free(const sparse *self, const scl_draw *draw, const scl_parameters *out,
                            degree_range range, scl_error *error) {
  const scl_host *host = self->base.host;
  const scl_address degrees = at_stream(draw, STREAM_DEGREES);
  double *probability = host->scratch((range.high - range.low + 1) * sizeof *probability), u = 0;
  if (probability == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY,
                      "not enough memory for the law of the in-degree");
  fill_degrees(self, out->dim, range, probability);
  for (size_t i = 0; i < out->count; i++) {
    const uint64_t index = out->first + i;
    if (range.low < range.high)
      host->random->uniform(degrees.seed, degrees.stream, index, 0, 1, &u);
    const size_t degree = degree_at(range, probability, u);
    support_draw(host->random, at_stream(draw, STREAM_SUPPORTS), index, out->dim, degree,
                 sparse_support_of(out, i));
    draw_weights(self, draw, out, i, degree);
  }
  return SCL_STATUS_OK;
}

static scl_status sparse_draw_rows(const void *instance, const scl_draw *draw,
                                   const scl_parameters *out, scl_error *error) {
  const sparse *self = instance;
  degree_range range;
  const scl_status status = find_range(self, out->dim, &range, error);
  if (status != SCL_STATUS_OK) return status;
  return self->biregular ? draw_biregular(self, draw, out, range.high, error)
                         : draw_free(self, draw, out, range, error);
}

/* ------------ the law */

/* The law of a weight, of scale sigma/sqrt(s) (uniform: sqrt(3) sigma/sqrt(s)) at in-degree s,
 * and the probabilities of the in-degrees. */
static scl_status sparse_law(const void *instance, const scl_draw *draw, scl_law *out,
                             scl_error *error) {
  static const scl_family families[] = {SCL_FAMILY_GAUSSIAN, SCL_FAMILY_UNIFORM,
                                        SCL_FAMILY_RADEMACHER};
  (void)draw;
  const sparse *self = instance;
  degree_range range;
  const scl_status status = find_range(self, out->dim, &range, error);
  if (status != SCL_STATUS_OK) return status;
  out->family = self->nonnegative ? SCL_FAMILY_OTHER : families[self->weights];
  out->max_degree = range.high;
  for (size_t j = 0; j < out->dim; j++)
    out->scale[j] = self->weights == WEIGHTS_UNIFORM ? sqrt(3) * self->sigma : self->sigma;
  for (size_t s = 1; s <= out->dim; s++)
    out->degree_scale[s] = 1 / sqrt((double)s);
  fill_degrees(self, out->dim, range, out->degree + range.low);
  return SCL_STATUS_OK;
}

/* ------------ the characteristic function */

/* out_j = c_s(delta_j), s = degree: cos, exp(-z^2/2) or sin(z)/z of the scaled difference. */
static void factors(const sparse *self, size_t dim, size_t degree, const double *delta,
                    double *out) {
  const scl_vector_math *math = self->base.host->math;
  const double scale = self->sigma / sqrt((double)degree);
  if (self->weights == WEIGHTS_RADEMACHER) {
    for (size_t j = 0; j < dim; j++)
      out[j] = scale * delta[j];
    math->cos(dim, out, out);
  } else if (self->weights == WEIGHTS_GAUSSIAN) {
    for (size_t j = 0; j < dim; j++)
      out[j] = -0.5 * (scale * delta[j]) * (scale * delta[j]);
    math->exp(dim, out, out);
  } else {
    for (size_t j = 0; j < dim; j++) {
      const double z = sqrt(3) * scale * delta[j];
      out[j] = z == 0 ? 1 : isfinite(z) ? sin(z) / z : 0;
    }
  }
}

/* sum_s P(s) p_s(delta), p_s the mean over supports of products of c_s(delta_j)
 * (shared/subset_means.h). In-degrees of probability below 1e-18 are left out. */
static scl_status sparse_characteristic(const void *instance, const scl_draw *draw, size_t rows,
                                        const double *delta, ptrdiff_t stride, double *out,
                                        scl_error *error) {
  const sparse *self = instance;
  const scl_host *host = self->base.host;
  const size_t dim = draw->dim;
  degree_range range;
  const scl_status status = find_range(self, dim, &range, error);
  if (status != SCL_STATUS_OK) return status;
  const size_t degrees = range.high - range.low + 1;
  double *probability = host->scratch((degrees + dim + range.high + 1) * sizeof *probability);
  if (probability == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a kernel of %zu columns",
                      dim);
  double *const c = probability + degrees, *const scratch = c + dim;
  fill_degrees(self, dim, range, probability);
  for (size_t i = 0; i < rows; i++) {
    out[i] = 0;
    for (size_t s = range.low; s <= range.high; s++) {
      const double weight = probability[s - range.low];
      if (weight < 1e-18) continue;
      if (s > 0) factors(self, dim, s, delta + (ptrdiff_t)i * stride, c);
      out[i] += weight * subset_mean(dim, s, c, scratch);
    }
  }
  return SCL_STATUS_OK;
}

/* ------------ the plugin */

/* The characteristic function of absolute values has no closed form here. */
static const void *sparse_ability(const void *instance, const char *id) {
  static const scl_ability_characteristic characteristic_table = {
      SCL_HEAD(scl_ability_characteristic), .characteristic = sparse_characteristic};
  const sparse *self = instance;
  return strcmp(id, SCL_ABILITY_CHARACTERISTIC) == 0 && !self->nonnegative ? &characteristic_table
                                                                           : NULL;
}

const scl_plugin scullery_plugin = {
    .name = "sparse",
    .summary = "Sparse rows: s of the d columns and weights on them",
    /* total: the sum over subsets of s of c_1 .. c_j of their products */
    .definition =
        /* Of a fixed in-degree: columns, then weights. */
    "e(u, n) = weights == \"gaussian\" and n or weights == \"uniform\" and sqrt(3)*(2*u - 1) or\n"
    "  when(u < 1/2, -1, 1)\n"
    "signed(v) = nonnegative and abs(v) or v\n"
    /* The next order of all columns, and the columns of a parameter. */
    "dealt(own, orders, t, r) = (function(order, had)\n"
    "  for k = had, 1, -1 do\n"
    "    order[own[k] + 1], order[r.dim - had + k] = order[r.dim - had + k], own[k]\n"
    "  end\n"
    /* Columns that the parameter has go to the end; the others are shuffled. */
    "  for i = 0, r.dim - 2 do\n"
    "    local n = (i < degree - had and r.dim - had or r.dim) - i\n"
    "    local j = i + r.below(2, t//r.block, orders*r.dim + i, n)\n"
    "    order[i + 1], order[j + 1] = order[j + 1], order[i + 1]\n"
    "  end\n"
    "  return order end)(map(range(r.dim), function(j) return j - 1 end), #own)\n"
    /* All parameters of the block before this one are dealt first. */
    "support(t, r) = not biregular and r.subset(2, t, r.dim, degree) or\n"
    "  (function(own, order, orders, at)\n"
    "  for _ = 0, t % r.block do\n"
    "    own = {}\n"
    "    while #own < degree do\n"
    "      if at == r.dim then\n"
    "        own = sorted(own)\n"
    "        order, orders, at = dealt(own, orders, t, r), orders + 1, 0\n"
    "      end\n"
    "      own[#own + 1], at = order[at + 1], at + 1\n"
    "    end\n"
    "  end\n"
    "  return sorted(own) end)({}, {}, 0, r.dim)\n"
    "draw(t, r) = type(degree) == \"number\" and join(support(t, r), map(range(degree), "
    "function(k)\n"
    "  return sigma/sqrt(degree)*signed(e(r.uniform(0, t, k - 1), r.normal(0, t, k - 1))) end))\n"
    "total(c, s, j) = s == 0 and 1 or j < s and 0 or total(c, s, j - 1) + c[j]*total(c, s - "
    "1, j - 1)\n"
    "subsets(d, s) = total(map(range(d), function() return 1 end), s, d)\n"
    /* The law of the in-degree. */
    "binomial(p, d, s) = product(s, function(k) return (d - s + k)/k end)*p^s*(1 - p)^(d - s)\n"
    "chance(d, s) = type(degree) == \"number\" and (s == degree and 1 or 0) or "
    "degree.binomial and binomial(degree.binomial[1], d, s) or degree.table[s + 1] or 0\n"
    "c(z) = when(z == 0, 1, weights == \"gaussian\", exp(-z^2/2), weights == "
    "\"uniform\", sin(sqrt(3)*z)/(sqrt(3)*z), cos(z))\n"
    "mean_of(x, s) = total(map(x, function(z) return c(sigma*z/sqrt(s)) end), s, #x)"
    "/subsets(#x, s)\n"
    "characteristic(x) = #x < 9 and chance(#x, 0) +\n"
    "  sum(#x, function(s) return chance(#x, s)*mean_of(x, s) "
    "end)",
    .doc =
        "Draws an in-degree s (fixed, binomial or from a table), a support N of s columns,\n"
        "uniform without replacement, and weights on it with variance sigma^2/s:\n"
        "\"gaussian\", \"uniform\" (on +-sqrt(3) sigma/sqrt(s)) or \"rademacher\" "
        "(+-sigma/sqrt(s)).\n"
        "z = <w_N, x_N> + b, in time O(s).\n"
        "A ridge feature phi estimates sum_s P(s) mean over |N| = s of k_s(x_N, y_N), k_s the\n"
        "kernel of phi under the weights: an additive kernel of order s. With degree 1 and\n"
        "rademacher weights, step gives the Hamming kernel and sign with a uniform bias the hat\n"
        "kernel.",
    SCL_SAMPLER(.space = SCL_SPACE_SPARSE, .draw = sparse_draw_rows, .layout = sparse_layout),
    SCL_INSTANCE(sparse, options),
    SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_LAW, scl_ability_law, .law = sparse_law)),
    .create = sparse_create,
    .ability = sparse_ability};
