/* Random Maclaurin features (Kar and Karnick 2012, Random feature maps for dot product kernels):
 * for a kernel with a_n >= 0
 *
 *   k(x, y) = sum_n a_n (s <x, y>)^n
 *
 * a parameter of degree n is n rows of signs w_1 .. w_n in {-1, 1}^d, and
 *
 *   z(x) = prod_j <w_j, sqrt(s) x>,   E z(x) z(y) = (s <x, y>)^n
 *
 * The polynomial kernel (s <x, y> + c)^p has a_n = C(p, n) c^(p-n); exp(s <x, y>) has a_n = 1/n!.
 *
 * Degrees. Kar and Karnick draw the degree of each parameter. Here T parameters are spent so that
 * the variance is smaller and the mean is the same:
 *
 *   n = 0        one parameter, z = 1, exact
 *   n = 1        d parameters, z = sqrt(s) x_i, exact, where T - 1 >= 2 d (their H0/1 heuristic)
 *   the others   the T' parameters that are left, in proportion to a measure q_n:
 *                parameter r = 0 .. T'-1 has the degree F^-1((r + u)/T'), F the distribution
 *                function of q and u one uniform number, so that degree n comes T' q_n times, up to
 *                rounding, and exactly so often in the mean
 *
 * with the factors sqrt(a_0), sqrt(a_1) and sqrt(a_n/(q_n T')). For rows of length R a term has the
 * standard deviation a_n (s R^2)^n times at most 3^(n/2), so the measure of least variance is about
 *
 *   q_n ~ a_n (s R^2)^n     where R is given (radius)
 *   q_n ~ 1, a_n > 0        else: at most m times the least variance for m degrees, whatever R is
 *
 * Signs are made again for each block of rows, bits at a time: a gemm reads less than it would if
 * they were kept as numbers. */
#include <scullery/plugin.h>
#include <stdio.h>

enum { MOST_DEGREE = 64, STREAM_SIGNS = 0, STREAM_DEGREES = 2 };
enum { COEFFICIENTS_EXPONENTIAL };
enum { DEGREE, COLUMN, INTEGERS }; /* what a parameter keeps; column -1: signs */

typedef struct maclaurin {
  scl_base base;
  size_t degree;
  double scale, offset, radius;
  const scl_value *coefficients;
  size_t most;                   /* the highest degree with a_n > 0 */
  double a[MOST_DEGREE + 1];     /* a_n */
  double share[MOST_DEGREE + 1]; /* q_n, not normalised */
} maclaurin;

static const scl_option options[] = {
    SCL_INTEGER(maclaurin, degree, NULL, "p in (a <x,y> + c)^p (default 2)",
                SCL_WITHIN(1, MOST_DEGREE)),
    SCL_NUMBER(maclaurin, scale, "1", "a, above 0", SCL_POSITIVE),
    SCL_NUMBER(maclaurin, offset, NULL, "c, 0 or more; 0: terms of degree p alone (default 1)",
               SCL_NOT_NEGATIVE),
    SCL_ROW(maclaurin, coefficients, SCL_FORM_WORD | SCL_FORM_LIST, "exponential", NULL,
            "instead of degree and offset: {a_0, a_1, ...} of sum a_n (a <x,y>)^n; exponential: "
            "a_n = 1/n!",
            SCL_NOT_NEGATIVE),
    SCL_NUMBER(maclaurin, radius, NULL,
               "length of a typical row, for which parameters are spread over degrees with the "
               "least variance "
               "(default: evenly; exponential: 1/sqrt(scale))",
               SCL_POSITIVE)};

/* ------------ coefficients */

/* a_n = C(p, n) c^(p-n), the binomial coefficients by their ratios. */
static void fill_polynomial(maclaurin *self) {
  const size_t p = self->degree == 0 ? 2 : self->degree;
  const double c = isnan(self->offset) ? 1 : self->offset;
  double choose = 1;
  self->degree = p;
  self->offset = c;
  for (size_t n = 0; n <= p; n++) {
    self->a[n] = choose * pow(c, (double)(p - n));
    choose *= (double)(p - n) / (double)(n + 1);
  }
}

static void fill_exponential(maclaurin *self) {
  double term = 1;
  for (size_t n = 0; n <= MOST_DEGREE; n++) {
    self->a[n] = term;
    term /= (double)(n + 1);
  }
  if (isnan(self->radius)) self->radius = 1 / sqrt(self->scale);
}

static scl_status fill_list(maclaurin *self, scl_error *error) {
  const scl_value *list = self->coefficients;
  if (list->length > MOST_DEGREE + 1)
    return self->base.host->fail(error, SCL_STATUS_BAD_OPTION,
                                 "option 'coefficients' lists %zu numbers; it takes up to %d",
                                 list->length, MOST_DEGREE + 1);
  for (size_t n = 0; n < list->length; n++)
    self->a[n] = list->list[n];
  return SCL_STATUS_OK;
}

/* Sets a_n from the options: degree and offset, a list, or the exponential series. */
static scl_status fill_coefficients(maclaurin *self, scl_error *error) {
  if (self->coefficients->form == 0) {
    fill_polynomial(self);
    return SCL_STATUS_OK;
  }
  if (self->degree != 0 || !isnan(self->offset))
    return self->base.host->fail(error, SCL_STATUS_BAD_OPTION,
                                 "option 'coefficients' sets the kernel, and so do 'degree' and "
                                 "'offset': give one or the other");
  if (self->coefficients->form == SCL_FORM_LIST) return fill_list(self, error);
  fill_exponential(self);
  return SCL_STATUS_OK;
}

/* Computes the coefficients a_n and the shares q_n of the degrees. */
static scl_status maclaurin_create(void *instance, scl_error *error) {
  maclaurin *self = instance;
  const scl_host *host = self->base.host;
  const scl_status status = fill_coefficients(self, error);
  if (status != SCL_STATUS_OK) return status;
  const bool even = isnan(self->radius);
  const double step = even ? 1 : self->scale * self->radius * self->radius;
  double mass = 0;
  for (size_t n = 0; n <= MOST_DEGREE; n++) {
    if (self->a[n] > 0) self->most = n;
    self->share[n] = self->a[n] == 0 ? 0 : even ? 1 : self->a[n] * pow(step, (double)n);
    mass += n == 0 ? 0 : self->share[n];
  }
  if (self->most == 0)
    return host->fail(error, SCL_STATUS_BAD_OPTION,
                      "option 'coefficients' has no number above 0 after the first: the kernel "
                      "would be constant");
  if (isfinite(mass) && mass > 0 && isfinite(self->a[0])) return SCL_STATUS_OK;
  return host->fail(error, SCL_STATUS_BAD_OPTION,
                    "degree, scale, offset and radius make a kernel beyond double precision");
}

/* ------------ how T parameters are spent */

/* How many parameters each part of the kernel gets. */
typedef struct plan {
  size_t constant, linear; /* 0 or 1, 0 or d: the exact parameters */
  size_t random;           /* T' */
  size_t least;            /* their least degree */
  double mass;             /* sum of their shares */
} plan;

static double mass_from(const maclaurin *self, size_t least) {
  double mass = 0;
  for (size_t n = least; n <= self->most; n++)
    mass += self->share[n];
  return mass;
}

/* The constant term takes one parameter; degree 1 is exact where at least as many parameters as
 * columns are left for degrees from 2 on. */
static plan make_plan(const maclaurin *self, size_t dim, size_t total) {
  const size_t constant = self->a[0] > 0, left = total < constant ? 0 : total - constant;
  const bool exact = self->a[1] > 0 && left / 2 >= dim && mass_from(self, 2) > 0;
  const size_t linear = exact ? dim : 0, least = exact ? 2 : 1;
  return (plan){constant, linear, left - linear, least, mass_from(self, least)};
}

static scl_status maclaurin_layout(const void *instance, size_t dim, scl_layout *out,
                                   scl_error *error) {
  const maclaurin *self = instance;
  const size_t least = self->a[0] > 0 ? 2 : 1;
  (void)dim;
  if (out->count != 0 && out->count < least)
    return self->base.host->fail(error, SCL_STATUS_BAD_OPTION,
                                 "T = %zu is too few, as the constant term takes one parameter by "
                                 "itself: give T of at least %zu",
                                 out->count, least);
  out->integers = INTEGERS;
  out->tag = "sketch";
  return SCL_STATUS_OK;
}

/* F^-1 of a point in (0, mass). */
static size_t degree_at(const maclaurin *self, const plan *p, double point) {
  size_t n = p->least, last = n;
  for (double below = 0; n <= self->most; n++) {
    if (!(self->share[n] > 0)) continue;
    last = n;
    below += self->share[n];
    if (point < below) break;
  }
  return last;
}

/* Parameter t is, in this order: the constant, a column (degree 1, exact), or signs of degree
 * F^-1((r + u)/T'). Signs are not stored: they are generated by apply. */
static scl_status draw_degrees(const void *instance, const scl_draw *draw,
                               const scl_parameters *out, scl_error *error) {
  const maclaurin *self = instance;
  const plan p = make_plan(self, out->dim, draw->total);
  double u;
  (void)error;
  self->base.host->random->uniform(draw->address.seed, draw->address.stream + STREAM_DEGREES, 0, 0,
                                   1, &u);
  for (size_t i = 0; i < out->count; i++) {
    int32_t *at = out->support + (ptrdiff_t)i * out->support_stride;
    const size_t t = out->first + i, exact = p.constant + p.linear;
    const bool column = t >= p.constant && t < exact;
    at[COLUMN] = column ? (int32_t)(t - p.constant) : -1;
    at[DEGREE] = t < p.constant ? 0 : column ? 1 : 0;
    if (t >= exact)
      at[DEGREE] =
          (int32_t)degree_at(self, &p, ((double)(t - exact) + u) / (double)p.random * p.mass);
  }
  return SCL_STATUS_OK;
}

/* The factors sqrt(a_n / expected number of parameters of degree n); 1 expected for exact ones. */
static scl_status maclaurin_scales(const void *instance, const scl_draw *draw,
                                   const scl_const_parameters *parameters, double *out,
                                   scl_error *error) {
  const maclaurin *self = instance;
  const plan p = make_plan(self, parameters->dim, draw->total);
  (void)error;
  for (size_t i = 0; i < parameters->count; i++) {
    const int32_t *at = parameters->support + (ptrdiff_t)i * parameters->support_stride;
    const bool exact = at[DEGREE] == 0 || at[COLUMN] >= 0;
    const double times = exact ? 1 : self->share[at[DEGREE]] / p.mass * (double)p.random;
    out[i] = sqrt(self->a[at[DEGREE]] / times);
  }
  return SCL_STATUS_OK;
}

/* ------------ z */

enum { WIDTH = 128 }; /* parameters at a time: their signs and products stay in cache */

/* One call of apply: signs (WIDTH x d) and products (rows x WIDTH) of one factor. */
typedef struct workspace {
  const maclaurin *self;
  const scl_draw *draw;
  const scl_const_parameters *parameters;
  const scl_const_block *x;
  const scl_block *z;
  double pattern[16][4]; /* sqrt(s) times the signs that four bits say */
  uint64_t *bits;        /* of one row of signs */
  double *signs, *products;
} workspace;

static size_t words_of(size_t dim) { return (dim + 63) / 64; }

/* Generates row `factor` of the signs of parameter t. */
static void fill_signs(const workspace *w, uint64_t t, size_t factor, double *out) {
  const scl_address address = w->draw->address;
  const size_t dim = w->x->cols, words = words_of(dim);
  w->self->base.host->random->bits(address.seed, address.stream + STREAM_SIGNS, t, factor * words,
                                   words, w->bits);
  for (size_t j = 0; j < dim; j += 4) {
    const double *four = w->pattern[w->bits[j / 64] >> (j % 64) & 15];
    memcpy(out + j, four, (dim - j < 4 ? dim - j : 4) * sizeof *out);
  }
}

/* DEGREE and COLUMN of parameter t of the batch. */
static const int32_t *parameter(const workspace *w, size_t t) {
  return w->parameters->support + (ptrdiff_t)t * w->parameters->support_stride;
}

/* z of an exact parameter: 1, or one column times sqrt(s). */
static void fill_exact(const workspace *w, size_t t) {
  const int32_t column = parameter(w, t)[COLUMN];
  const double size = sqrt(w->self->scale), *from = (const double *)w->x->data + column;
  double *to = (double *)w->z->data + t;
  for (size_t i = 0; i < w->x->rows; i++)
    to[(ptrdiff_t)i * w->z->row_stride] =
        column < 0 ? 1 : size * from[(ptrdiff_t)i * w->x->row_stride];
}

/* z *= <w_factor, sqrt(s) x> for parameters first .. end-1; the first factor is written to z
 * itself. */
static void multiply_factor(const workspace *w, size_t factor, size_t first, size_t end) {
  const size_t dim = w->x->cols, count = end - first;
  const bool begin = factor == 0;
  double *z = (double *)w->z->data + first;
  for (size_t t = first; t < end; t++)
    fill_signs(w, w->parameters->first + t, factor, w->signs + (t - first) * dim);
  w->self->base.host->dense->gemm(0, 1, w->x->rows, count, dim, 1, w->x->data, w->x->row_stride,
                                  w->signs, (ptrdiff_t)dim, 0, begin ? z : w->products,
                                  begin ? w->z->row_stride : WIDTH);
  for (size_t i = 0; !begin && i < w->x->rows; i++) {
    const double *restrict from = w->products + i * WIDTH;
    double *restrict to = z + (ptrdiff_t)i * w->z->row_stride;
    for (size_t j = 0; j < count; j++)
      to[j] *= from[j];
  }
}

/* Computes z for parameters first .. end-1, whose degrees ascend: exact ones first, then factor by
 * factor, each on the parameters of at least that degree. */
static void apply_some(const workspace *w, size_t first, size_t end) {
  for (; first < end; first++) {
    const int32_t *at = parameter(w, first);
    if (at[DEGREE] > 0 && at[COLUMN] < 0) break;
    fill_exact(w, first);
  }
  for (size_t factor = 0;; factor++) {
    while (first < end && (size_t)parameter(w, first)[DEGREE] <= factor)
      first++;
    if (first == end) return;
    multiply_factor(w, factor, first, end);
  }
}

/* z for all parameters, WIDTH of them at a time. */
static scl_status maclaurin_apply(const void *instance, const scl_draw *draw,
                                  const scl_const_parameters *parameters, const scl_const_block *x,
                                  const scl_block *z, scl_error *error) {
  const maclaurin *self = instance;
  const scl_host *host = self->base.host;
  workspace w = {.self = self, .draw = draw, .parameters = parameters, .x = x, .z = z};
  w.bits = host->scratch((words_of(x->cols) + 1) * sizeof *w.bits);
  w.signs = host->scratch((WIDTH * x->cols + 1) * sizeof *w.signs);
  w.products = host->scratch((x->rows * WIDTH + 1) * sizeof *w.products);
  if (w.bits == NULL || w.signs == NULL || w.products == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for products of %zu rows",
                      x->rows);
  const double size = sqrt(self->scale);
  for (size_t nibble = 0; nibble < 16; nibble++)
    for (size_t k = 0; k < 4; k++)
      w.pattern[nibble][k] = nibble >> k & 1 ? -size : size;
  for (size_t first = 0; first < z->cols; first += WIDTH)
    apply_some(&w, first, z->cols - first < WIDTH ? z->cols : first + WIDTH);
  return SCL_STATUS_OK;
}

/* ------------ the plugin */

/* With the identity the features estimate a kernel that has a name: polynomial, or exponential. */
static scl_status maclaurin_pair_kernel(const void *instance, const scl_part *partner, char *text,
                                        size_t size, scl_error *error) {
  const maclaurin *self = instance;
  (void)error;
  if (strcmp(partner->plugin->name, "identity") != 0) return SCL_STATUS_OK;
  if (self->coefficients->form == 0)
    (void)snprintf(text, size, "polynomial{degree = %zu, scale = %.17g, offset = %.17g}",
                   self->degree, self->scale, self->offset);
  else if (self->coefficients->form == SCL_FORM_WORD)
    (void)snprintf(text, size, "exponential{width = %.17g}", 1 / sqrt(self->scale));
  return SCL_STATUS_OK;
}

const scl_plugin scullery_plugin = {
    .name = "maclaurin",
    .summary = "random Maclaurin features of polynomial and other dot-product kernels",
    .definition =
        /* Coefficients of the series. */
    "choose(p, n) = product(n, function(k) return (p - n + k)/k end)\n"
    "term(p, n) = n > p and 0 or choose(p, n)*(offset or 1)^(p - n)\n"
    "a(n) = type(coefficients) == \"table\" and (coefficients[n + 1] or 0) or\n"
    "  coefficients and 1/product(n) or term(degree or 2, n)\n"
    /* The length of a typical row; nil: even shares. */
    "R() = radius or coefficients == \"exponential\" and 1/sqrt(scale)\n"
    /* The share of a degree, and of all from it on. */
    "q(n) = a(n) == 0 and 0 or R() and a(n)*(scale*R()^2)^n or 1\n"
    "mass(n) = n > 64 and 0 or q(n) + mass(n + 1)\n"
    /* How many parameters are the constant, columns, and others; the least degree of these. */
    "constant() = when(a(0) > 0, 1, 0)\n"
    "linear(r) = a(1) > 0 and (r.total - constant())//2 >= r.dim and mass(2) > 0 and r.dim or 0\n"
    "others(r) = r.total - constant() - linear(r)\n"
    "first(r) = when(linear(r) > 0, 2, 1)\n"
    /* The degree at a point of the distribution function. */
    "degree_at(n, point) = (point < q(n) or mass(n + 1) == 0) and n or degree_at(n + 1, point - "
    "q(n))\n"
    "drawn(k, r) = degree_at(first(r), (k + r.uniform(2, 0, 0))/others(r)*mass(first(r)))\n"
    "draw(t, r) = t < constant() and { 0, -1 } or t < constant() + linear(r) and\n"
    "  { 1, t - constant() } or { drawn(t - constant() - linear(r), r), -1 }\n"
    "scale(w, r) = sqrt(a(w[1])/((w[1] == 0 or w[2] >= 0) and 1 or "
    "q(w[1])/mass(first(r))*others(r)))\n"
    /* Sign j of factor f. */
    "flip(t, f, j, d, r) = 1 - 2*((r.bits(0, t, (f - 1)*((d + 63)//64) + (j - 1)//64) >> ((j - 1) "
    "% 64)) % 2)\n"
    /* Factor f of parameter t. */
    "factor(x, t, f, r) = sum(x, function(v, j) return flip(t, f, j, #x, r)*v end)*sqrt(scale)\n"
    "z(x, W, r, from) = map(W, function(w, i)\n"
    "  return w[1] == 0 and 1 or w[2] >= 0 and sqrt(scale)*x[w[2] + 1] or\n"
    "    product(w[1], function(f) return factor(x, from + i - 1, f, r) end) end)",
    .doc = "z = prod_j <w_j, sqrt(scale) x>, j = 1 .. n, w_j random signs; with "
           "nonlinearity.identity\n"
           "the features estimate (scale <x,y> + offset)^degree, or sum_n a_n (scale <x,y>)^n for\n"
           "coefficients = {a_0, a_1, ...}, exp(scale <x,y>) for coefficients = \"exponential\",\n"
           "without bias (Kar and Karnick 2012, Random feature maps for dot product kernels).\n"
           "The term n = 0 is exact and takes one parameter; n = 1 is exact and takes d where T - "
           "1 >= "
           "2 d.\n"
           "The other parameters are spread over the degrees n with a_n > 0: evenly, or in "
           "proportion\n"
           "to a_n (scale radius^2)^n, which has the least variance where rows have about that "
           "length.\n"
           "sampler.tensorsketch takes O(d + T log T) per row in place of O(d T), for polynomial "
           "kernels.",
    SCL_SAMPLER(.space = SCL_SPACE_STRUCTURED, .draw = draw_degrees, .layout = maclaurin_layout),
    SCL_INSTANCE(maclaurin, options),
    SCL_ABILITIES(
        SCL_OFFER(SCL_ABILITY_STRUCTURED, scl_ability_structured, .apply = maclaurin_apply),
        SCL_OFFER(SCL_ABILITY_SCALES, scl_ability_scales, .scales = maclaurin_scales),
        SCL_OFFER(SCL_ABILITY_PAIR_KERNEL, scl_ability_pair_kernel,
                  .kernel = maclaurin_pair_kernel)),
    .create = maclaurin_create};
