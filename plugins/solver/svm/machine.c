/* One function of a support vector machine, by decomposition (Joachims 1999; Wen et al. 2018): in
 * each round the rows that violate optimality most join a working set, whose problem SMO solves on
 * its own small kernel matrix (smo.c); then f follows for all rows. So kernel values are
 * made in blocks, by products of matrices, and threads share each block.
 *
 * Rows that lie at a bound and stay far from leaving it are set aside (shrinking), with their
 * columns of the cache. Kernel values in the cache are single precision. At the end f is computed
 * anew for all rows in double precision; where the solution is not optimal there, rounds go on from
 * that f. */
#include "shared/expansion.h"
#include "svm.h"

enum { SVM_MOST_TRIES = 10 }; /* computations of f in double precision */

/* ------------ f in double precision */

/* A task of the pool: f in double precision for one strip of rows. */
static scl_status svm_machine_exact_task(void *context, size_t index, scl_error *error) {
  const svm_machine *m = context;
  const svm_rows u = svm_rows_at(&m->out->rows, index * SVM_STRIP, SVM_STRIP);
  double *f = m->f + index * SVM_STRIP,
         *k = m->host->scratch(SVM_STRIP * EXPANSION_TILE * sizeof *k);
  scl_status status = SCL_STATUS_OK;
  if (k == NULL)
    return m->host->fail(error, SCL_STATUS_NO_MEMORY,
                         "not enough memory for a tile of kernel values");
  memset(f, 0, u.count * sizeof *f);
  for (size_t i = 0; status == SCL_STATUS_OK && i < m->vectors.count; i += EXPANSION_TILE) {
    const svm_rows v = svm_rows_at(&m->vectors, i, EXPANSION_TILE);
    status = svm_values(m->self, &m->smo.loops, &u, &v, k, EXPANSION_TILE, error);
    if (status == SCL_STATUS_OK)
      m->host->dense->gemm(0, 0, u.count, 1, v.count, 1, k, EXPANSION_TILE, m->vector_b + i, 1, 1,
                           f, 1);
  }
  return status;
}

/* Copies the support vectors, their squared lengths and coefficients. */
static scl_status svm_machine_keep(svm_machine *m, scl_error *error) {
  const svm_rows *rows = &m->out->rows;
  const size_t d = rows->dim;
  size_t count = 0;
  for (size_t i = 0; i < rows->count; i++)
    count += m->out->row[i].b != 0;
  m->vector_x = m->host->allocate((count * d + 1) * sizeof(double));
  m->vector_squares = m->host->allocate((count + 1) * sizeof(double));
  m->vector_b = m->host->allocate((count + 1) * sizeof(double));
  m->vectors = (svm_rows){count, d, m->vector_x, (ptrdiff_t)d, m->vector_squares};
  if (m->vector_x == NULL || m->vector_squares == NULL || m->vector_b == NULL)
    return m->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu support vectors",
                         count);
  count = 0;
  for (size_t i = 0; i < rows->count; i++) {
    if (m->out->row[i].b == 0) continue;
    memcpy(m->vector_x + count * d, rows->x + (ptrdiff_t)i * rows->stride, d * sizeof(double));
    m->vector_squares[count] = rows->squares[i];
    m->vector_b[count++] = m->out->row[i].b;
  }
  return SCL_STATUS_OK;
}

/* Computes f of all rows from the coefficients, and the ends of the violation. */
static scl_status svm_machine_exact(svm_machine *m, scl_error *error) {
  scl_status status = svm_machine_keep(m, error);
  if (status == SCL_STATUS_OK)
    status = m->host->parallel((m->out->rows.count + SVM_STRIP - 1) / SVM_STRIP,
                               svm_machine_exact_task, m, error);
  m->host->release(m->vector_x);
  m->host->release(m->vector_squares);
  m->host->release(m->vector_b);
  if (status != SCL_STATUS_OK) return status;
  svm_machine_all(m);
  svm_machine_ends(m);
  return SCL_STATUS_OK;
}

/* The constant: y - f of the rows between their bounds, on average; without such rows the middle of
 * what is allowed. */
static double svm_machine_constant(const svm_machine *m) {
  double sum = 0;
  size_t free_rows = 0;
  for (size_t k = 0; k < m->count; k++) {
    const svm_row *row = &m->row[k];
    if (row->b == 0 || !(row->b > row->lo) || !(row->b < row->hi)) continue;
    sum += svm_up(row, m->epsilon) - m->f[k];
    free_rows++;
  }
  return free_rows > 0 ? sum / (double)free_rows : (m->most + m->least) / 2;
}

/* ------------ the whole */

/* f in double precision, when rounds have ended: whether its violation is at most the tolerance, or
 * no smaller than at the computation before, so that no more can be gained. */
static scl_status svm_machine_judge(svm_machine *m, bool *done, scl_error *error) {
  const size_t n = m->out->rows.count;
  svm_machine_store(m);
  const scl_status status = svm_machine_exact(m, error);
  if (status != SCL_STATUS_OK) return status;
  const double violation = m->out->violation = fmax(m->most - m->least, 0);
  m->tries++;
  *done = violation <= m->self->tolerance || m->out->steps >= m->most_steps ||
          (m->tries > 2 && violation >= m->before) || m->tries == SVM_MOST_TRIES;
  m->before = violation;
  m->stuck = false;
  if (*done)
    m->out->f0 = svm_machine_constant(m);
  else if (m->cache.width != n)
    svm_cache_empty(&m->cache, n);
  return SCL_STATUS_OK;
}

/* Rounds go on until the violation by the f at hand is at most the tolerance. They end too where
 * one takes no step, as rounding then allows none. */
scl_status svm_machine_step(svm_machine *m, bool *done, scl_error *error) {
  const size_t before = m->out->steps;
  *done = false;
  if (m->stuck || !(m->most - m->least > m->tolerance) || before >= m->most_steps)
    return svm_machine_judge(m, done, error);
  const scl_status status = svm_machine_round(m, error);
  m->stuck = m->out->steps == before; /* no step is large enough to be one */
  return status;
}
