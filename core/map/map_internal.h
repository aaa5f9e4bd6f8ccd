/* What the files of the map share. */
#ifndef SCULLERY_MAP_INTERNAL_H
#define SCULLERY_MAP_INTERNAL_H

#include "map/map.h"
#include "map/space.h"
#include "plugin/kernel.h"
#include "plugin/nonlinearity.h"
#include <stdatomic.h>

/* The tilt for parameters of one in-degree (sparse), or for all (any other space: one of these). */
typedef struct scl_tilt_set {
  scl_tilt tilt;
  double *memory;    /* NULL: in-degree of probability 0 */
  double log_degree; /* log P(in-degree), 0 where there is none */
} scl_tilt_set;

typedef struct scl_map_kind scl_map_kind;

struct scl_map {
  scl_instance *sampler,
      *phi;             /* phi: a nonlinearity, or a kernel (its sections, bound to the law) */
  scl_instance *kernel; /* K, bound to the sampler's law; NULL without K */
  scl_origin origin;    /* of the parameters; its sampler is `sampler` */
  scl_matrix state;     /* what the sampler learnt; empty where it learns nothing */
  size_t dim, count, fan_in, fan_out;
  uint64_t seed;
  scl_dtype dtype;
  scl_method method;
  scl_layout layout;           /* dense where structured rows were given as a matrix */
  const scl_space_rule *space; /* of the layout */
  scl_shape shape;             /* of kernel sections: one number to one feature */
  const scl_map_kind *kind;    /* chosen once, by scl_map_create (kinds.h) */
  bool given, bare;            /* given: parameters came as a matrix */

  /* Row of scalar k of parameter t: pool[t fan_in + k] where rows are shared, else k plane + t. */
  size_t plane;
  int32_t *pool;
  size_t pool_rows;

  /* float64, as drawn, structured ones as dense rows (plane = count): kept when given, when there
   * is a kernel, and of kernel sections. */
  scl_parameter_set natural;
  scl_projection *projection; /* tilted where there is a tilt */
  void *scale;                /* count: s_t, or c(w_t) exp(-log_scale), in dtype */
  double log_scale;

  /* Of maps with a K: the sampler's law, and the tilts of K for it (NULL: there are none). */
  scl_law_set law;
  scl_tilt_set *tilts;
  size_t n_tilts;

  /* Of weighted maps: the standard deviation of z, of each column of x (dim, float64), of each
   * parameter (count, dtype; stride 0: all are the same), or as a projection of x^2 on the squared
   * spreads of each entry of a support; and the largest gap of the quadrature. */
  struct {
    double *column;
    void *parameter;
    ptrdiff_t stride;
    scl_projection *variance;
  } spread;
  _Atomic double *quadrature_gap;

  /* Of sampled maps: a map over `samples` drawn w_s without K, and mixing (samples x count, dtype) =
   * K(w_s, w_t) / samples. */
  struct {
    scl_map *inner;
    void *mixing;
  } sampled;

  /* Of sections: L (count x count, row-major lower), k(W, W) + jitter I = L L', with the jitter over
   * the mean of the diagonal. W far from 0 with a kernel that does not see it: a point near W (dim)
   * and behind it W less that point (count x dim). */
  struct {
    double *whitening, jitter, *pilot;
  } section;

  scl_cells *cells; /* of one-hot cells: the dictionary of occupied cells */
};

/* The row of the projection (and, with plane = count, of `natural`) that scalar k of parameter t
 * reads. */
static inline size_t scl_map_row(const scl_map *map, size_t plane, size_t t, size_t k) {
  return map->pool == NULL ? k * plane + t : (size_t)map->pool[t * map->fan_in + k];
}

/* map.c: rows of the map's dimension; the sentence begins with `what`. */
scl_status scl_map_check_rows(const scl_map *map, const char *what, const scl_matrix *x,
                              scl_error *error);
/* The layout of parameters as kernels see them, and as matrices hold them. */
scl_layout scl_map_seen_layout(const scl_map *map);
/* Keep the drawn parameters as kernels see them, dense rows in place of structured ones; the
 * map's own parameters, one scalar after the other whatever is shared; the same map without K, its
 * parameters kept. */
scl_status scl_map_keep_natural(scl_map *map, const scl_parameter_set *drawn, scl_error *error);
scl_status scl_map_own_parameters(const scl_map *map, scl_parameter_set *out, scl_error *error);
scl_status scl_map_draw_again(const scl_map *map, scl_map **out, scl_error *error);

/* weighting.c. K between parameters u and v given as sets of rows (scalar k of parameter t in row
 * k count + t), called `left` and `right` in the sentence of a K that is not finite. */
void scl_map_release_tilts(scl_map *map);
scl_status scl_map_gram_between(const scl_map *map, const scl_parameter_set *u, size_t u_count,
                                const char *left, const scl_parameter_set *v, size_t v_count,
                                const char *right, double *out, ptrdiff_t stride, scl_error *error);

/* kernel_matrix.c: refuse K that is NaN or infinite between two lists of which this is a part: what
 * they are ("parameter", "sample", "row"), and how many come before the part. */
typedef struct scl_kernel_values {
  const scl_instance *kernel;
  const char *left, *right;
  size_t first_row, first_col, rows, cols;
  const double *values;
  ptrdiff_t stride;
} scl_kernel_values;
scl_status scl_kernel_check_values(const scl_kernel_values *k, scl_error *error);

/* apply.c: z of all rows and parameters, tile by tile, without phi: `take` is called on many
 * threads, with the first row and the first parameter of a tile. First rows are multiples of 64. */
typedef scl_status (*scl_take_tile)(void *context, const scl_block *z, size_t first_row,
                                    size_t first, scl_error *error);
scl_status scl_map_project(const scl_map *map, const void *x, ptrdiff_t x_stride, size_t rows,
                           scl_take_tile take, void *context, scl_error *error);

#endif
