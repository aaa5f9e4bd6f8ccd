/* ramp, a nonlinearity with options that holds memory, and what may be wrong with the lives of
 * instances and with what they keep between calls, for "put". */
#include "specimen.h"

typedef struct ramp {
  scl_base base;
  double slope;
  size_t order;
  int32_t side;
  double *first, *second;
} ramp;

static const scl_host *host_of(const void *self) { return ((const scl_base *)self)->host; }

/* phi(z) = slope (1 + order/1000) z on one side, or |z| on both. */
static double value_of(const ramp *self, double z) {
  const double factor = self->slope * (1 + (double)self->order / 1000);
  if (self->side == 2) return factor * fabs(z);
  return (self->side == 0 ? z <= 0 : z >= 0) ? 0 : factor * z;
}

static void ramp_loop(const void *self, size_t count, const double *z, double *out) {
  (void)upset(host_of(self), "ramp.loop", NULL);
  for (size_t j = 0; j < count; j++)
    out[j] = value_of(self, z[j]);
}

static double *numbers_of(const ramp *self) {
  return self->base.host->allocate((self->order + 1) * sizeof(double));
}

static scl_status no_memory(const ramp *self, scl_error *error) {
  return self->base.host->fail(error, SCL_STATUS_NO_MEMORY, "no memory for %zu numbers",
                               self->order + 1);
}

static scl_status ramp_create(void *instance, scl_error *error) {
  ramp *self = instance;
  UPSET(host_of(self), "ramp.create", error);
  self->first = numbers_of(self);
  self->second = self->first == NULL ? NULL : numbers_of(self);
  if (self->second != NULL) return SCL_STATUS_OK;
  self->base.host->release(self->first);
  return no_memory(self, error);
}

static void ramp_destroy(void *instance) {
  const ramp *self = instance;
  self->base.host->release(self->first);
  self->base.host->release(self->second);
  (void)upset(host_of(self), "ramp.destroy", NULL);
}

static const scl_option ramp_options[] = {
    SCL_NUMBER(ramp, slope, "1", "factor of z", SCL_WITHIN(0.5, 4)),
    SCL_INTEGER(ramp, order, "6", "numbers that are held", SCL_WITHIN(0, 1000)),
    SCL_WORD(ramp, side, "left|right|both", "left", "the side that is flat, or both")};

SPECIMEN(ramp, "a nonlinearity with options",
         SCL_NONLINEARITY(.spaces = SCL_SPACES_RIDGE, .loop = ramp_loop),
         SCL_INSTANCE(ramp, ramp_options), .create = ramp_create, .destroy = ramp_destroy);

/* ------------ create and destroy */

/* Refuses the largest number that the option's range takes. */
static scl_status create_refuses_bound(void *self, scl_error *error) {
  if (((ramp *)self)->order < 1000) return ramp_create(self, error);
  return host_of(self)->fail(error, SCL_STATUS_BAD_OPTION, "order = 1000 is too large");
}

static scl_status create_refuses_default(void *self, scl_error *error) {
  if (((ramp *)self)->slope != 1) return ramp_create(self, error);
  return host_of(self)->fail(error, SCL_STATUS_BAD_OPTION, "slope = 1 is dull");
}

/* Looks past the end of its table for numbers above 7, which its option takes. */
static scl_status create_reads_table(void *self, scl_error *error) {
  static const double table[] = {1, 2, 3, 4, 5, 6, 7, 8};
  const double *volatile row = ((ramp *)self)->order > 7 ? NULL : table;
  return row[((ramp *)self)->order % 8] > 0 ? ramp_create(self, error) : SCL_STATUS_INTERNAL;
}

/* No status for one of its words. */
static scl_status create_returns_77(void *self, scl_error *error) {
  return ((ramp *)self)->side == 2 ? 77 : ramp_create(self, error);
}

/* Where the second array cannot be had, the first is not given back: `destroy` is not called. */
static scl_status create_leaks(void *instance, scl_error *error) {
  ramp *self = instance;
  self->first = numbers_of(self);
  if (self->first == NULL) return no_memory(self, error);
  self->second = numbers_of(self);
  return self->second == NULL ? no_memory(self, error) : SCL_STATUS_OK;
}

static scl_status create_without_sentence(void *instance, scl_error *error) {
  ramp *self = instance;
  (void)error;
  self->first = numbers_of(self);
  return self->first == NULL ? SCL_STATUS_NO_MEMORY : SCL_STATUS_OK;
}

/* Writes to memory without a look at whether there was any. */
static scl_status create_trusts_memory(void *instance, scl_error *error) {
  ramp *self = instance;
  (void)error;
  self->first = numbers_of(self);
  memset(self->first, 0, (self->order + 1) * sizeof(double));
  return SCL_STATUS_OK;
}

static void destroy_half(void *self) { host_of(self)->release(((ramp *)self)->first); }

/* ------------ state between calls, and memory */

/* Keeps the option of the first instance for all that follow. */
static void loop_first_instance(const void *self, size_t count, const double *z, double *out) {
  static double slope;
  if (slope == 0) slope = ((const ramp *)self)->slope;
  for (size_t j = 0; j < count; j++)
    out[j] = tanh(slope * z[j]);
}

/* Keeps its option where the next instance overwrites it. */
static double shared_slope;

static scl_status create_shared(void *self, scl_error *error) {
  shared_slope = ((ramp *)self)->slope;
  return ramp_create(self, error);
}

static void loop_shared(const void *self, size_t count, const double *z, double *out) {
  (void)self;
  for (size_t j = 0; j < count; j++)
    out[j] = shared_slope * z[j];
}

/* Counts its calls, and the count is seen in what it computes. */
static void loop_counts_calls(const void *self, size_t count, const double *z, double *out) {
  static double calls;
  (void)self;
  calls++;
  for (size_t j = 0; j < count; j++)
    out[j] = z[j] * (1 + 1e-12 * calls);
}

/* The loop for float32 forgets the option: it is right at the default alone. */
static void loop_default_float32(const void *self, size_t count, const float *z, float *out) {
  ramp usual = *(const ramp *)self;
  usual.slope = 1;
  for (size_t j = 0; j < count; j++)
    out[j] = (float)value_of(&usual, (double)z[j]);
}

/* Computes something else, and says nothing, where memory for its scratch is short. */
static void loop_silent(const void *self, size_t count, const double *z, double *out) {
  double *squares = host_of(self)->allocate(count * sizeof *squares);
  for (size_t j = 0; j < count && squares != NULL; j++)
    squares[j] = z[j] * z[j];
  for (size_t j = 0; j < count; j++)
    out[j] = squares == NULL ? 0 : z[j] * squares[j];
  host_of(self)->release(squares);
}

typedef struct job {
  const double *z;
  double *out;
  size_t count;
} job;

enum { PIECE = 2 };

static scl_status square(void *context, size_t index, scl_error *error) {
  const job *j = context;
  (void)error;
  for (size_t k = index * PIECE; k < j->count && k < (index + 1) * PIECE; k++)
    j->out[k] = j->z[k] * j->z[k];
  return SCL_STATUS_OK;
}

/* Ignores the status of host->parallel, so that Ctrl-C leaves a part uncomputed. */
static void loop_ignores_cancel(const void *self, size_t count, const double *z, double *out) {
  job j = {z, out, count};
  (void)host_of(self)->parallel((count + PIECE - 1) / PIECE, square, &j, NULL);
}

const fault faults_of_instances[] = {FAULT(create_refuses_bound), FAULT(create_refuses_default),
                                     FAULT(create_reads_table),   FAULT(create_returns_77),
                                     FAULT(create_leaks),         FAULT(create_without_sentence),
                                     FAULT(create_trusts_memory), FAULT(destroy_half),
                                     FAULT(loop_first_instance),  FAULT(create_shared),
                                     FAULT(loop_shared),          FAULT(loop_counts_calls),
                                     FAULT(loop_default_float32), FAULT(loop_silent),
                                     FAULT(loop_ignores_cancel),  {NULL, NULL}};
