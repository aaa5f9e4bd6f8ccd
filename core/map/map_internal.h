/* The struct of a map, and the functions that files of this folder share. */
#ifndef SCULLERY_MAP_INTERNAL_H
#define SCULLERY_MAP_INTERNAL_H

#include "map/map.h"
#include "map/space.h"
#include "plugin/kernel.h"
#include "plugin/nonlinearity.h"
#include <stdatomic.h>

typedef struct scl_map_kind scl_map_kind;       /* kinds.h */
typedef struct scl_map_request scl_map_request; /* kinds.h */

/* K's tilt of the law of one in-degree (sparse parameters), or of the whole law (all others). */
typedef struct scl_tilt_set {
  scl_tilt tilt;
  double *memory;    /* of the tilt's lists; NULL: the in-degree has probability 0 */
  double log_degree; /* log P(in-degree); 0 where there are no in-degrees */
} scl_tilt_set;

/* Kinds `exact` and `quadrature` (kind_weighted.c). The standard deviation v of z under the tilted
 * law has one of three forms, by the space of the parameters. */
typedef struct scl_weighting {
  double *column_spread;   /* one v for each row of x, the norm of spread o x: spreads, dim */
  void *parameter_spread;  /* one v for each parameter: count numbers in the map's dtype */
  ptrdiff_t spread_stride; /* of parameter_spread: 0 where all are equal, else 1 */
  _Atomic double *quadrature_gap; /* scl_map_quadrature_gap; NULL in the kind `exact` */
  bool shared_gap;                /* another map owns the gap */
} scl_weighting;

/* Kind `sampled` (kind_sampled.c): Phi = inner's features times mixing. */
typedef struct scl_sampling {
  scl_map *inner; /* without K, over samples w_s of the law, with scales 1/sqrt(samples) */
  void *mixing;   /* samples x count, dtype: K(w_s, w_t) / sqrt(samples) */
} scl_sampling;

/* Kind `section` (kind_section.c). */
typedef struct scl_sections {
  double *whitening; /* L, count x count, row-major lower: k(W, W) + jitter I = L L'; or NULL */
  double *factor; /* L of plain sections, made for the first row whose rest is asked for; or NULL */
  double jitter;  /* over the mean of the diagonal of k(W, W) */
  /* For a shift-invariant kernel whose parameters W are far from 0: a point near W (dim numbers),
   * then W less that point (count x dim); or NULL. */
  double *pilot;
  bool takes_csr;       /* the parameters are sparse, and the kernel takes them so */
  scl_pair_set *sparse; /* the parameters, for sparse rows: made for the first of them; or NULL */
  scl_prepared_work prepared; /* of the kernel, for the parameters less the pilot */
} scl_sections;

/* Kind `staged` (kind_staged.c). */
typedef struct scl_staging {
  const scl_map *base; /* borrowed, and so are the stages */
  const scl_fitted_stage **stages;
  size_t n_stages;
} scl_staging;

/* Kind `union` (kind_union.c). */
typedef struct scl_joining {
  scl_map_part *parts; /* with a reference to each map, and columns of their own */
  size_t count;
} scl_joining;

/* How y, which is a feature before its scale, becomes a whole number: v = round((y - offset)
 * inverse). Kinds without a slot `tile` have no scales apart: y is the feature. */
typedef struct scl_grid {
  float *offset, *inverse; /* D each; offset NULL: zeros */
  double *unit, *base;     /* D each: the feature is base + unit v; base NULL: zeros */
  bool learnt;
  _Atomic size_t rounded, clipped; /* of a learnt grid */
} scl_grid;

struct scl_map {
  atomic_size_t references; /* besides the first */
  /* What the map is made of. */
  scl_instance *sampler;
  scl_instance *phi; /* a nonlinearity; or a kernel k, bound to the sampler's law: its sections */
  scl_instance
      *kernel;       /* what compares parameters: K, bound to the law, or k of sections; or NULL */
  scl_origin origin; /* of the parameters; its sampler is `sampler` */
  scl_matrix state;  /* what the sampler learnt; empty where it learns nothing */
  size_t dim, count; /* d and T */
  size_t fan_in, fan_out; /* numbers z that phi takes for a parameter, and features that it makes */
  uint64_t seed;
  scl_dtype dtype;
  scl_layout layout;           /* dense where structured rows were given as a matrix */
  const scl_space_rule *space; /* of the layout */
  scl_shape shape;             /* of kernel sections: one number to one feature */
  bool given, bare;            /* scl_map_spec: parameters given as a matrix; nothing drawn */
  bool by_columns;             /* weights are drawn by columns (drawn_columns.h) */
  bool phase;                  /* the biases are phases, uniform on [-pi, pi], of the map's own */

  /* Row of scalar k of parameter t: pool[t fan_in + k] where rows are shared, else k plane + t. */
  size_t plane;
  int32_t *pool;
  size_t pool_rows;

  /* float64, as drawn, structured ones as dense rows (plane = count). Stored where the kind needs
   * them, where they were given and where the caller asked for them; else empty. */
  scl_parameter_set natural;
  scl_projection *projection; /* x to z; with a tilt, on tilted parameters */
  scl_projection *variance;   /* x^2 to v^2, for SCL_SPREAD_ENTRY; else NULL */
  void *scale;                /* count: s_t, or c(w_t) exp(-log_scale), in dtype */
  double log_scale;
  scl_whole whole; /* the type of whole numbers that features are rounded to, if there is a grid */
  scl_grid *grid;  /* NULL until it is learnt, and for features that are bits or one-hot */

  scl_law_set law;     /* of one parameter; empty where there is no kernel or no law */
  scl_tilt_set *tilts; /* K's, NULL where K has no tilt for the law */
  size_t n_tilts;

  const scl_map_kind *kind; /* chosen once, in scl_map_create */
  union {
    scl_weighting weighting;
    scl_sampling sampling;
    scl_sections sections;
    scl_staging staging;
    scl_joining joining;
    scl_cells *cells; /* the dictionary of occupied cells */
  } own;              /* only the files of the kind read these */
};

/* The row of the projection (and, with plane = count, of `natural`) that scalar k of parameter t
 * reads. */
static inline size_t scl_map_row(const scl_map *map, size_t plane, size_t t, size_t k) {
  return map->pool == NULL ? k * plane + t : (size_t)map->pool[t * map->fan_in + k];
}

/* parts.c: whether sampler, phi and K fit together; the sentence says what would. Needs the map's
 * layout, space and shape. */
scl_status scl_map_check_parts(const scl_map *map, const scl_map_spec *spec, scl_error *error);

/* map.c. Phases as biases of a set that has none; phase t depends on (seed, stream, first + t). */
scl_status scl_map_add_phases(uint64_t seed, uint64_t stream, size_t first, scl_parameter_set *set,
                              scl_error *error);
/* Refuses rows that do not have the map's dimension; the sentence begins with `what`. */
scl_status scl_map_check_rows(const scl_map *map, const char *what, const scl_matrix *x,
                              scl_error *error);
/* The layout of parameters as kernels see them, and as matrices hold them. */
scl_layout scl_map_seen_layout(const scl_map *map);
/* *out = the map's own parameters from `natural`: scalar k of parameter t in row k count + t, also
 * where rows are shared. */
scl_status scl_map_own_parameters(const scl_map *map, scl_parameter_set *out, scl_error *error);
/* s_t of every parameter of a map without K: `common`, or what the sampler says where it is 0. */
scl_status scl_map_set_scales(scl_map *map, const scl_parameter_set *drawn, double common,
                              scl_error *error);

/* whole.c: the grid of a map of whole numbers, where it is declared or given. */
scl_status scl_map_open_grid(scl_map *map, const scl_map_spec *spec, scl_error *error);
void scl_map_close_grid(scl_map *map);
/* The grid of these units and bases of the features, D numbers each. */
scl_status scl_map_set_grid(scl_map *map, const double *unit, const double *base, scl_error *error);
/* v of features first .. first+count-1 from their y; false: a number is not finite. */
bool scl_map_round(const scl_map *map, size_t first, size_t count, const float *y, void *v);
/* scl_map_request with `whole` or not, of kinds that write features: these are rounded
 * afterwards. */
scl_status scl_map_apply_rounded(const scl_map *map, const scl_map_request *request,
                                 scl_error *error);

/* kind_section.c: scl_map_rest of sections of the columns S of rows (NULL: all), times scale^2; phi:
 * the part's features, times scale, x->features from one row to the next. */
scl_status scl_map_section_rest(const scl_map *map, const size_t *columns, const scl_map_rows *x,
                                double scale, const double *phi, double *out, scl_error *error);

/* map_kernel.c: bind K, or k of sections, to the sampler's law, and ask K for its tilts. */
scl_status scl_map_bind_kernel(scl_map *map, const scl_map_spec *spec, scl_error *error);
void scl_map_release_tilts(scl_map *map);
/* K between parameters u and v given as sets of rows (scalar k of parameter t in row k count + t),
 * which the sentence of a K that is not finite calls `left` and `right`. */
scl_status scl_map_gram_between(const scl_map *map, const scl_parameter_set *u, size_t u_count,
                                const char *left, const scl_parameter_set *v, size_t v_count,
                                const char *right, double *out, ptrdiff_t stride, scl_error *error);
/* The slot `gram` of kinds with K. */
scl_status scl_map_kernel_gram(const scl_map *map, scl_symmetric **out, scl_error *error);

/* induced_kernel.c: the slot `induced` of kinds with a nonlinearity and without K. */
scl_status scl_map_induced_by_law(const scl_map *map, const scl_matrix *x, const scl_matrix *y,
                                  scl_matrix *out, scl_error *error);

/* kernel_matrix.c: refuse values of K that are NaN or infinite. They are a part of a matrix between
 * two lists: what the lists hold ("parameter", "sample", "row"), and how many come before the
 * part. */
typedef struct scl_kernel_values {
  const scl_instance *kernel;
  const char *left, *right;
  size_t first_row, first_col, rows, cols;
  const double *values;
  ptrdiff_t stride;
} scl_kernel_values;
scl_status scl_kernel_check_values(const scl_kernel_values *k, scl_error *error);

#endif
