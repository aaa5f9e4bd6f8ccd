/* What a support vector machine works on (machine.c): the rows that are not set aside,
 * the working set among them, and their memory. */
#include "svm.h"

/* Size of the working set for n rows. A large set wastes kernel values on small problems; a
 * small set takes too many rounds on large ones. */
static size_t svm_set_room(size_t n) {
  const size_t share = n / 6, room = share > 96 ? share : 96;
  return svm_least(n, svm_least(room, SVM_SET));
}

/* ------------------------------------------------------------ memory */

void svm_machine_release(svm_machine *m) {
  const scl_host *host = m->host;
  svm_cache_release(host, &m->cache);
  void *const all[] = {m->place,
                       m->row,
                       m->f,
                       m->settled,
                       m->own,
                       m->squares,
                       m->set,
                       m->fresh,
                       m->in_set,
                       m->change,
                       (void *)m->fresh_values,
                       (void *)m->change_values,
                       m->gathered_x,
                       m->gathered_squares,
                       m->smo.row,
                       m->smo.k,
                       m->smo.f,
                       m->smo.up,
                       m->smo.low,
                       m->smo.diagonal};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    host->release(all[i]);
}

scl_status svm_machine_reserve(svm_machine *m, double megabytes, scl_error *error) {
  const scl_host *host = m->host;
  const size_t n = m->out->rows.count, d = m->out->rows.dim, q = svm_set_room(n),
               stride = (q + SVM_LANES - 1) / SVM_LANES * SVM_LANES;
  const struct {
    void **to;
    size_t bytes;
  } wanted[] = {{(void **)&m->place, n * sizeof *m->place},
                {(void **)&m->row, n * sizeof *m->row},
                {(void **)&m->f, n * sizeof *m->f},
                {(void **)&m->settled, n},
                {(void **)&m->squares, n * sizeof *m->squares},
                {(void **)&m->in_set, n * sizeof *m->in_set},
                {(void **)&m->set, q * sizeof *m->set},
                {(void **)&m->fresh, q * sizeof *m->fresh},
                {(void **)&m->change, (q + 4) * sizeof *m->change},
                {(void **)&m->fresh_values, q * sizeof *m->fresh_values},
                {(void **)&m->change_values, (q + 4) * sizeof *m->change_values},
                {(void **)&m->gathered_x, q * d * sizeof(double)},
                {(void **)&m->gathered_squares, q * sizeof(double)},
                {(void **)&m->smo.row, q * sizeof *m->smo.row},
                {(void **)&m->smo.k, q * stride * sizeof *m->smo.k},
                {(void **)&m->smo.f, stride * sizeof(double)},
                {(void **)&m->smo.up, stride * sizeof(double)},
                {(void **)&m->smo.low, stride * sizeof(double)},
                {(void **)&m->smo.diagonal, stride * sizeof(double)}};
  m->smo.stride = stride;
  m->room = q;
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
    *wanted[i].to = host->allocate(wanted[i].bytes);
    if (*wanted[i].to == NULL)
      return host->fail(error, SCL_STATUS_NO_MEMORY,
                        "not enough memory for the working set of %zu rows", n);
  }
  return svm_cache_open(host, &m->cache, n, svm_least(n, 2 * q), megabytes, error);
}

/* ------------------------------------------------------------ the rows at work */

void svm_machine_all(svm_machine *m) {
  m->host->release(m->own);
  m->own = NULL;
  m->rows = m->out->rows;
  m->count = m->rows.count;
  m->set_count = 0;
  for (size_t i = 0; i < m->count; i++) {
    m->place[i] = i;
    m->row[i] = m->out->row[i];
    m->settled[i] = 0;
    m->in_set[i] = false;
  }
}

void svm_machine_store(svm_machine *m) {
  for (size_t k = 0; k < m->count; k++)
    m->out->row[m->place[k]].b = m->row[k].b;
}

void svm_machine_ends(svm_machine *m) {
  m->most = -INFINITY;
  m->least = INFINITY;
  for (size_t k = 0; k < m->count; k++) {
    m->most = fmax(m->most, svm_up(&m->row[k], m->epsilon) - m->f[k]);
    m->least = fmin(m->least, svm_low(&m->row[k], m->epsilon) - m->f[k]);
  }
}

/* Whether no move of coefficient k within its bounds improves the objective. */
static bool svm_machine_is_settled(const svm_machine *m, size_t k) {
  return svm_up(&m->row[k], m->epsilon) - m->f[k] <= m->least &&
         svm_low(&m->row[k], m->epsilon) - m->f[k] >= m->most;
}

/* Keeps the `count` rows at the ascending places `kept`, with their columns of the cache; the
 * others keep their coefficients in m->out. Arrays are compacted in place, which ascending places
 * allow. */
static scl_status svm_machine_set_aside(svm_machine *m, size_t *kept, size_t count,
                                        scl_error *error) {
  const size_t d = m->rows.dim;
  double *x = m->host->allocate((count * d + 1) * sizeof *x);
  if (x == NULL)
    return m->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu rows", count);
  svm_machine_store(m);
  svm_cache_keep(&m->cache, kept, count);
  m->set_count = 0;
  for (size_t k = 0; k < count; k++) {
    const size_t from = kept[k];
    memcpy(x + k * d, m->rows.x + (ptrdiff_t)from * m->rows.stride, d * sizeof *x);
    m->squares[k] = m->rows.squares[from];
    m->place[k] = m->place[from];
    m->row[k] = m->row[from];
    m->f[k] = m->f[from];
    m->settled[k] = 0;
    m->in_set[k] = m->in_set[from];
    if (m->in_set[k]) m->set[m->set_count++] = k;
  }
  m->host->release(m->own);
  m->own = x;
  m->count = count;
  m->rows = (svm_rows){count, d, x, (ptrdiff_t)d, m->squares};
  return SCL_STATUS_OK;
}

scl_status svm_machine_shrink(svm_machine *m, scl_error *error) {
  size_t staying = 0;
  for (size_t k = 0; k < m->count; k++) {
    const bool settled = !m->in_set[k] && svm_machine_is_settled(m, k);
    m->settled[k] = settled ? (unsigned char)svm_least(m->settled[k] + 1u, SVM_PATIENCE) : 0;
    staying += m->settled[k] < SVM_PATIENCE;
  }
  if (staying < 2 * m->room || 3 * staying > 2 * m->count) return SCL_STATUS_OK;
  size_t *kept = m->host->allocate(staying * sizeof *kept), count = 0;
  if (kept == NULL)
    return m->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu places", staying);
  for (size_t k = 0; k < m->count; k++)
    if (m->settled[k] < SVM_PATIENCE) kept[count++] = k;
  const scl_status status = svm_machine_set_aside(m, kept, count, error);
  m->host->release(kept);
  return status;
}
