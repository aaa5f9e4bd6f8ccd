/* The feature map: X block --project--> z --phi or its smoothing--> features --scale--> Phi block.
 *
 * Without K: Phi(x)_t = phi(w_t, x) / sqrt(T). With K: Phi(x)_t = E_{w~p} K(w_t, w) phi(w, x),
 * exactly c(w_t) S(<w_t', x>, v) where the kernel has a tilt for the sampler's law, else the mean
 * over common Monte Carlo samples. Features of one output lie together: feature k T + t is output k
 * of parameter t. */
#ifndef SCULLERY_MAP_H
#define SCULLERY_MAP_H

#include "algebra/matrix.h"
#include "algebra/symmetric.h"
#include "map/parameters.h"

typedef enum scl_method {
  SCL_METHOD_DIRECT = 0,
  SCL_METHOD_EXACT,
  SCL_METHOD_QUADRATURE,
  SCL_METHOD_MONTE_CARLO
} scl_method;
/* "direct", "exact", "quadrature", "monte-carlo". */
const char *scl_method_name(scl_method method);

typedef struct scl_map_spec {
  scl_instance *sampler, *phi, *kernel; /* kernel may be NULL; the map takes references */
  size_t dim, count;                    /* d and T */
  uint64_t seed;
  scl_dtype dtype;
  const scl_matrix *parameters; /* instead of drawing: rows as scl_parameters_matrix writes them
                                   (count is then their number) */
  bool quadrature, monte_carlo; /* use this method even where there is a closed form */
  size_t samples;               /* Monte Carlo: how many; 0: chosen */
  bool keep; /* keep the parameters as drawn, though nothing but scl_map_parameters needs them */
} scl_map_spec;

typedef struct scl_map scl_map;

/* Compose: refuses parts that do not fit, with what would. */
scl_status scl_map_create(const scl_map_spec *spec, scl_map **out, scl_error *error);
/* The same parameters without K: phi(w_t, x)/sqrt T. */
scl_status scl_map_create_plain(const scl_map *map, scl_map **out, scl_error *error);
/* The same map with parameters keep[0 .. count-1] alone. */
scl_status scl_map_select(const scl_map *map, const size_t *keep, size_t count, scl_map **out,
                          scl_error *error);
void scl_map_destroy(scl_map *map);

size_t scl_map_features(const scl_map *map); /* D; of one-hot cells: those learnt so far */
size_t scl_map_bytes(const scl_map *map);    /* what it holds in memory, about */
size_t scl_map_count(const scl_map *map);    /* T */
size_t scl_map_dim(const scl_map *map);
size_t scl_map_fan_in(const scl_map *map); /* scalars a parameter */
scl_dtype scl_map_dtype(const scl_map *map);
scl_method scl_map_method(const scl_map *map);
bool scl_map_has_kernel(const scl_map *map);
size_t scl_map_samples(const scl_map *map); /* Monte Carlo: how many were drawn, else 0 */
/* What scl_map_apply leaves out: the true features are exp(log_scale) times what it writes (0
 * without K, and wherever they are in range). */
double scl_map_log_scale(const scl_map *map);
/* What K's width came to ("gamma = 1.83"); empty without K. */
void scl_map_describe_kernel(const scl_map *map, char *text, size_t size);

/* One-hot cells: how many entries a row has (T; 0: features are dense), and what each is. */
size_t scl_map_slots(const scl_map *map);
double scl_map_slot_value(const scl_map *map);
/* Learn the cells of x (rows x d at stride, in the map's dtype), then, after the last rows, settle
 * their columns: a grid's cells lie together, in the order in which rows brought them. Before that
 * the map has no features. */
scl_status scl_map_learn(scl_map *map, const void *x, ptrdiff_t x_stride, size_t rows,
                         scl_error *error);
scl_status scl_map_settle(scl_map *map, scl_error *error);
/* columns (rows x T) = the feature of each row's cell in each grid, -1 where it is none of those
 * learnt. */
scl_status scl_map_apply_cells(const scl_map *map, const void *x, ptrdiff_t x_stride, size_t rows,
                               int32_t *columns, scl_error *error);
/* codes (rows x T) = the category of each row and parameter, 0 .. levels-1, for a nonlinearity that
 * has them (maxout: the place of the largest). */
scl_status scl_map_levels(const scl_map *map, size_t *levels, scl_error *error);
scl_status scl_map_codes(const scl_map *map, const void *x, ptrdiff_t x_stride, size_t rows,
                         int32_t *codes, scl_error *error);

/* Dense features only: phi (rows x D at stride) = features of x (rows x d at stride), both in the
 * map's dtype. On the pool's threads. */
scl_status scl_map_apply(const scl_map *map, const void *x, ptrdiff_t x_stride, size_t rows,
                         void *phi, ptrdiff_t phi_stride, scl_error *error);
/* The same for parameters first .. first+count-1 alone: phi has count columns for each output.
 * first is a multiple of scl_map_block, and so is count unless they are the last. */
scl_status scl_map_apply_part(const scl_map *map, size_t first, size_t count, const void *x,
                              ptrdiff_t x_stride, size_t rows, void *phi, ptrdiff_t phi_stride,
                              scl_error *error);
size_t scl_map_block(const scl_map *map); /* 1, or how many parameters are projected together */

/* The untilted parameters, as a matrix; structured ones as dense rows; with fan_in q, scalar k of
 * parameter t in row k T + t. */
scl_status scl_map_parameters(const scl_map *map, scl_matrix *out, scl_error *error);
/* G (order D: one block for each output) = exp(-2 log_scale) K(w_i, w_j). */
scl_status scl_map_gram(const scl_map *map, scl_symmetric **out, scl_error *error);
/* K between two sets of parameters given as matrices (rows as scl_parameters_matrix writes them);
 * float64. */
scl_status scl_map_kernel_between(const scl_map *map, const scl_matrix *u, const scl_matrix *v,
                                  scl_matrix *out, scl_error *error);

/* kappa and theta (math: sup_x sqrt E K(w,w) phi^2, sup_x sqrt E E K(u,w) phi phi, over x that are
 * not 0 and, where phi is not bounded, no longer than radius); theta_paper is the bound sup|phi|
 * sqrt(E E K). */
typedef struct scl_constants {
  double kappa, theta, theta_paper;
  bool kappa_exact, theta_exact; /* else an upper bound */
} scl_constants;
scl_status scl_map_constants(const scl_map *map, double radius, scl_constants *out,
                             scl_error *error);

/* Samples first .. first+count-1 of p for Monte Carlo: another stream than the parameters';
 * structured rows as dense ones. */
scl_status scl_map_draw_samples(const scl_instance *sampler, size_t dim, uint64_t seed,
                                size_t first, size_t count, size_t fan_in, scl_parameter_set *out,
                                scl_error *error);

/* The induced kernel in closed form between rows of x and y (no K): SCL_STATUS_UNSUPPORTED, with a
 * sentence, where none is declared. */
scl_status scl_map_induced(const scl_map *map, const scl_matrix *x, const scl_matrix *y,
                           scl_matrix *out, scl_error *error);
/* P(the codes of x and y agree), likewise: what 1 - the mean Hamming distance of codes
 * estimates. */
scl_status scl_map_collision(const scl_map *map, const scl_matrix *x, const scl_matrix *y,
                             scl_matrix *out, scl_error *error);

#endif
