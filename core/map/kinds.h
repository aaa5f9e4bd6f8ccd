/* Kinds of maps. Each kind is one table in one file, kind_NAME.c; its facts and functions are all
 * that distinguishes it. scl_map_create chooses the kind once, before parameters are drawn:
 *
 *   plain      Phi(x)_t = s_t phi(z_t), z the projection of x on parameter t
 *   weighted   with K, in closed form or by quadrature: c(w_t) S(z_t, v), S the smoothing of phi
 *   sampled    with K, by Monte Carlo: the mean of K(w_t, w_s) phi(w_s, x) over samples w_s
 *   section    phi is a kernel: k(w_t, x), or L^-1 k(W, x) where they are whitened
 *   cells      one-hot cells of grids
 *
 * To add a kind: a file with its table, a declaration below, and a line where scl_map_create
 * (map.c) or scl_weighting_bind (weighting.c) chooses. */
#ifndef SCULLERY_MAP_KINDS_H
#define SCULLERY_MAP_KINDS_H

#include "map/map_internal.h"

struct scl_map_kind {
  const char *name;
  bool needs_natural; /* parameters are kept as drawn (scl_map.natural): a kernel reads them */
  bool smooths;       /* `features` takes spreads v */
  bool has_codes;     /* nonlinearities with categories give codes of z */
  bool two_valued;    /* a phi of two values makes features of two values */
  bool one_by_one;    /* feature t takes parameter t alone: few features are the first of many */

  /* Whether sampler and phi fit together. */
  scl_status (*check)(const scl_map *map, scl_error *error);
  /* Before parameters are drawn: refuse a K, or bind K (or a kernel phi) to the sampler's law. It may
   * replace map->kind. A bare map ends here. */
  scl_status (*bind)(scl_map *map, const scl_map_spec *spec, scl_error *error);
  /* All that applying needs, from the drawn parameters. It may release these early. */
  scl_status (*build)(scl_map *map, const scl_map_spec *spec, scl_parameter_set *drawn,
                      scl_error *error);
  /* As scl_map_apply_part. NULL: no dense features. */
  scl_status (*apply)(const scl_map *map, size_t first, size_t count, const void *x,
                      ptrdiff_t x_stride, size_t rows, void *phi, ptrdiff_t phi_stride,
                      scl_error *error);
  /* For scl_tiles_apply: a tile of features before they are scaled, from a tile of z. */
  scl_status (*features)(const scl_map *map, const scl_block *z, const scl_spread *v,
                         const scl_block *out, scl_error *error);
  /* As scl_map_gram. NULL: there is no K, and no G. */
  scl_status (*gram)(const scl_map *map, scl_symmetric **out, scl_error *error);
  /* As scl_map_induced. NULL: a K, whose maps have no kernel of rows in closed form. */
  scl_status (*induced)(const scl_map *map, const scl_matrix *x, const scl_matrix *y,
                        scl_matrix *out, scl_error *error);
  /* The kind's own memory: its bytes, and its release. NULL: there is none. */
  size_t (*bytes)(const scl_map *map);
  void (*release)(scl_map *map);
};

extern const scl_map_kind scl_map_kind_plain, scl_map_kind_weighted, scl_map_kind_sampled,
    scl_map_kind_section, scl_map_kind_cells;

/* ------------------------------------------------------------ functions that kinds share */

/* parts.c: whether the parts fit together; the sentence names what would. */
scl_status scl_parts_check_section(const scl_map *map, scl_error *error);
scl_status scl_parts_check_nonlinearity(const scl_map *map, scl_error *error);
scl_status scl_parts_check_kernel(const scl_map *map, const scl_instance *k, scl_error *error);

/* apply.c: the slot `apply` of kinds with `features`, tile by tile on the pool's threads. */
scl_status scl_tiles_apply(const scl_map *map, size_t first, size_t count, const void *x,
                           ptrdiff_t x_stride, size_t rows, void *phi, ptrdiff_t phi_stride,
                           scl_error *error);

/* weighting.c: the slots `bind` and `gram` of maps with a K. bind chooses between weighted and
 * sampled. */
scl_status scl_weighting_bind(scl_map *map, const scl_map_spec *spec, scl_error *error);
scl_status scl_weighting_gram(const scl_map *map, scl_symmetric **out, scl_error *error);

/* induced_kernel.c: the slot `induced` of features phi(z): the dual of phi, or the kernel that the
 * sampler names. */
scl_status scl_map_phi_induced(const scl_map *map, const scl_matrix *x, const scl_matrix *y,
                               scl_matrix *out, scl_error *error);

#endif
