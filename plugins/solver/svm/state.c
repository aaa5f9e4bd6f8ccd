/* What a support vector machine works on (machine.c): the rows that are not set aside,
 * the working set among them, and their memory. */
#include "svm.h"

static scl_status svm_machine_gather(svm_machine *m, scl_error *error);

/* A large set wastes kernel values on small problems; a small set takes too many rounds on large
 * ones. */
size_t svm_set_room(size_t n) {
  const size_t share = n / 6, room = share > 96 ? share : 96;
  return svm_least(n, svm_least(room, SVM_SET));
}

/* ------------ memory */

void svm_machine_release(svm_machine *m) {
  const scl_host *host = m->host;
  void *const all[] = {m->kept,
                       m->own,
                       m->squares,
                       m->fresh,
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

typedef struct svm_wanted {
  void **to;
  size_t bytes;
} svm_wanted;

/* The arrays of a checkpoint, in one piece of memory. */
static scl_status svm_machine_reserve_kept(svm_machine *m, size_t n, size_t q, scl_error *error) {
  const size_t capacity = svm_cache_capacity(n, svm_least(n, 2 * q), m->megabytes);
  svm_cache *c = &m->cache;
  const svm_wanted wanted[] = {{(void **)&m->all, n * sizeof *m->all},
                               {(void **)&m->row, n * sizeof *m->row},
                               {(void **)&m->f, n * sizeof *m->f},
                               {(void **)&m->place, n * sizeof *m->place},
                               {(void **)&m->set, q * sizeof *m->set},
                               {(void **)&c->slot, n * sizeof *c->slot},
                               {(void **)&c->row, n * sizeof *c->row},
                               {(void **)&c->used, n * sizeof *c->used},
                               {(void **)&c->values, capacity * sizeof *c->values},
                               {(void **)&c->recent, n * sizeof *c->recent},
                               {(void **)&m->in_set, n * sizeof *m->in_set},
                               {(void **)&m->settled, n}};
  const size_t count = sizeof wanted / sizeof *wanted;
  m->kept_bytes = (sizeof *m->kept + 63) / 64 * 64;
  for (size_t i = 0; i < count; i++)
    m->kept_bytes += (wanted[i].bytes + 63) / 64 * 64;
  m->kept = capacity > SIZE_MAX / 16 ? NULL : m->host->allocate(m->kept_bytes);
  if (m->kept == NULL)
    return m->host->fail(error, SCL_STATUS_NO_MEMORY,
                         "not enough memory for %.3g GB of kernel values: give a smaller cache",
                         4e-9 * (double)capacity);
  char *at = (char *)m->kept + (sizeof *m->kept + 63) / 64 * 64;
  memset(m->kept, 0, (size_t)(at - (char *)m->kept));
  for (size_t i = 0; i < count; i++) {
    *wanted[i].to = at;
    at += (wanted[i].bytes + 63) / 64 * 64;
  }
  return SCL_STATUS_OK;
}

scl_status svm_machine_reserve(svm_machine *m, size_t n, size_t d, scl_error *error) {
  const scl_host *host = m->host;
  const size_t q = svm_set_room(n), stride = (q + SVM_LANES - 1) / SVM_LANES * SVM_LANES;
  const svm_wanted wanted[] = {{(void **)&m->squares, n * sizeof *m->squares},
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
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
    *wanted[i].to = host->allocate(wanted[i].bytes);
    if (*wanted[i].to == NULL)
      return host->fail(error, SCL_STATUS_NO_MEMORY,
                        "not enough memory for the working set of %zu rows", n);
  }
  return svm_machine_reserve_kept(m, n, q, error);
}

/* ------------ functions */

/* What follows from the rows of m->out and the options. */
static void svm_machine_fix(svm_machine *m) {
  const size_t n = m->out->rows.count;
  m->room = svm_set_room(n);
  m->smo.stride = (m->room + SVM_LANES - 1) / SVM_LANES * SVM_LANES;
  m->most_steps = n > 100000 ? 100 * n : 10000000;
  m->tolerance = 0.9 * m->self->tolerance; /* leaves some to the cache's single precision */
  m->cache.capacity = svm_cache_capacity(n, svm_least(n, 2 * m->room), m->megabytes);
}

void svm_machine_begin(svm_machine *m, size_t function) {
  const size_t n = m->out->rows.count;
  svm_machine_fix(m);
  m->function = function;
  m->round = m->tries = m->out->steps = 0;
  m->stuck = false;
  m->before = INFINITY;
  svm_cache_empty(&m->cache, n);
  memset(m->f, 0, n * sizeof *m->f);
  svm_machine_all(m);
  svm_machine_ends(m);
}

void svm_machine_pack(svm_machine *m) {
  const svm_cache *c = &m->cache;
  *m->kept = (svm_now){.function = m->function,
                       .count = m->count,
                       .set_count = m->set_count,
                       .round = m->round,
                       .tries = m->tries,
                       .width = c->width,
                       .slots = c->slots,
                       .filled = c->filled,
                       .hand = c->hand,
                       .stuck = m->stuck,
                       .most = m->most,
                       .least = m->least,
                       .before = m->before};
  if (m->function == 0) return;
  m->kept->steps = m->out->steps;
  m->kept->violation = m->out->violation;
}

/* The rows at work are copied anew where some are set aside. */
scl_status svm_machine_unpack(svm_machine *m, scl_error *error) {
  const svm_now *now = m->kept;
  svm_cache *c = &m->cache;
  svm_machine_fix(m);
  m->function = now->function;
  m->count = now->count;
  m->set_count = now->set_count;
  m->round = now->round;
  m->tries = now->tries;
  m->stuck = now->stuck != 0;
  m->most = now->most;
  m->least = now->least;
  m->before = now->before;
  m->out->steps = now->steps;
  m->out->violation = now->violation;
  c->width = now->width;
  c->slots = now->slots;
  c->filled = now->filled;
  c->hand = now->hand;
  m->rows = m->out->rows;
  return m->count == m->rows.count ? SCL_STATUS_OK : svm_machine_gather(m, error);
}

/* ------------ the rows at work */

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

/* Copies the rows m->place[0 .. m->count-1] to memory of their own. */
static scl_status svm_machine_gather(svm_machine *m, scl_error *error) {
  const svm_rows *all = &m->out->rows;
  const size_t d = all->dim, count = m->count;
  double *x = m->host->allocate((count * d + 1) * sizeof *x);
  if (x == NULL)
    return m->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %zu rows", count);
  for (size_t k = 0; k < count; k++) {
    const size_t from = m->place[k];
    memcpy(x + k * d, all->x + (ptrdiff_t)from * all->stride, d * sizeof *x);
    m->squares[k] = all->squares[from];
  }
  m->host->release(m->own);
  m->own = x;
  m->rows = (svm_rows){count, d, x, (ptrdiff_t)d, m->squares};
  return SCL_STATUS_OK;
}

/* Keeps the `count` rows at the ascending places `kept`, with their columns of the cache; the
 * others keep their coefficients in m->out. Arrays are compacted in place, which ascending places
 * allow. */
static scl_status svm_machine_set_aside(svm_machine *m, size_t *kept, size_t count,
                                        scl_error *error) {
  svm_machine_store(m);
  svm_cache_keep(&m->cache, kept, count);
  m->set_count = 0;
  for (size_t k = 0; k < count; k++) {
    const size_t from = kept[k];
    m->place[k] = m->place[from];
    m->row[k] = m->row[from];
    m->f[k] = m->f[from];
    m->settled[k] = 0;
    m->in_set[k] = m->in_set[from];
    if (m->in_set[k]) m->set[m->set_count++] = k;
  }
  m->count = count;
  return svm_machine_gather(m, error);
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
