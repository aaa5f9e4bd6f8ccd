/* Kinds of maps. Each kind is one table in a file kind_NAME.c, and one row of the list in kinds.c.
 * The first kind of the list that claims a map makes it. This is decided once, at the end of
 * scl_map_create, from the parts of the map and before its parameters are drawn. The kinds `staged`
 * and `union` are made of other maps, and are not in the list. */
#ifndef SCULLERY_MAP_KINDS_H
#define SCULLERY_MAP_KINDS_H

#include "map/map_internal.h"
#include "map/tiles.h"

/* Features wanted: those of parameters first .. first+count-1 of the rows of x, or of sparse rows,
 * in phi, which has `count` columns for each output. x, the sparse rows and phi have the map's
 * dtype. */
struct scl_map_request {
  const void *x;
  scl_csr csr; /* in place of x: borrowed; empty (starts NULL) where rows are dense */
  void *phi;
  ptrdiff_t x_stride, phi_stride;
  size_t rows, first, count;
  /* Of a map with a grid: `phi` takes v in place of features; or it takes features as they are,
   * without rounding. Only for kinds with a slot `tile`; other kinds write features. */
  bool whole, unrounded;
};

/* Slots marked "or NULL" may be left out. */
struct scl_map_kind {
  const char *name;
  scl_method method;
  bool keeps_parameters; /* needs `natural` */
  bool phi_of_z;         /* feature t is s_t phi(z_t), so that it may be a bit or a code */
  /* Feature t depends on parameter t alone, and its value on no other row or parameter: with fewer
   * parameters the features are the first of these, times a factor. */
  bool separate;

  /* The map has its parts, the bound kernel and the tilts, and no parameters. */
  bool (*claims)(const scl_map *map, const scl_map_spec *spec);
  /* Make what the features need from the drawn parameters. Not called for a bare map. What it has
   * allocated when it fails is released by `release`. */
  scl_status (*make)(scl_map *map, const scl_map_spec *spec, const scl_parameter_set *drawn,
                     scl_error *error);
  /* Release the members of `own`, of which some may not be made; or NULL. */
  void (*release)(scl_map *map);
  /* Bytes of the members of `own`; or NULL. */
  size_t (*bytes)(const scl_map *map);
  /* Set the members of a spec, but for sampler, phi, sizes, seed and dtype, that make the same
   * features again; or NULL. */
  void (*fill_spec)(const scl_map *map, scl_map_spec *spec);
  /* `some` is a copy of the map's struct: give it its own members for parameters keep[0 ..
   * count-1], such that `release` releases those alone, also after a failure; or NULL, where a copy
   * serves. Only for parameters that read one column each. */
  scl_status (*keep_some)(const scl_map *map, const size_t *keep, size_t count, scl_map *some,
                          scl_error *error);

  size_t (*features)(const scl_map *map); /* D */
  /* Write features; or NULL, where they are not dense. scl_map_apply_tiles serves kinds whose
   * features are made from one projection, by way of the slot `tile`. */
  scl_status (*apply)(const scl_map *map, const scl_map_request *request, scl_error *error);
  /* y of a tile from its z, before scales; or NULL, where `apply` is another function. */
  scl_status (*tile)(const scl_map *map, const scl_map_tile *tile, scl_error *error);

  /* Whether `apply` reads sparse rows without their zeros; or NULL: by the projection, where there
   * is a slot `tile`. */
  bool (*takes_csr)(const scl_map *map);
  /* The map whose features these are made of; or NULL. */
  const scl_map *(*inner)(const scl_map *map);

  /* G, as scl_map_gram; or NULL, where there is none. */
  scl_status (*gram)(const scl_map *map, scl_symmetric **out, scl_error *error);
  /* The kernel that features without K estimate, as scl_map_induced; or NULL. */
  scl_status (*induced)(const scl_map *map, const scl_matrix *x, const scl_matrix *y,
                        scl_matrix *out, scl_error *error);
};

extern const scl_map_kind scl_map_kind_section, scl_map_kind_cells, scl_map_kind_plain,
    scl_map_kind_exact, scl_map_kind_quadrature, scl_map_kind_sampled, scl_map_kind_staged,
    scl_map_kind_union;

const scl_map_kind *scl_map_kind_of(const scl_map *map, const scl_map_spec *spec);

/* A request of all parameters for sparse rows, which `held` has in the map's dtype: the caller
 * releases it, also after a failure. Refuses rows that do not have the map's columns. */
scl_status scl_map_request_csr(const scl_map *map, const scl_csr *rows, scl_csr *held,
                               scl_map_request *out, scl_error *error);
/* The same request for `count` of its rows, from `first` on; phi and the stride are to be set. */
scl_map_request scl_map_request_rows(const scl_map *map, const scl_map_request *request,
                                     size_t first, size_t count);

/* Features as they are used: rounded where the map has a grid. */
scl_status scl_map_apply_request(const scl_map *map, const scl_map_request *request,
                                 scl_error *error);
/* scl_map_apply without rounding to whole numbers. */
scl_status scl_map_apply_numbers(const scl_map *map, const scl_map_request *request,
                                 scl_error *error);
/* The slot `features` of dense kinds: fan_out features for each parameter. */
size_t scl_map_dense_features(const scl_map *map);
/* apply.c: the slot `apply` of kinds with a slot `tile`. */
scl_status scl_map_apply_tiles(const scl_map *map, const scl_map_request *request,
                               scl_error *error);

#endif
