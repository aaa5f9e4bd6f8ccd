/* Kernels: the simple and the general form, and one made of another. All are
 *
 *   K(u, v) = exp(-gamma ||u - v||^2). */
#include "specimen.h"

#include <stdio.h>

typedef struct shape {
  scl_base base;
  double gamma;
  scl_part inner;
} shape;

static const scl_host *host_of(const void *self) { return ((const shape *)self)->base.host; }

/* ------------ bell: the simple form */

static void bell_finish(const void *self, const scl_pair_row *row, double *numbers) {
  (void)upset(host_of(self), "bell.finish", NULL);
  const size_t count = disturbed_count("bell.finish", row->count);
  for (size_t j = 0; j < count; j++)
    numbers[j] = exp(-numbers[j]);
  disturb_numbers("bell.finish", numbers, row->count);
}

static double bell_scale(const void *self) {
  (void)upset(host_of(self), "bell.scale", NULL);
  return disturbed("bell.scale", sqrt(((const shape *)self)->gamma));
}

static void bell_move(const void *self, size_t count, double *coordinates) {
  (void)upset(host_of(self), "bell.move", NULL);
  disturb_numbers("bell.move", coordinates, count);
}

static const scl_option gamma_option[] = {SCL_NUMBER(
    shape, gamma, "1", "rate in exp(-gamma ||u - v||^2)", SCL_POSITIVE, .width = SCL_WIDTH_GAMMA)};

SPECIMEN(bell, "a simple kernel",
         SCL_KERNEL(.spaces = SCL_BIT(SCL_SPACE_DENSE), .finish = bell_finish, .scale = bell_scale,
                    .move = bell_move, .pair = SCL_PAIR_SQUARED_DISTANCE),
         SCL_INSTANCE(shape, gamma_option));

/* ------------ long: the general form; without gamma it takes gamma = 1/2 from any law (bind) */

static double distance(const scl_const_parameters *u, size_t i, const scl_const_parameters *v,
                       size_t j) {
  const double *a = u->weights + (ptrdiff_t)i * u->stride;
  const double *b = v->weights + (ptrdiff_t)j * v->stride;
  double sum = 0;
  for (size_t k = 0; k < u->dim; k++)
    sum += (a[k] - b[k]) * (a[k] - b[k]);
  return sum;
}

static scl_status long_gram(const void *self, const scl_const_parameters *u,
                            const scl_const_parameters *v, double *out, ptrdiff_t stride,
                            scl_error *error) {
  UPSET(host_of(self), "long.gram", error);
  const size_t count = disturbed_count("long.gram", v->count);
  for (size_t i = 0; i < u->count; i++) {
    double *row = out + (ptrdiff_t)i * stride;
    for (size_t j = 0; j < count; j++)
      row[j] = exp(-((const shape *)self)->gamma * distance(u, i, v, j));
    disturb_numbers("long.gram", row, v->count);
  }
  return SCL_STATUS_OK;
}

static scl_status long_diagonal(const void *self, const scl_const_parameters *u, double *out,
                                scl_error *error) {
  UPSET(host_of(self), "long.diagonal", error);
  for (size_t i = 0; i < u->count; i++)
    out[i] = 1;
  disturb_numbers("long.diagonal", out, u->count);
  return SCL_STATUS_OK;
}

static scl_status long_bind(void *self, const scl_law *law, scl_error *error) {
  CHECK_VIEW(host_of(self), law, error);
  UPSET(host_of(self), "long.bind", error);
  ((shape *)self)->gamma = 0.5;
  return SCL_STATUS_OK;
}

static void long_describe(const void *self, char *text, size_t size) {
  (void)upset(host_of(self), "long.describe", NULL);
  char room[200];
  const char *said = disturbed_text("long.describe", "gamma = 0.5", room);
  (void)snprintf(text, size, "%s", said);
  if (strcmp(said, "full") == 0) memset(text, 'a', size);
}

/* The first header has no such ability. */
#ifdef SCL_ABILITY_SHIFT
static scl_shift long_shift(const void *self) {
  (void)self;
  return SCL_SHIFT_KEEPS;
}
#define LONG_SHIFT SCL_OFFER(SCL_ABILITY_SHIFT, scl_ability_shift, .shift = long_shift)
#else
#define LONG_SHIFT \
  { NULL, NULL }
#endif

/* With w_j ~ N(0, s^2) and K = exp(-g (u - w)^2) a coordinate:
 *   shrink = 2 g s^2/(1 + 2 g s^2), spread^2 = s^2/(1 + 2 g s^2)
 *   log c(u) = -log(1 + 2 g s^2)/2 - g u^2/(1 + 2 g s^2) */
static scl_status long_tilt(const void *self, const scl_law *law, scl_tilt *out, scl_error *error) {
  const double gamma = ((const shape *)self)->gamma;
  CHECK_VIEW(host_of(self), out, error);
  UPSET(host_of(self), "long.tilt", error);
  if (law->family != SCL_FAMILY_GAUSSIAN)
    return host_of(self)->fail(error, SCL_STATUS_UNSUPPORTED, "Gaussian laws alone");
  out->log_one = out->log_diagonal = out->log_mass = 0;
  for (size_t j = 0; j < out->dim; j++) {
    const double variance = law->scale[j] * law->scale[j], rate = 2 * gamma * variance;
    out->offset[j] = law->mean[j] / (1 + rate);
    out->shrink[j] = rate / (1 + rate);
    out->spread[j] = sqrt(variance / (1 + rate));
    out->log0[j] = -log1p(rate) / 2 - gamma * law->mean[j] * law->mean[j] / (1 + rate);
    out->log1[j] = 2 * gamma * law->mean[j] / (1 + rate);
    out->log2[j] = -gamma / (1 + rate);
    out->log_mass -= log1p(2 * rate) / 2;
    out->correlation[j] = rate / (1 + rate);
    out->pair_scale[j] = sqrt(variance * (1 + rate) / (1 + 2 * rate));
  }
  disturb_numbers("long.tilt", out->shrink, out->dim);
  disturb("long.tilt", "scl_tilt", out);
  return SCL_STATUS_OK;
}

static const scl_ability_bind bind_table = {
    .head = SCL_HEAD(scl_ability_bind), .bind = long_bind, .describe = long_describe};

static const void *long_ability(const void *self, const char *id) {
  (void)upset(host_of(self), "long.ability", NULL);
  return isnan(((const shape *)self)->gamma) && strcmp(id, SCL_ABILITY_BIND) == 0 ? &bind_table
                                                                                  : NULL;
}

static const scl_option long_option[] = {SCL_NUMBER(
    shape, gamma, NULL, "rate in exp(-gamma ||u - v||^2)", SCL_POSITIVE, .width = SCL_WIDTH_GAMMA)};

SPECIMEN(long, "a general kernel",
         SCL_KERNEL(.spaces = SCL_BIT(SCL_SPACE_DENSE), .gram = long_gram,
                    .diagonal = long_diagonal),
         SCL_INSTANCE(shape, long_option),
         SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_TILT, scl_ability_tilt, .tilt = long_tilt),
                       LONG_SHIFT),
         .ability = long_ability);

/* ------------ twice: another kernel times 2, by host->parts, in tables of its own */

static const scl_part *inner_of(const void *self) { return &((const shape *)self)->inner; }

/* A view of the plugin's own. */
static const scl_const_parameters *copy_view(const char *slot, const scl_const_parameters *from) {
  scl_const_parameters *to = open_table(slot, sizeof *to);
  FILL_TABLE(to, from);
  return to;
}

static void drop_view(const scl_const_parameters *view) {
  scl_const_parameters *memory;
  memcpy(&memory, &view, sizeof memory);
  (void)close_table(memory);
}

static scl_status twice_gram(const void *self, const scl_const_parameters *u,
                             const scl_const_parameters *v, double *out, ptrdiff_t stride,
                             scl_error *error) {
  const scl_host *host = host_of(self);
  UPSET(host, "twice.gram", error);
  const scl_const_parameters *left = copy_view("twice.gram", u);
  const scl_status status = host->parts->gram(inner_of(self), left, v, out, stride, error);
  drop_view(left);
  for (size_t i = 0; i < u->count; i++)
    for (size_t j = 0; j < v->count; j++)
      out[(ptrdiff_t)i * stride + (ptrdiff_t)j] *= 2;
  return status;
}

static scl_status twice_diagonal(const void *self, const scl_const_parameters *u, double *out,
                                 scl_error *error) {
  const scl_host *host = host_of(self);
  UPSET(host, "twice.diagonal", error);
  const scl_const_parameters *rows = copy_view("twice.diagonal", u);
  const scl_status status = host->parts->diagonal(inner_of(self), rows, out, error);
  drop_view(rows);
  for (size_t i = 0; i < u->count; i++)
    out[i] *= 2;
  return status;
}

static scl_status twice_bind(void *self, const scl_law *law, scl_error *error) {
  UPSET(host_of(self), "twice.bind", error);
  return host_of(self)->parts->bind(self, &((shape *)self)->inner, law, error);
}

static void twice_describe(const void *self, char *text, size_t size) {
  host_of(self)->parts->describe(inner_of(self), text, size);
}

static scl_status twice_tilt(const void *self, const scl_law *law, scl_tilt *out,
                             scl_error *error) {
  const scl_host *host = host_of(self);
  UPSET(host, "twice.tilt", error);
  scl_tilt *own = open_table("twice.tilt", sizeof *own);
  FILL_TABLE(own, out);
  const scl_status status = host->parts->tilt(inner_of(self), law, own, error);
  if (status == SCL_STATUS_OK) {
    out->log_one = own->log_one + log(2);
    out->log_diagonal = own->log_diagonal + log(2);
    out->log_mass = own->log_mass + log(2);
  }
  if (close_table(own)) return status;
  return host->fail(error, SCL_STATUS_INTERNAL, "the host wrote beyond the table of twice.tilt");
}

static const void *twice_ability(const void *self, const char *id) {
  static const scl_ability_bind table = {
      .head = SCL_HEAD(scl_ability_bind), .bind = twice_bind, .describe = twice_describe};
  if (strcmp(id, SCL_ABILITY_BIND) != 0) return NULL;
  return host_of(self)->parts->ability(inner_of(self), id) == NULL ? NULL : &table;
}

static const scl_option inner_option[] = {
    SCL_ROW(shape, inner, SCL_FORM_PARTS, "kernel", "gaussian", "the kernel", .range = 0)};

SPECIMEN(twice, "a kernel of another",
         SCL_KERNEL(.spaces = SCL_BIT(SCL_SPACE_DENSE), .gram = twice_gram,
                    .diagonal = twice_diagonal),
         SCL_INSTANCE(shape, inner_option),
         SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_TILT, scl_ability_tilt, .tilt = twice_tilt)),
         .ability = twice_ability);
