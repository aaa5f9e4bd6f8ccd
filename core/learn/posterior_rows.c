/* Posteriors at rows: variances of the function, and products with the training rows. */
#include "learn/posterior_internal.h"

#include "algebra/dense.h"
#include <math.h>
#include <string.h>

/* Rows that are solved for at once. */
enum { ROWS = 256 };

/* ------------ features as numbers */

/* What a walk does with features as numbers: `count` rows of D at phi, rows start .. of a block. */
typedef struct visiting visiting;
struct visiting {
  const scl_flow *flow;
  scl_status (*take)(const visiting *v, const scl_flow_block *block, size_t start, size_t count,
                     scl_error *error);
  void *rows;  /* ROWS x D in the flow's dtype: features that are not dense */
  double *phi; /* ROWS x D */
  void *context;
};

/* A visit of the walk: blocks in parts of ROWS rows, as float64 numbers. */
static scl_status visit_block(void *context, const scl_flow_block *block, scl_error *error) {
  const visiting *v = context;
  const size_t d = scl_flow_features(v->flow);
  for (size_t start = 0; start < block->count; start += ROWS) {
    const size_t count = scl_min(ROWS, block->count - start);
    if (block->phi == NULL) scl_flow_fill(v->flow, block, start, count, v->rows);
    for (size_t i = 0; i < count; i++) {
      const void *row = block->phi != NULL ? scl_flow_row(v->flow, block, start + i)
                                           : scl_at(v->rows, v->flow->dtype, (ptrdiff_t)(i * d));
      for (size_t j = 0; j < d; j++)
        v->phi[i * d + j] = scl_number(row, v->flow->dtype, j);
    }
    SCL_TRY(v->take(v, block, start, count, error));
  }
  return SCL_STATUS_OK;
}

static scl_status visit_rows(visiting *v, scl_error *error) {
  const size_t d = scl_flow_features(v->flow);
  v->rows = scl_allocate_array(ROWS * d + 1, scl_dtype_size(v->flow->dtype));
  v->phi = scl_allocate_array(ROWS * d + 1, sizeof *v->phi);
  const scl_status status = v->rows == NULL || v->phi == NULL
                                ? scl_fail_memory(error, ROWS * d * sizeof *v->phi, "features")
                                : scl_flow_walk(v->flow, true, visit_block, v, error);
  SCL_RELEASE(v->rows, v->phi);
  return status;
}

/* The row of the data of row i of a block. */
static size_t place_of(const scl_flow_block *block, size_t i) {
  return block->first + block->place[i];
}

static scl_status keep_features(const visiting *v, const scl_flow_block *block, size_t start,
                                size_t count, scl_error *error) {
  const size_t d = scl_flow_features(v->flow);
  (void)error;
  for (size_t i = 0; i < count; i++)
    memcpy((double *)v->context + place_of(block, start + i) * d, v->phi + i * d,
           d * sizeof *v->phi);
  return SCL_STATUS_OK;
}

scl_status scl_posterior_features(const scl_flow *flow, double *out, scl_error *error) {
  scl_flow plain = *flow;
  plain.pilot = plain.target_pilot = NULL;
  visiting v = {.flow = &plain, .take = keep_features, .context = out};
  return visit_rows(&v, error);
}

/* ------------ projections */

typedef struct projecting {
  const scl_posterior *posterior;
  size_t order;    /* of the factor */
  double *columns; /* order x ROWS: a row of the data a column */
  double *squares; /* ROWS: ||phi - mean||^2 */
  double *rests;   /* ROWS: scl_map_rest / (n lambda); NULL: not wanted */
  scl_matrix *out; /* rows x order, or NULL: */
  double *variance;
} projecting;

/* rests of rows start .. start+count-1 of a block, as many at once as need little memory. */
static scl_status find_rests(const projecting *p, const visiting *v, const scl_flow_block *block,
                             size_t start, size_t count, scl_error *error) {
  const scl_flow *flow = v->flow;
  const size_t d = p->posterior->features, cols = scl_flow_cols(flow),
               tall = scl_max(1, scl_min(count, ((size_t)1 << 16) / (cols + d + 1)));
  void *rows = scl_allocate_array(tall * cols + 1, scl_dtype_size(flow->dtype));
  scl_status status =
      rows == NULL ? scl_fail_memory(error, tall * cols * sizeof(double), "rows") : SCL_STATUS_OK;
  for (size_t i = 0; status == SCL_STATUS_OK && i < count; i += tall) {
    scl_map_rows x = {rows, (ptrdiff_t)cols, scl_min(tall, count - i), d};
    if (block->csr != NULL) {
      scl_csr_fill(block->csr, start + i, x.rows, flow->dtype, rows, x.stride);
    } else {
      x.data = scl_at(block->x, flow->dtype, (ptrdiff_t)(start + i) * block->x_stride);
      x.stride = block->x_stride;
    }
    status = scl_map_rest(flow->map, &x, v->phi + i * d, &p->rests[i], error);
  }
  for (size_t i = 0; status == SCL_STATUS_OK && i < count; i++)
    p->rests[i] = p->posterior->weight > 0 ? p->rests[i] / p->posterior->weight : 0;
  scl_release(rows);
  return status;
}

/* columns = phi - mean of rows of features (count x D), or Phi_c (phi - mean); squares. The mean is
 * subtracted in place. */
static void fill_columns(const projecting *p, double *phi, size_t count) {
  const scl_posterior *posterior = p->posterior;
  const size_t d = posterior->features;
  for (size_t i = 0; i < count; i++) {
    p->squares[i] = 0;
    for (size_t j = 0; j < d; j++) {
      const double value = phi[i * d + j] - posterior->mean[j];
      phi[i * d + j] = value;
      p->squares[i] += value * value;
    }
  }
  if (posterior->phi != NULL) {
    scl_gemm(SCL_DTYPE_FLOAT64, false, true, p->order, count, d, 1, posterior->phi, (ptrdiff_t)d,
             phi, (ptrdiff_t)d, 0, p->columns, (ptrdiff_t)count);
    return;
  }
  for (size_t i = 0; i < count; i++)
    for (size_t j = 0; j < d; j++)
      p->columns[j * count + i] = phi[i * d + j];
}

/* Write the results of rows start .. start+count-1 of a block from L^-1 columns. */
static void write_rows(const projecting *p, const scl_flow_block *block, size_t start,
                       size_t count) {
  const scl_posterior *posterior = p->posterior;
  for (size_t i = 0; i < count; i++) {
    const size_t at = place_of(block, start + i);
    double *row = p->out == NULL ? NULL : scl_matrix_row(p->out, at), sum = 0;
    for (size_t j = 0; j < p->order; j++) {
      const double value = p->columns[j * count + i];
      sum += value * value;
      if (row != NULL) row[j] = value;
    }
    if (row != NULL) continue;
    if (posterior->phi != NULL) sum = fmax(p->squares[i] - sum, 0) / posterior->weight;
    p->variance[at] = sum + (posterior->constant ? 1 / posterior->total : 0) +
                      (p->rests == NULL ? 0 : p->rests[i]);
  }
}

static scl_status project_rows(const visiting *v, const scl_flow_block *block, size_t start,
                               size_t count, scl_error *error) {
  const projecting *p = v->context;
  if (p->rests != NULL) SCL_TRY(find_rests(p, v, block, start, count, error));
  fill_columns(p, v->phi, count);
  SCL_TRY(scl_service_symmetric.triangular(p->posterior->factor, 0, p->columns, count, error));
  write_rows(p, block, start, count);
  return SCL_STATUS_OK;
}

static scl_status project(const scl_posterior *posterior, const scl_flow *flow, bool rest,
                          scl_matrix *out, double *variance, scl_error *error) {
  const size_t order = scl_symmetric_order(posterior->factor);
  if (scl_flow_features(flow) != posterior->features)
    return scl_fail(error, SCL_STATUS_BAD_SHAPE, "X gives %zu features where the posterior has %zu",
                    scl_flow_features(flow), posterior->features);
  const bool rests = rest && flow->map != NULL && scl_map_has_rest(flow->map);
  projecting p = {.posterior = posterior, .order = order, .out = out, .variance = variance};
  double *memory = scl_allocate_array(ROWS * (order + 2) + 1, sizeof *memory);
  if (memory == NULL) return scl_fail_memory(error, ROWS * order * sizeof *memory, "projections");
  p.columns = memory;
  p.squares = memory + ROWS * order;
  p.rests = rests ? p.squares + ROWS : NULL;
  visiting v = {.flow = flow, .take = project_rows, .context = &p};
  const scl_status status = visit_rows(&v, error);
  scl_release(memory);
  return status;
}

scl_status scl_posterior_project(const scl_posterior *posterior, const scl_flow *flow,
                                 scl_matrix *out, scl_error *error) {
  SCL_TRY(scl_matrix_create(flow->source->rows, scl_symmetric_order(posterior->factor),
                            SCL_DTYPE_FLOAT64, out, error));
  const scl_status status = project(posterior, flow, false, out, NULL, error);
  if (status != SCL_STATUS_OK) scl_matrix_release(out);
  return status;
}

/* Dual: L^-1 k(x) times row i of the transposed L^-1 is k(x)'(K + n lambda I)^-1 at i. */
scl_status scl_posterior_training(const scl_posterior *posterior, const scl_flow *flow,
                                  scl_matrix *out, scl_error *error) {
  const size_t n = posterior->rows;
  if (n == 0) return scl_posterior_project(posterior, flow, out, error);
  scl_matrix inverse;
  SCL_TRY(scl_matrix_create(n, n, SCL_DTYPE_FLOAT64, &inverse, error));
  for (size_t i = 0; i < n; i++)
    scl_matrix_set(&inverse, i, i, 1);
  scl_status status =
      scl_service_symmetric.triangular(posterior->factor, 0, inverse.data, n, error);
  scl_matrix turned = scl_matrix_transpose(&inverse);
  if (status == SCL_STATUS_OK) status = scl_matrix_copy(&turned, SCL_DTYPE_FLOAT64, out, error);
  scl_matrix_release(&turned);
  scl_matrix_release(&inverse);
  return status;
}

scl_status scl_posterior_variance(const scl_posterior *posterior, const scl_flow *flow, bool rest,
                                  double *out, scl_error *error) {
  return project(posterior, flow, rest, NULL, out, error);
}

/* ------------ effective parameters */

/* With L^-1 = V: primal D - weight ||V||^2; dual tr K (K + weight I)^-1 = n - weight ||V||^2. */
scl_status scl_posterior_parameters(const scl_posterior *posterior, double *out, scl_error *error) {
  const size_t order = scl_symmetric_order(posterior->factor);
  double *columns = scl_allocate_array(ROWS * order + 1, sizeof *columns), trace = 0;
  if (columns == NULL) return scl_fail_memory(error, ROWS * order * sizeof *columns, "columns");
  scl_status status = SCL_STATUS_OK;
  for (size_t first = 0; status == SCL_STATUS_OK && first < order; first += ROWS) {
    const size_t count = scl_min(ROWS, order - first);
    memset(columns, 0, order * count * sizeof *columns);
    for (size_t i = 0; i < count; i++)
      columns[(first + i) * count + i] = 1;
    status = scl_service_symmetric.triangular(posterior->factor, 0, columns, count, error);
    for (size_t i = first * count; status == SCL_STATUS_OK && i < order * count; i++)
      trace += columns[i] * columns[i];
  }
  scl_release(columns);
  *out = (double)order - posterior->weight * trace;
  return status;
}
