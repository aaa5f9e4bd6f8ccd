/* One-hot of the grid cell (Rahimi and Recht 2008, random binning): the category of a row is the d
 * integers
 *
 *   floor((x_j - u_j)/delta_j)
 *
 * With pitches delta_j ~ Gamma(2, gamma) and shifts u_j ~ U[0, delta_j]:
 *
 *   P(x and y share a cell) = exp(-gamma |x - y|_1) */
#include <scullery/plugin.h>

static scl_status key(const void *self, size_t planes, size_t *words, size_t *levels,
                      scl_error *error) {
  (void)self, (void)error;
  *words = planes;
  *levels = 0;
  return SCL_STATUS_OK;
}

/* The category of a cell is its z->planes coordinates, adjacent in `out`; z has one plane for each
 * coordinate. */
static scl_status categories(const void *self, const scl_const_block *z, int32_t *out,
                             ptrdiff_t row_stride, scl_error *error) {
  (void)self, (void)error;
  for (size_t i = 0; i < z->rows; i++)
    for (size_t k = 0; k < z->planes; k++) {
      const double *from =
          (const double *)z->data + (ptrdiff_t)i * z->row_stride + (ptrdiff_t)k * z->plane_stride;
      int32_t *to = out + (ptrdiff_t)i * row_stride + k;
      for (size_t j = 0; j < z->cols; j++)
        to[j * z->planes] = (int32_t)from[j];
    }
  return SCL_STATUS_OK;
}

const scl_plugin scullery_plugin = {
    .name = "bins",
    .summary = "One-hot of the grid cell: random binning features",
    .definition = "code(z) = z",
    .doc =
        "phi(w, x) is 1 at the column of x's cell in grid w, and 0 elsewhere: all d coordinates\n"
        "in, one sparse entry a grid out. The cell is floor((x_j - u_j)/delta_j), j = 1 .. d.\n"
        "Cells never seen in fitting contribute nothing.\n"
        "With sampler.grid{gamma=} (pitches Gamma(2, gamma), shifts uniform) it estimates\n"
        "exp(-gamma |x-y|_1) (Rahimi and Recht 2008, random binning).",
    SCL_NONLINEARITY(.spaces = SCL_BIT(SCL_SPACE_GRID), .fan_in = SCL_FAN_IN_ALL,
                     .flags = SCL_SHAPE_ONE_HOT),
    SCL_ABILITIES(
        SCL_OFFER(SCL_ABILITY_CATEGORIES, scl_ability_categories, .key = key,
                  .categories = categories),
        SCL_OFFER(SCL_ABILITY_FACTS, scl_ability_facts, .bound = 1, .lipschitz = INFINITY))};
