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

/* ------------------------------------------------------------ f in double precision */

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
  for (size_t i = 0; status == SCL_STATUS_OK && i < m->kept.count; i += EXPANSION_TILE) {
    const svm_rows v = svm_rows_at(&m->kept, i, EXPANSION_TILE);
    status = svm_values(m->self, &m->smo.loops, &u, &v, k, EXPANSION_TILE, error);
    if (status == SCL_STATUS_OK)
      m->host->dense->gemm(0, 0, u.count, 1, v.count, 1, k, EXPANSION_TILE, m->kept_b + i, 1, 1, f,
                           1);
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
  m->kept_x = m->host->allocate((count * d + 1) * sizeof(double));
  m->kept_squares = m->host->allocate((count + 1) * sizeof(double));
  m->kept_b = m->host->allocate((count + 1) * sizeof(double));
  m->kept = (svm_rows){count, d, m->kept_x, (ptrdiff_t)d, m->kept_squares};
  if (m->kept_x == NULL || m->kept_squares == NULL || m->kept_b == NULL)
    return m->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu support vectors",
                         count);
  count = 0;
  for (size_t i = 0; i < rows->count; i++) {
    if (m->out->row[i].b == 0) continue;
    memcpy(m->kept_x + count * d, rows->x + (ptrdiff_t)i * rows->stride, d * sizeof(double));
    m->kept_squares[count] = rows->squares[i];
    m->kept_b[count++] = m->out->row[i].b;
  }
  return SCL_STATUS_OK;
}

/* Computes f of all rows from the coefficients, and the ends of the violation. */
static scl_status svm_machine_exact(svm_machine *m, scl_error *error) {
  scl_status status = svm_machine_keep(m, error);
  if (status == SCL_STATUS_OK)
    status = m->host->parallel((m->out->rows.count + SVM_STRIP - 1) / SVM_STRIP,
                               svm_machine_exact_task, m, error);
  m->host->release(m->kept_x);
  m->host->release(m->kept_squares);
  m->host->release(m->kept_b);
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

/* ------------------------------------------------------------ the whole */

/* Rounds until the violation by the f at hand is at most the tolerance. Ends too where a round
 * takes no step, as rounding then allows none. */
static scl_status svm_machine_rounds(svm_machine *m, scl_error *error) {
  scl_status status = SCL_STATUS_OK;
  while (status == SCL_STATUS_OK && m->most - m->least > m->tolerance &&
         m->out->steps < m->most_steps) {
    const size_t before = m->out->steps;
    if (m->problem != NULL)
      status = m->problem->progress(m->problem, "support vectors", m->done, NAN, error);
    if (status == SCL_STATUS_OK) status = svm_machine_round(m, error);
    if (m->out->steps == before) break; /* no step is large enough to be one */
  }
  svm_machine_store(m);
  return status;
}

/* Runs rounds until the violation, computed in double precision, is at most the tolerance. Gives
 * up when a later computation of f shows no smaller violation. */
static scl_status svm_machine_run(svm_machine *m, scl_error *error) {
  const size_t n = m->out->rows.count;
  const double wanted = m->self->tolerance;
  scl_status status = SCL_STATUS_OK;
  double before = INFINITY;
  m->most_steps = n > 100000 ? 100 * n : 10000000;
  m->tolerance = 0.9 * wanted; /* leaves some to the cache's single precision */
  memset(m->f, 0, n * sizeof *m->f);
  svm_machine_all(m);
  svm_machine_ends(m);
  for (int tries = 0; status == SCL_STATUS_OK && tries < SVM_MOST_TRIES; tries++) {
    status = svm_machine_rounds(m, error);
    if (status == SCL_STATUS_OK) status = svm_machine_exact(m, error);
    if (status != SCL_STATUS_OK) return status;
    m->out->violation = fmax(m->most - m->least, 0);
    if (m->out->violation <= wanted || m->out->steps >= m->most_steps) break;
    if (tries > 1 && m->out->violation >= before) break;
    before = m->out->violation;
    if (m->cache.width != n) svm_cache_empty(&m->cache, n);
  }
  m->out->f0 = svm_machine_constant(m);
  return status;
}

scl_status svm_machine_fit(const svm *self, const scl_problem *problem, double done, double epsilon,
                           double megabytes, svm_function *out, scl_error *error) {
  svm_machine m = {.self = self,
                   .host = self->base.host,
                   .problem = problem,
                   .done = done,
                   .out = out,
                   .epsilon = epsilon};
  m.smo.loops = svm_loops_get();
  scl_status status = svm_machine_reserve(&m, megabytes, error);
  if (status == SCL_STATUS_OK) status = svm_machine_run(&m, error);
  svm_machine_release(&m);
  return status;
}
