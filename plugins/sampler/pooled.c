/* Rows shared by pools: R rows w_1 .. w_R are drawn by another sampler and projected once, and each
 * parameter of fan_in q reads q different ones of them, chosen uniformly (Mroueh, Rennie and Goel
 * 2015, Random maxout features, table 3). X W' costs R products per row of data, not T q.
 *
 * The rows that one parameter reads are independent with the base's law. So each feature has the
 * law, and the map the kernel, of independent rows. Features that share rows are correlated: for
 * large T the error approaches that of R rows. */
#include "shared/supports.h"

/* The last stream that a component may use; samplers use the streams from 0 on. */
enum { STREAM_POOL = 15 };

typedef struct pooled {
  scl_base base;
  scl_part rows; /* the sampler of the shared rows */
  size_t projections;
} pooled;

static const scl_option options[] = {
    {.name = "base",
     .help = "the sampler of the shared rows: dense and independent ones, as sc.sampler.gaussian{}",
     .words = "sampler",
     .fallback = "gaussian",
     .forms = SCL_FORM_PARTS,
     SCL_AT(pooled, rows)},
    SCL_INTEGER(pooled, projections, "1000", "number R of shared rows; at least fan_in",
                SCL_WITHIN(1, INT32_MAX))};

/* ------------ the rows are the base's */

/* Refuses bases that learn or weight their rows. */
static scl_status pooled_create(void *instance, scl_error *error) {
  const pooled *self = instance;
  const scl_host *host = self->base.host;
  if (host->parts->ability(&self->rows, SCL_ABILITY_LEARN) == NULL &&
      host->parts->ability(&self->rows, SCL_ABILITY_SCALES) == NULL)
    return SCL_STATUS_OK;
  return host->fail(error, SCL_STATUS_UNSUPPORTED,
                    "option 'base': sampler.%s learns its rows from data or weights them, and a "
                    "pool takes independent rows of one law, as sampler.gaussian draws them",
                    self->rows.plugin->name);
}

/* The base draws `projections` rows, whatever T is. */
static scl_status pooled_layout(const void *instance, size_t dim, scl_layout *out,
                                scl_error *error) {
  const pooled *self = instance;
  const scl_host *host = self->base.host;
  const char *name = self->rows.plugin->name;
  scl_layout base = {SCL_HEAD(scl_layout), .count = self->projections};
  const scl_status status = host->parts->layout(&self->rows, dim, &base, error);
  if (status != SCL_STATUS_OK) return status;
  if (base.space != SCL_SPACE_DENSE)
    return host->fail(
        error, SCL_STATUS_UNSUPPORTED,
        "option 'base': the rows of sampler.%s are not dense; those of sampler.gaussian are", name);
  if (base.block != 1 || base.flags & SCL_LAYOUT_DEPENDENT)
    return host->fail(
        error, SCL_STATUS_UNSUPPORTED,
        "option 'base': the rows of sampler.%s depend on each other, and a pool takes "
        "independent ones, as sampler.gaussian draws them",
        name);
  out->has_bias = base.has_bias;
  out->tag = base.tag;
  return SCL_STATUS_OK;
}

static scl_status pooled_draw_rows(const void *instance, const scl_draw *draw,
                                   const scl_parameters *out, scl_error *error) {
  const pooled *self = instance;
  return self->base.host->parts->draw(&self->rows, draw, out, error);
}

static scl_status pooled_law(const void *instance, const scl_draw *draw, scl_law *out,
                             scl_error *error) {
  const pooled *self = instance;
  return self->base.host->parts->law(&self->rows, draw, out, error);
}

static scl_status pooled_characteristic(const void *instance, const scl_draw *draw, size_t rows,
                                        const double *delta, ptrdiff_t stride, double *out,
                                        scl_error *error) {
  const pooled *self = instance;
  return self->base.host->parts->characteristic(&self->rows, draw, rows, delta, stride, out, error);
}

/* Law and characteristic function are offered where the base offers them, including through its
 * simple form, which is tested by asking for those of one column. */
static const void *pooled_ability(const void *instance, const char *id) {
  static const scl_ability_law law_table = {SCL_HEAD(scl_ability_law), .law = pooled_law};
  static const scl_ability_characteristic characteristic_table = {
      SCL_HEAD(scl_ability_characteristic), .characteristic = pooled_characteristic};
  const scl_draw one = {SCL_HEAD(scl_draw), .dim = 1, .total = 1, .planes = 1};
  double numbers[6] = {0};
  scl_law found = {SCL_HEAD(scl_law),     .dim = 1,
                   .mean = numbers,       .scale = numbers + 1,
                   .degree = numbers + 2, .degree_scale = numbers + 4};
  if (strcmp(id, SCL_ABILITY_LAW) == 0)
    return pooled_law(instance, &one, &found, NULL) == SCL_STATUS_UNSUPPORTED ? NULL : &law_table;
  if (strcmp(id, SCL_ABILITY_CHARACTERISTIC) == 0)
    return pooled_characteristic(instance, &one, 0, NULL, 1, NULL, NULL) == SCL_STATUS_UNSUPPORTED
               ? NULL
               : &characteristic_table;
  return NULL;
}

/* ------------ which rows a parameter reads */

static size_t shared_rows(const void *instance, size_t count, size_t fan_in) {
  (void)count, (void)fan_in;
  const pooled *self = instance;
  return self->projections;
}

/* out (count x fan_in): the rows that parameters first .. first+count-1 read. */
static scl_status pool(const void *instance, const scl_draw *draw, size_t first, size_t count,
                       size_t fan_in, int32_t *out, scl_error *error) {
  const pooled *self = instance;
  const scl_host *host = self->base.host;
  const scl_address address = {draw->address.seed, draw->address.stream + STREAM_POOL};
  if (fan_in > self->projections)
    return host->fail(
        error, SCL_STATUS_BAD_OPTION,
        "'projections' = %zu rows are shared, and each parameter reads %zu different ones",
        self->projections, fan_in);
  for (size_t i = 0; i < count; i++)
    support_draw(host->random, address, first + i, self->projections, fan_in, out + i * fan_in);
  return SCL_STATUS_OK;
}

const scl_plugin scullery_plugin = {
    .name = "pooled",
    .summary = "R rows of another sampler, shared by all pools",
    .definition = "draw(t, r) = base.draw and base.draw(t, r)\n"
                  "pool(t, q, r) = r.subset(15, t, projections, q)",
    .doc =
        "Draws R = projections rows by the base. Parameter t of a nonlinearity with fan_in q "
        "(maxout)\n"
        "reads q different ones of them, chosen uniformly by (seed, t): R products a row of data\n"
        "instead of T q.\n"
        "The kernel is that of pools with rows of their own. Features that share rows are\n"
        "correlated, so the error no longer falls once T q is well above R (Mroueh, Rennie and\n"
        "Goel 2015, Random maxout features, table 3).",
    SCL_SAMPLER(.space = SCL_SPACE_DENSE, .draw = pooled_draw_rows, .layout = pooled_layout),
    SCL_INSTANCE(pooled, options),
    SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_POOL, scl_ability_pool, .rows = shared_rows, .pool = pool)),
    .create = pooled_create,
    .ability = pooled_ability};
