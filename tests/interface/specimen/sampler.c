/* Samplers: every space, both forms, every ability. All draw N(0, 1) numbers, or uniform ones, in
 * the plainest way. */
#include "specimen.h"

typedef struct drawer {
  scl_base base;
  double sigma;
  size_t offset;
  int64_t shift;
  bool still;
  int32_t mode;
  const scl_value *extra;
  scl_part inner;
} drawer;

static const scl_host *host_of(const void *self) { return ((const drawer *)self)->base.host; }

/* ------------ plain: the simple form
 *
 *   w_j = sigma e_j, e_j ~ N(0, 1);   E cos(z e) = exp(-z^2/2) */

static void plain_make(const void *self, size_t count, const double *numbers, double *e) {
  (void)upset(host_of(self), "plain.make", NULL);
  memcpy(e, numbers, count * sizeof *e);
  disturb_numbers("plain.make", e, count);
}

static void plain_moments(const void *self, double *mean, double *scale) {
  (void)upset(host_of(self), "plain.moments", NULL);
  (void)mean;
  *scale = disturbed("plain.moments", ((const drawer *)self)->sigma);
}

static double plain_factor(const void *self, double z) {
  (void)upset(host_of(self), "plain.factor", NULL);
  return disturbed("plain.factor", exp(-z * z / 2));
}

static const scl_option plain_options[] = {SCL_NUMBER(drawer, sigma, "1", "standard deviation",
                                                      SCL_POSITIVE, .width = SCL_WIDTH_FREQUENCY),
                                           SCL_OPTION_BIAS};

SPECIMEN(plain, "a simple sampler",
         SCL_SAMPLER(.space = SCL_SPACE_DENSE, .make = plain_make, .moments = plain_moments,
                     .factor = plain_factor, .normals = 1, .family = SCL_FAMILY_GAUSSIAN),
         SCL_INSTANCE(drawer, plain_options));

/* ------------ general: dense rows by `draw` */

static scl_status check_draw(const scl_host *host, const scl_draw *draw, scl_error *error) {
  CHECK_VIEW(host, host, error);
  CHECK_VIEW(host, host->random, error);
  CHECK_VIEW(host, host->parts, error);
  CHECK_VIEW(host, draw, error);
  if (draw->state != NULL) CHECK_VIEW(host, draw->state, error);
  return SCL_STATUS_OK;
}

/* weights[t] = sigma times N(0, 1) numbers. */
static scl_status fill(const void *self, const char *slot, const scl_draw *draw,
                       const scl_parameters *out, scl_error *error) {
  const scl_host *host = host_of(self);
  const scl_status status = check_draw(host, draw, error);
  if (status != SCL_STATUS_OK) return status;
  CHECK_VIEW(host, out, error);
  UPSET(host, slot, error);
  for (size_t t = 0; t < out->count; t++) {
    double *w = out->weights + (ptrdiff_t)t * out->stride;
    host->random->normal(draw->address.seed, draw->address.stream, out->first + t, 0, out->reals,
                         w);
    for (size_t j = 0; j < out->reals; j++)
      w[j] *= ((const drawer *)self)->sigma;
    disturb_numbers(slot, w, out->reals);
    if (out->bias != NULL) out->bias[t] = disturbed("general.bias", 0.25);
  }
  return SCL_STATUS_OK;
}

static scl_status general_draw(const void *self, const scl_draw *draw, const scl_parameters *out,
                               scl_error *error) {
  return fill(self, "general.draw", draw, out, error);
}

static scl_status general_layout(const void *self, size_t dim, scl_layout *out, scl_error *error) {
  (void)dim;
  CHECK_VIEW(host_of(self), out, error);
  UPSET(host_of(self), "general.layout", error);
  disturb("general.layout", "scl_layout", out);
  return SCL_STATUS_OK;
}

static scl_status general_law(const void *self, const scl_draw *draw, scl_law *out,
                              scl_error *error) {
  (void)draw;
  CHECK_VIEW(host_of(self), out, error);
  UPSET(host_of(self), "general.law", error);
  out->family = SCL_FAMILY_GAUSSIAN;
  for (size_t j = 0; j < out->dim; j++)
    out->scale[j] = ((const drawer *)self)->sigma;
  disturb_numbers("general.law", out->scale, out->dim);
  disturb("general.law", "scl_law", out);
  return SCL_STATUS_OK;
}

static scl_status general_characteristic(const void *self, const scl_draw *draw, size_t rows,
                                         const double *delta, ptrdiff_t stride, double *out,
                                         scl_error *error) {
  const double sigma = ((const drawer *)self)->sigma;
  UPSET(host_of(self), "general.characteristic", error);
  for (size_t i = 0; i < rows; i++) {
    double square = 0;
    for (size_t j = 0; j < draw->dim; j++) {
      const double gap = sigma * delta[(ptrdiff_t)i * stride + (ptrdiff_t)j];
      square += gap * gap;
    }
    out[i] = exp(-square / 2);
  }
  disturb_numbers("general.characteristic", out, rows);
  return SCL_STATUS_OK;
}

static scl_status general_scales(const void *self, const scl_draw *draw,
                                 const scl_const_parameters *parameters, double *out,
                                 scl_error *error) {
  CHECK_VIEW(host_of(self), parameters, error);
  UPSET(host_of(self), "general.scales", error);
  for (size_t t = 0; t < parameters->count; t++)
    out[t] = 1 / sqrt((double)draw->total);
  disturb_numbers("general.scales", out, parameters->count);
  return SCL_STATUS_OK;
}

static scl_status general_pair(const void *self, const scl_part *partner, char *text, size_t size,
                               scl_error *error) {
  (void)partner;
  UPSET(host_of(self), "general.kernel", error);
  char room[200];
  const char *said = disturbed_text("general.kernel", "", room);
  for (size_t i = 0; i + 1 < size && (i == 0 || text[i - 1] != 0); i++)
    text[i] = said[i];
  if (strcmp(said, "full") == 0) memset(text, 'a', size);
  return SCL_STATUS_OK;
}

/* One option for each store. */
static scl_status general_create(void *self, scl_error *error) {
  UPSET(host_of(self), "general.create", error);
  return SCL_STATUS_OK;
}

static void general_destroy(void *self) { (void)upset(host_of(self), "general.destroy", NULL); }

static const scl_option general_options[] = {
    SCL_NUMBER(drawer, sigma, "1", "standard deviation", SCL_POSITIVE),
    SCL_INTEGER(drawer, offset, "3", "a count", SCL_WITHIN(0, 100)),
    SCL_INTEGER(drawer, shift, "-2", "a whole number", SCL_WITHIN(-100, 100)),
    SCL_BOOLEAN(drawer, still, "false", "a flag"),
    SCL_WORD(drawer, mode, "one|two", "two", "a word"),
    SCL_ROW(drawer, extra, SCL_FORM_NUMBER | SCL_FORM_LIST | SCL_FORM_WORD | SCL_FORM_NAMED, "a|b",
            "{1, 2}", "a value of several forms", .range = 0),
    SCL_ROW(drawer, inner, SCL_FORM_PARTS, "kernel|sampler", NULL, "a component", .range = 0)};

SPECIMEN(general, "a general sampler",
         SCL_SAMPLER(.space = SCL_SPACE_DENSE, .draw = general_draw, .layout = general_layout),
         SCL_INSTANCE(drawer, general_options),
         SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_LAW, scl_ability_law, .law = general_law),
                       SCL_OFFER(SCL_ABILITY_CHARACTERISTIC, scl_ability_characteristic,
                                 .characteristic = general_characteristic),
                       SCL_OFFER(SCL_ABILITY_SCALES, scl_ability_scales, .scales = general_scales),
                       SCL_OFFER(SCL_ABILITY_PAIR_KERNEL, scl_ability_pair_kernel,
                                 .kernel = general_pair)),
         .create = general_create, .destroy = general_destroy);

/* ------------ split: thresholds uniform on (0, 1) */

static scl_status split_draw(const void *self, const scl_draw *draw, const scl_parameters *out,
                             scl_error *error) {
  const scl_host *host = host_of(self);
  UPSET(host, "split.draw", error);
  for (size_t t = 0; t < out->count; t++) {
    double numbers[2];
    int32_t *column = out->support + (ptrdiff_t)t * out->support_stride;
    host->random->uniform(draw->address.seed, draw->address.stream, out->first + t, 0, 2, numbers);
    out->weights[(ptrdiff_t)t * out->stride] = numbers[0];
    *column = (int32_t)(numbers[1] * (double)out->dim);
    disturb_integers("split.draw", column, 1);
  }
  return SCL_STATUS_OK;
}

static scl_status split_law(const void *self, const scl_draw *draw, scl_law *out,
                            scl_error *error) {
  (void)draw;
  UPSET(host_of(self), "split.law", error);
  out->family = SCL_FAMILY_UNIFORM;
  for (size_t j = 0; j < out->dim; j++)
    out->mean[j] = out->scale[j] = 0.5;
  return SCL_STATUS_OK;
}

static double split_distribution(const void *self, const scl_draw *draw, size_t column, double x) {
  (void)draw, (void)column;
  (void)upset(host_of(self), "split.distribution", NULL);
  return disturbed("split.distribution", x < 0 ? 0 : x > 1 ? 1 : x);
}

SPECIMEN(split, "thresholds", SCL_SAMPLER(.space = SCL_SPACE_THRESHOLD, .draw = split_draw),
         SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_LAW, scl_ability_law, .law = split_law),
                       SCL_OFFER(SCL_ABILITY_DISTRIBUTION, scl_ability_distribution,
                                 .distribution = split_distribution)));

/* ------------ lattice: grids of pitch 1 */

static scl_status lattice_draw(const void *self, const scl_draw *draw, const scl_parameters *out,
                               scl_error *error) {
  const scl_host *host = host_of(self);
  UPSET(host, "lattice.draw", error);
  for (size_t t = 0; t < out->count; t++) {
    double *w = out->weights + (ptrdiff_t)t * out->stride;
    for (size_t j = 0; j < out->dim; j++)
      w[j] = 1;
    host->random->uniform(draw->address.seed, draw->address.stream, out->first + t, 0, out->dim,
                          w + out->dim);
    disturb_numbers("lattice.draw", w, out->reals);
  }
  return SCL_STATUS_OK;
}

static scl_status lattice_collision(const void *self, const scl_draw *draw, size_t rows,
                                    const double *delta, ptrdiff_t stride, double *out,
                                    scl_error *error) {
  UPSET(host_of(self), "lattice.collision", error);
  for (size_t i = 0; i < rows; i++) {
    out[i] = 1;
    for (size_t j = 0; j < draw->dim; j++)
      out[i] *= fmax(0, 1 - fabs(delta[(ptrdiff_t)i * stride + (ptrdiff_t)j]));
  }
  disturb_numbers("lattice.collision", out, rows);
  return SCL_STATUS_OK;
}

SPECIMEN(lattice, "grids", SCL_SAMPLER(.space = SCL_SPACE_GRID, .draw = lattice_draw),
         SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_COLLISION, scl_ability_collision,
                                 .collision = lattice_collision)));

/* ------------ rotated: structured, in truth dense */

static scl_status rotated_draw(const void *self, const scl_draw *draw, const scl_parameters *out,
                               scl_error *error) {
  return fill(self, "rotated.draw", draw, out, error);
}

static scl_status rotated_layout(const void *self, size_t dim, scl_layout *out, scl_error *error) {
  out->reals = dim;
  out->block = 2;
  UPSET(host_of(self), "rotated.layout", error);
  disturb("rotated.layout", "scl_layout", out);
  return SCL_STATUS_OK;
}

static scl_status rotated_apply(const void *self, const scl_draw *draw,
                                const scl_const_parameters *p, const scl_const_block *x,
                                const scl_block *z, scl_error *error) {
  (void)draw;
  CHECK_VIEW(host_of(self), p, error);
  UPSET(host_of(self), "rotated.apply", error);
  for (size_t i = 0; i < z->rows; i++) {
    const double *row = (const double *)x->data + (ptrdiff_t)i * x->row_stride;
    double *to = (double *)z->data + (ptrdiff_t)i * z->row_stride;
    for (size_t t = 0; t < z->cols; t++) {
      const double *w = p->weights + (ptrdiff_t)t * p->stride;
      to[t] = 0;
      for (size_t j = 0; j < p->reals; j++)
        to[t] += w[j] * row[j];
    }
    disturb_numbers("rotated.apply", to, z->cols);
  }
  return SCL_STATUS_OK;
}

static scl_status rotated_rows(const void *self, const scl_draw *draw,
                               const scl_const_parameters *p, double *dense, ptrdiff_t stride,
                               scl_error *error) {
  (void)draw;
  UPSET(host_of(self), "rotated.rows", error);
  for (size_t t = 0; t < p->count; t++) {
    double *to = dense + (ptrdiff_t)t * stride;
    memcpy(to, p->weights + (ptrdiff_t)t * p->stride, p->reals * sizeof *to);
    disturb_numbers("rotated.rows", to, p->dim);
  }
  return SCL_STATUS_OK;
}

static const scl_option sigma_option[] = {
    SCL_NUMBER(drawer, sigma, "1", "standard deviation", SCL_POSITIVE)};

SPECIMEN(rotated, "structured rows",
         SCL_SAMPLER(.space = SCL_SPACE_STRUCTURED, .draw = rotated_draw, .layout = rotated_layout),
         SCL_INSTANCE(drawer, sigma_option),
         SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_STRUCTURED, scl_ability_structured,
                                 .apply = rotated_apply, .rows = rotated_rows),
                       SCL_OFFER(SCL_ABILITY_LAW, scl_ability_law, .law = general_law)));

/* ------------ few: weights on columns t and t+1 */

static scl_status few_layout(const void *self, size_t dim, scl_layout *out, scl_error *error) {
  UPSET(host_of(self), "few.layout", error);
  if (dim < 2)
    return host_of(self)->fail(error, SCL_STATUS_BAD_SHAPE,
                               "rows have %zu column, and weights lie on two", dim);
  out->reals = out->integers = 2;
  disturb("few.layout", "scl_layout", out);
  return SCL_STATUS_OK;
}

static scl_status few_draw(const void *self, const scl_draw *draw, const scl_parameters *out,
                           scl_error *error) {
  const scl_host *host = host_of(self);
  UPSET(host, "few.draw", error);
  for (size_t t = 0; t < out->count; t++) {
    int32_t *columns = out->support + (ptrdiff_t)t * out->support_stride;
    columns[0] = (int32_t)((out->first + t) % (out->dim - 1));
    columns[1] = columns[0] + 1;
    host->random->normal(draw->address.seed, draw->address.stream, out->first + t, 0, 2,
                         out->weights + (ptrdiff_t)t * out->stride);
    disturb_numbers("few.draw", out->weights + (ptrdiff_t)t * out->stride, 2);
    disturb_integers("few.draw", columns, 2);
  }
  return SCL_STATUS_OK;
}

static scl_status few_law(const void *self, const scl_draw *draw, scl_law *out, scl_error *error) {
  (void)draw;
  UPSET(host_of(self), "few.law", error);
  out->family = SCL_FAMILY_GAUSSIAN;
  for (size_t j = 0; j < out->dim; j++)
    out->scale[j] = 1;
  out->max_degree = 2;
  out->degree[2] = out->degree_scale[2] = 1;
  disturb("few.law", "scl_law", out);
  disturb_numbers("few.law", out->degree, out->dim + 1);
  return SCL_STATUS_OK;
}

SPECIMEN(few, "sparse rows",
         SCL_SAMPLER(.space = SCL_SPACE_SPARSE, .draw = few_draw, .layout = few_layout),
         SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_LAW, scl_ability_law, .law = few_law)));

/* ------------ shared: a pool of 8 rows */

static scl_status shared_draw(const void *self, const scl_draw *draw, const scl_parameters *out,
                              scl_error *error) {
  return fill(self, "shared.draw", draw, out, error);
}

static size_t shared_rows(const void *self, size_t count, size_t fan_in) {
  (void)count, (void)fan_in;
  (void)upset(host_of(self), "shared.rows", NULL);
  return (size_t)disturbed("shared.rows", 8);
}

static scl_status shared_pool(const void *self, const scl_draw *draw, size_t first, size_t count,
                              size_t fan_in, int32_t *out, scl_error *error) {
  (void)draw;
  UPSET(host_of(self), "shared.pool", error);
  for (size_t t = 0; t < count; t++)
    for (size_t k = 0; k < fan_in; k++)
      out[t * fan_in + k] = (int32_t)((first + t + k) % 8);
  disturb_integers("shared.pool", out, count * fan_in);
  return SCL_STATUS_OK;
}

SPECIMEN(shared, "shared rows", SCL_SAMPLER(.space = SCL_SPACE_DENSE, .draw = shared_draw),
         SCL_INSTANCE(drawer, sigma_option),
         SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_POOL, scl_ability_pool, .rows = shared_rows,
                                 .pool = shared_pool)));

/* ------------ pupil: the first rows, as landmarks */

typedef struct lesson {
  size_t seen;
  const scl_learning *learning;
} lesson;

static scl_status pupil_count(void *context, const scl_rows *rows, scl_error *error) {
  lesson *l = context;
  lesson inner = {0, l->learning};
  const size_t place = 0;
  size_t from = 0;
  double row[64];
  l->seen += rows->count;
  const char *verb = script_line("pupil.walk", "ask", &from);
  if (verb == NULL || l->learning->dim > 64) return SCL_STATUS_OK;
  return strncmp(verb, "walk", 4) == 0 ? l->learning->walk(l->learning, pupil_count, &inner, error)
                                       : l->learning->select(l->learning, &place, 1, row, error);
}

static scl_status pupil_learn(const void *self, const scl_learning *rows, scl_state *out,
                              scl_error *error) {
  const scl_host *host = host_of(self);
  const size_t wanted = rows->draw->total > 0 ? rows->draw->total : 4;
  size_t places[64];
  lesson own = {0, rows};
  CHECK_VIEW(host, rows, error);
  CHECK_VIEW(host, out, error);
  UPSET(host, "pupil.learn", error);
  scl_status status = rows->walk(rows, pupil_count, &own, error);
  if (status != SCL_STATUS_OK) return status;
  if (own.seen != rows->rows || wanted > 64 || wanted > rows->rows)
    return host->fail(error, SCL_STATUS_BAD_SHAPE, "%zu rows seen of %zu, %zu wanted", own.seen,
                      rows->rows, wanted);
  for (size_t i = 0; i < wanted; i++)
    places[i] = i;
  out->numbers = host->allocate(wanted * rows->dim * sizeof *out->numbers);
  if (out->numbers == NULL) return host->fail(error, SCL_STATUS_NO_MEMORY, "no memory");
  status = rows->select(rows, places, wanted, out->numbers, error);
  out->rows = wanted;
  out->cols = rows->dim;
  out->count = rows->draw->total > 0 ? 0 : wanted;
  disturb_numbers("pupil.learn", out->numbers, wanted * rows->dim);
  double *numbers = out->numbers;
  disturb("pupil.learn", "scl_state", out);
  if (out->numbers != numbers) host->release(numbers);
  return status != SCL_STATUS_OK ? status : rows->progress(rows, "learning", 1, error);
}

static scl_status pupil_draw(const void *self, const scl_draw *draw, const scl_parameters *out,
                             scl_error *error) {
  UPSET(host_of(self), "pupil.draw", error);
  const scl_status status = check_draw(host_of(self), draw, error);
  if (draw->state != NULL && out->first + out->count > draw->state->rows)
    return host_of(self)->fail(error, SCL_STATUS_UNSUPPORTED, "it has learnt %zu parameters alone",
                               draw->state->rows);
  for (size_t t = 0; t < out->count && draw->state != NULL; t++)
    memcpy(out->weights + (ptrdiff_t)t * out->stride,
           draw->state->numbers + (out->first + t) * draw->state->cols, out->dim * sizeof(double));
  return status;
}

SPECIMEN(pupil, "a sampler that learns", SCL_SAMPLER(.space = SCL_SPACE_DENSE, .draw = pupil_draw),
         SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_LEARN, scl_ability_learn, .learn = pupil_learn)));

/* ------------ wrapper: another sampler, by host->parts, in tables of its own */

static scl_status whole(const void *self, int guard, const char *slot, scl_error *error) {
  return guard ? SCL_STATUS_OK
               : host_of(self)->fail(error, SCL_STATUS_INTERNAL,
                                     "the host wrote beyond the table of %s", slot);
}

static const scl_part *inner_of(const void *self) { return &((const drawer *)self)->inner; }

static scl_status wrapper_layout(const void *self, size_t dim, scl_layout *out, scl_error *error) {
  const scl_host *host = host_of(self);
  UPSET(host, "wrapper.layout", error);
  scl_layout *own = open_table("wrapper.layout", sizeof *own);
  if (SCL_HAS(own, count)) own->count = out->count;
  const scl_status status = host->parts->layout(inner_of(self), dim, own, error);
  if (status == SCL_STATUS_OK) {
    out->reals = own->reals;
    out->has_bias = own->has_bias;
  }
  const int guard = close_table(own);
  return status != SCL_STATUS_OK ? status : whole(self, guard, "wrapper.layout", error);
}

static scl_status wrapper_draw(const void *self, const scl_draw *draw, const scl_parameters *out,
                               scl_error *error) {
  const scl_host *host = host_of(self);
  UPSET(host, "wrapper.draw", error);
  scl_draw *which = open_table("wrapper.draw", sizeof *which);
  scl_parameters *to = open_table("wrapper.parameters", sizeof *to);
  FILL_TABLE(which, draw);
  FILL_TABLE(to, out);
  const scl_status status = host->parts->draw(inner_of(self), which, to, error);
  const int guard = close_table(which) & close_table(to);
  return status != SCL_STATUS_OK ? status : whole(self, guard, "wrapper.draw", error);
}

static scl_status wrapper_law(const void *self, const scl_draw *draw, scl_law *out,
                              scl_error *error) {
  const scl_host *host = host_of(self);
  UPSET(host, "wrapper.law", error);
  scl_law *own = open_table("wrapper.law", sizeof *own);
  FILL_TABLE(own, out);
  const scl_status status = host->parts->law(inner_of(self), draw, own, error);
  if (status == SCL_STATUS_OK) {
    out->family = own->family;
    out->shape = own->shape;
    out->bias = own->bias;
    out->bias_a = own->bias_a;
    out->bias_b = own->bias_b;
  }
  const int guard = close_table(own);
  return status != SCL_STATUS_OK ? status : whole(self, guard, "wrapper.law", error);
}

static scl_status wrapper_characteristic(const void *self, const scl_draw *draw, size_t rows,
                                         const double *delta, ptrdiff_t stride, double *out,
                                         scl_error *error) {
  const scl_host *host = host_of(self);
  UPSET(host, "wrapper.characteristic", error);
  return host->parts->characteristic(inner_of(self), draw, rows, delta, stride, out, error);
}

static const scl_option wrapper_options[] = {SCL_ROW(drawer, inner, SCL_FORM_PARTS, "sampler",
                                                     "gaussian", "the sampler that is wrapped",
                                                     .range = 0)};

SPECIMEN(wrapper, "another sampler",
         SCL_SAMPLER(.space = SCL_SPACE_DENSE, .draw = wrapper_draw, .layout = wrapper_layout),
         SCL_INSTANCE(drawer, wrapper_options),
         SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_LAW, scl_ability_law, .law = wrapper_law),
                       SCL_OFFER(SCL_ABILITY_CHARACTERISTIC, scl_ability_characteristic,
                                 .characteristic = wrapper_characteristic)));
