/* The feature map: X block --project--> z --phi or its smoothing--> features --scale--> Phi block.
 *
 * Without K: Phi(x)_t = phi(w_t, x) s_t, s_t = 1/sqrt(T) unless the sampler says otherwise. With K:
 * Phi(x)_t = E_{w~p} K(w_t, w) phi(w, x), exactly c(w_t) S(<w_t', x>, v) where the kernel has a
 * tilt for the sampler's law, else the mean over common Monte Carlo samples. Kernel sections (phi
 * is a kernel k): Phi(x)_t = k(w_t, x), or L^-1 k(W, x) where they are whitened, k(W, W) = L L'.
 * Features of one output lie together: feature k T + t is output k of parameter t. */
#ifndef SCULLERY_MAP_H
#define SCULLERY_MAP_H

#include "algebra/bits.h"
#include "algebra/csr.h"
#include "algebra/matrix.h"
#include "algebra/symmetric.h"
#include "algebra/whole.h"
#include "map/cells.h"
#include "map/parameters.h"
#include "map/stage.h"

typedef enum scl_method {
  SCL_METHOD_DIRECT = 0,
  SCL_METHOD_EXACT,
  SCL_METHOD_QUADRATURE,
  SCL_METHOD_MONTE_CARLO
} scl_method;
/* "direct", "exact", "quadrature", "monte-carlo". */
const char *scl_method_name(scl_method method);

typedef struct scl_map_spec {
  /* phi: a nonlinearity, or a kernel: its sections; kernel: K, may be NULL. The map takes
   * references. */
  scl_instance *sampler, *phi, *kernel;
  size_t dim, count; /* d and T; T is 0 where the user left it out */
  uint64_t seed;
  scl_dtype dtype;
  /* Instead of drawing: rows as scl_parameters_matrix writes them; T is then their number over
   * fan_in. NULL: draw. */
  const scl_matrix *parameters;
  const scl_matrix *state; /* what the sampler learnt (scl_flow_learn_state), or NULL */
  bool whiten, exact; /* kernel sections: show L^-1 k(W, x); with no pivot of L that is rounding */
  /* Compose the parts and draw no parameters: for questions about the parts. Such a map cannot be
   * applied. */
  bool bare;
  bool quadrature, monte_carlo; /* use this method even where there is a closed form */
  size_t samples;               /* Monte Carlo: how many; 0: chosen */
  double scale;                 /* s_t of every parameter; 0: the sampler's scales */
  bool keep;       /* store the parameters as drawn, though only scl_map_parameters needs them */
  scl_whole whole; /* features are rounded to whole numbers (map/whole.c); dtype is float32 */
  bool together;   /* all processes make this call: they may divide the drawing */
  bool staged;     /* row stages follow the features, which are rounded after these alone */
} scl_map_spec;

typedef struct scl_map scl_map;

/* Compose: refuses parts that do not fit, with what would. */
scl_status scl_map_create(const scl_map_spec *spec, scl_map **out, scl_error *error);
/* The same parameters without K and scales: phi(w_t, x). */
scl_status scl_map_create_plain(const scl_map *map, scl_map **out, scl_error *error);
/* The same kernel sections, whitened or not; exact: in float64 whatever type the map has.
 * scl_map_unwhiten: weights b (D x c) of whitened sections become L'^-1 b, those of k(W, x). */
scl_status scl_map_create_whitened(const scl_map *map, bool whiten, bool exact, scl_map **out,
                                   scl_error *error);
void scl_map_unwhiten(const scl_map *map, double *b, size_t c);
/* The same map with parameters keep[0 .. count-1] alone. */
scl_status scl_map_select(const scl_map *map, const size_t *keep, size_t count, scl_map **out,
                          scl_error *error);
/* The features of `base`, each row of them changed by the stages in order. It borrows base and
 * stages. Such a map has no K and no parameters of its own: scl_map_base has them. */
scl_status scl_map_create_staged(const scl_map *base, scl_fitted_stage *const *stages,
                                 size_t n_stages, scl_map **out, scl_error *error);
/* A part of a union: the features of `map`, of the columns `columns` (n_columns of them, from 0 and
 * ascending; NULL: all), times `scale`. */
typedef struct scl_map_part {
  scl_map *map;
  const size_t *columns;
  size_t n_columns;
  double scale;
} scl_map_part;
/* The features of `count` maps side by side, of rows of `dim` columns. It takes references to the
 * maps, whose cells and grids are learnt, and copies the rest. Such a map has no K and no parameters
 * of its own: its parts have them. */
scl_status scl_map_create_union(const scl_map_part *parts, size_t count, size_t dim, scl_map **out,
                                scl_error *error);
size_t scl_map_part_count(const scl_map *map);              /* 0: it is no union */
scl_map_part scl_map_part_at(const scl_map *map, size_t i); /* borrowed */
/* Of a map with stages: the map whose features they change. Of any other map: the map itself. */
const scl_map *scl_map_base(const scl_map *map);
scl_map *scl_map_share(scl_map *map); /* one more reference */
void scl_map_destroy(scl_map *map);   /* one less; the last releases it */
/* Whether the features of `few` are those of the first parameters of `many`, times *ratio. Both
 * maps have the same parts and options, but for T. False for structured, shared and learnt
 * parameters. */
bool scl_map_is_first_of(const scl_map *few, const scl_map *many, double *ratio);

size_t scl_map_features(const scl_map *map); /* D; of one-hot cells: those learnt so far */
size_t scl_map_bytes(const scl_map *map);    /* approximate memory */
size_t scl_map_count(const scl_map *map);    /* T */
size_t scl_map_dim(const scl_map *map);
size_t scl_map_fan_in(const scl_map *map); /* numbers z that phi takes for a parameter */
scl_dtype scl_map_dtype(const scl_map *map);
scl_method scl_map_method(const scl_map *map);
/* Whether there is a G: with K, and of kernel sections. */
bool scl_map_has_kernel(const scl_map *map);
bool scl_map_is_section(const scl_map *map);
bool scl_map_is_whitened(const scl_map *map);
/* What was added to the diagonal of k(W, W) so that it could be factored, as a share of the mean of
 * the diagonal; 0 for maps that are not whitened sections. */
double scl_map_jitter(const scl_map *map);
size_t scl_map_samples(const scl_map *map); /* Monte Carlo: how many were drawn, else 0 */
/* Quadrature: the largest relative gap between its last two rules so far, where it missed its
 * tolerance; else 0. */
double scl_map_quadrature_gap(const scl_map *map);
/* The log of the factor that scl_map_apply leaves out: the true features are exp(log_scale) times
 * what it writes. 0 without K, and whenever the true features are in the range of the dtype. */
double scl_map_log_scale(const scl_map *map);
/* The log of the factor that remains left out when features are written for the user: log_scale if
 * exp(log_scale) would bring them near underflow, else 0. */
double scl_map_left_out(const scl_map *map);
/* The width of the kernel after it is bound to the law ("width = 1.83"); empty without a kernel. */
void scl_map_describe_kernel(const scl_map *map, char *text, size_t size);

/* One-hot cells: how many entries a row has (T; 0: features are dense), and what each is. */
size_t scl_map_entries(const scl_map *map);
double scl_map_entry_value(const scl_map *map);
/* scl_map_open_cells: *out = an empty dictionary for the map's grids, with which the caller learns
 * the cells of all rows (cells.h). scl_map_settle: after the last rows, give the dictionary to the
 * map, which owns it (also after a failure) and numbers the features: a grid's cells are adjacent,
 * in the order of the rows. Before that the map has no features. */
scl_status scl_map_open_cells(const scl_map *map, scl_cells **out, scl_error *error);
scl_status scl_map_settle(scl_map *map, scl_cells *cells, scl_error *error);
/* scl_map_cells: the dictionary, borrowed; NULL if features are dense. scl_map_restore_cells:
 * replace it by one that was exported (scl_cells_import). */
const scl_cells *scl_map_cells(const scl_map *map);
scl_status scl_map_restore_cells(scl_map *map, const int64_t *counts, const int32_t *words,
                                 size_t rows, scl_error *error);
/* columns (rows x T) = the feature of each row's cell in each grid, -1 for a cell that was not
 * learnt. */
scl_status scl_map_apply_cells(const scl_map *map, const void *x, ptrdiff_t x_stride, size_t rows,
                               int32_t *columns, scl_error *error);
/* codes (rows x T) = the category of each row and parameter, 0 .. levels-1, for a nonlinearity that
 * has them (maxout: the place of the largest). */
scl_status scl_map_levels(const scl_map *map, size_t *levels, scl_error *error);
scl_status scl_map_codes(const scl_map *map, const void *x, ptrdiff_t x_stride, size_t rows,
                         int32_t *codes, scl_error *error);

/* The same for a matrix of rows, or where it is NULL for sparse rows, as numbers (n x T, float64,
 * made here). */
scl_status scl_map_code_matrix(const scl_map *map, const scl_matrix *x, const scl_csr *csr,
                               scl_matrix *out, scl_error *error);

/* Dense features only: phi (rows x D at stride) = features of x (rows x d at stride), both in the
 * map's dtype. On the pool's threads. */
scl_status scl_map_apply(const scl_map *map, const void *x, ptrdiff_t x_stride, size_t rows,
                         void *phi, ptrdiff_t phi_stride, scl_error *error);
/* The same for parameters first .. first+count-1 only: phi has `count` columns for each output.
 * `first` is a multiple of scl_map_block, and so is `count` unless these are the last
 * parameters. */
scl_status scl_map_apply_part(const scl_map *map, size_t first, size_t count, const void *x,
                              ptrdiff_t x_stride, size_t rows, void *phi, ptrdiff_t phi_stride,
                              scl_error *error);
size_t scl_map_block(const scl_map *map); /* 1, or how many parameters are projected together */

/* The features of compressed sparse rows (rows->rows x dim), in each of the forms that this header
 * has for dense rows. Rows in float64 are rounded to the map's dtype. The features have the bits of
 * those of the same rows dense; with a K on dense parameters, whose features depend on the length of
 * a row, they agree within rounding.
 * scl_map_takes_csr: whether they are read as they are, so that the work depends on their numbers.
 * Otherwise rows are made dense, some of them at a time. */
bool scl_map_takes_csr(const scl_map *map);
scl_status scl_map_apply_csr(const scl_map *map, const scl_csr *rows, void *phi,
                             ptrdiff_t phi_stride, scl_error *error);
scl_status scl_map_apply_csr_part(const scl_map *map, size_t first, size_t count,
                                  const scl_csr *rows, void *phi, ptrdiff_t phi_stride,
                                  scl_error *error);
scl_status scl_map_apply_csr_bits(const scl_map *map, const scl_csr *rows, const scl_bits *bits,
                                  scl_error *error);
scl_status scl_map_apply_csr_whole(const scl_map *map, const scl_csr *rows, void *v,
                                   ptrdiff_t v_stride, scl_error *error);
scl_status scl_map_apply_csr_cells(const scl_map *map, const scl_csr *rows, int32_t *columns,
                                   scl_error *error);
scl_status scl_map_codes_csr(const scl_map *map, const scl_csr *rows, int32_t *codes,
                             scl_error *error);

/* Features that take two values, s_t low and s_t high. scl_map_two_values: whether this map's do,
 * by the declarations of its plugins; zero_is_high: a feature is high at z = 0.
 * scl_map_feature_scale: s_t. */
typedef struct scl_two_values {
  double low, high;
  bool zero_is_high;
} scl_two_values;
bool scl_map_two_values(const scl_map *map, scl_two_values *out);
double scl_map_feature_scale(const scl_map *map, size_t t);
/* The two values of each feature, D numbers each, as scl_map_apply rounds them. */
void scl_map_low_and_high(const scl_map *map, double *low, double *high);
/* gap (D numbers) = how far the two values are apart, also where scl_map_use_bits(false); false:
 * the features take other values. */
bool scl_map_gaps(const scl_map *map, double *gap);
/* Bits of the rows' features, from word 0 on: those that scl_map_apply would make high. */
scl_status scl_map_apply_bits(const scl_map *map, const void *x, ptrdiff_t x_stride, size_t rows,
                              const scl_bits *bits, scl_error *error);
/* For tests. false: scl_map_two_values is false for all maps, so that no features are bits. */
void scl_map_use_bits(bool use);
bool scl_map_uses_bits(void);

/* Whole-number features (map/whole.c): feature j is base[j] + unit[j] v_j. SCL_WHOLE_NONE: they are
 * numbers, bits or one-hot. */
scl_whole scl_map_whole(const scl_map *map);
/* The type that was asked for, also where features are bits or one-hot. */
scl_whole scl_map_wanted_whole(const scl_map *map);
/* D numbers each, borrowed; base NULL: zeros. */
void scl_map_units(const scl_map *map, const double **unit, const double **base);
/* v (rows x D at stride, of the map's type) of the rows of x. */
scl_status scl_map_apply_whole(const scl_map *map, const void *x, ptrdiff_t x_stride, size_t rows,
                               void *v, ptrdiff_t v_stride, scl_error *error);
/* The features base + unit v, in either dtype. */
void scl_map_unround(const scl_map *map, size_t first, size_t count, const void *v, scl_dtype dtype,
                     void *out);
/* Whether the units are learnt from rows and are not there yet: features are numbers until then. */
bool scl_map_lacks_grid(const scl_map *map);
/* Units from the smallest and the largest of each feature (D numbers each) on the first rows. */
scl_status scl_map_learn_grid(scl_map *map, const double *least, const double *most,
                              scl_error *error);
/* scl_map_grid: *out (2 x D, float64, made here; empty if no grid was learnt) = the learnt grid.
 * scl_map_take_grid: give a map a grid that was saved. */
scl_status scl_map_grid(const scl_map *map, scl_matrix *out, scl_error *error);
scl_status scl_map_take_grid(scl_map *map, const scl_matrix *grid, scl_error *error);
/* How many numbers were rounded by a learnt grid so far, and how many of them were clipped to the
 * largest v. */
void scl_map_clipped(const scl_map *map, size_t *rounded, size_t *clipped);

/* The untilted parameters, as a matrix; structured ones as dense rows; with fan_in q, scalar k of
 * parameter t in row k T + t. */
scl_status scl_map_parameters(const scl_map *map, scl_matrix *out, scl_error *error);
/* G (order D: one block for each output) = exp(-2 log_scale) K(w_i, w_j); of kernel sections k(W,
 * W), whitened ones the identity. */
scl_status scl_map_gram(const scl_map *map, scl_symmetric **out, scl_error *error);
/* G (D x D, float64, made here), with the factor exp(2 log_scale) put back. */
scl_status scl_map_gram_matrix(const scl_map *map, scl_matrix *out, scl_error *error);
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

/* Whether all features are of similar size because of their kind: kernel sections, and phi with a
 * bound. Other features can differ in size as much as columns of data. */
bool scl_map_of_one_size(const scl_map *map);

/* Samples first .. first+count-1 of p for Monte Carlo: another stream than the parameters';
 * structured rows as dense ones. */
scl_status scl_map_draw_samples(const scl_map *map, uint64_t seed, size_t first, size_t count,
                                scl_parameter_set *out, scl_error *error);

/* The induced kernel in closed form between rows of x and y (no K): SCL_STATUS_UNSUPPORTED, with a
 * sentence, where none is declared. */
scl_status scl_map_induced(const scl_map *map, const scl_matrix *x, const scl_matrix *y,
                           scl_matrix *out, scl_error *error);
/* P(the codes of x and y agree), likewise: what 1 - the mean Hamming distance of codes
 * estimates. */
scl_status scl_map_collision(const scl_map *map, const scl_matrix *x, const scl_matrix *y,
                             scl_matrix *out, scl_error *error);
/* What kernel sections, also those among the parts of a union, leave out of the kernel: *out =
 * k(x, x) - k(x, W) (k(W, W) + jitter I)^-1 k(W, x) >= 0 for each of some rows x with the features phi
 * (rows x D, packed). The first call for sections that are not whitened factors k(W, W).
 * scl_map_has_rest: whether there are such features; else the rest is 0. */
typedef struct scl_map_rows {
  const void *data; /* rows of d numbers in the map's dtype */
  ptrdiff_t stride; /* numbers from one row to the next */
  size_t rows, features;
} scl_map_rows;
bool scl_map_has_rest(const scl_map *map);
scl_status scl_map_rest(const scl_map *map, const scl_map_rows *x, const double *phi, double *out,
                        scl_error *error);
/* Refuses kernels that are not defined on rows of data, and rows of unlike lengths. */
scl_status scl_kernel_check_rows(const scl_instance *kernel, size_t x_columns, size_t y_columns,
                                 scl_error *error);
/* k(x_i, y_j) of a kernel between rows of data, on the pool's threads. */
scl_status scl_kernel_matrix(const scl_instance *kernel, const scl_matrix *x, const scl_matrix *y,
                             scl_matrix *out, scl_error *error);
/* The same of sparse rows: kernels that read them as they are (scl_kernel_takes_csr) agree with the
 * dense rows within rounding; for others rows are made dense, some of X and Y at a time. */
scl_status scl_kernel_matrix_csr(const scl_instance *kernel, const scl_csr *x, const scl_csr *y,
                                 scl_matrix *out, scl_error *error);

#endif
