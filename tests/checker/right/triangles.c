/* Weights with a triangular density, by columns: a sampler without a bias. */
#include <scullery/plugin.h>

typedef struct triangles {
  scl_base base;
  double scale;
} triangles;

static const scl_option options[] = {SCL_NUMBER(triangles, scale, "1", "half of the base",
                                                SCL_ABOVE(0, 1e9), .width = SCL_WIDTH_FREQUENCY)};

/* Columns from `column` on of parameter `index`. */
static void weights(const triangles *self, const scl_draw *draw, size_t index, size_t column,
                    size_t count, double *w) {
  for (size_t j = 0; j < count; j++) {
    double u[2];
    self->base.host->random->uniform(draw->address.seed, draw->address.stream, index,
                                     2 * (column + j), 2, u);
    w[j] = self->scale * (u[0] - u[1]);
  }
}

static scl_status rows(const void *self, const scl_draw *draw, const scl_parameters *out,
                       scl_error *error) {
  (void)error;
  for (size_t t = 0; t < out->count; t++)
    weights(self, draw, out->first + t, 0, out->dim, out->weights + (ptrdiff_t)t * out->stride);
  return SCL_STATUS_OK;
}

static scl_status column(const void *self, const scl_draw *draw, size_t column, size_t first,
                         size_t count, double *out, scl_error *error) {
  (void)error;
  for (size_t t = 0; t < count; t++)
    weights(self, draw, first + t, column, 1, &out[t]);
  return SCL_STATUS_OK;
}

const scl_plugin scullery_plugin = {
    .name = "triangles",
    .version = "1",
    .summary = "a triangular density",
    .definition = "draw(t, r) = map(range(r.dim), function(j)\n"
                  "  return scale*(r.uniform(0, t, 2*j - 2) - r.uniform(0, t, 2*j - 1)) end)\n"
                  "density(w) = max(1 - abs(w)/scale, 0)",
    .doc = "w = scale (u - v), u and v uniform on [0, 1].",
    SCL_SAMPLER(.space = SCL_SPACE_DENSE, .draw = rows),
    SCL_ABILITIES(SCL_OFFER(SCL_ABILITY_COLUMNS, scl_ability_columns, .column = column)),
    SCL_INSTANCE(triangles, options)};
