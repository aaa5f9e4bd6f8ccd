/* One function of a support vector machine, by decomposition (Joachims 1999; Wen et al. 2018): in
 * each round the rows that violate optimality most join a working set, whose problem SMO solves on
 * its own small kernel matrix (solver/svm_smo.h); then f follows for all rows. So kernel values are
 * made in blocks, by products of matrices, and threads share each block.
 *
 * Rows that lie at a bound and stay far from leaving it are set aside (shrinking), with their
 * columns of the cache. Kernel values in the cache are single precision. At the end f is computed
 * anew for all rows in double precision; where the solution is not optimal there, rounds go on from
 * that f. */
#ifndef SCULLERY_SOLVER_SVM_MACHINE_H
#define SCULLERY_SOLVER_SVM_MACHINE_H

#include "solver/svm_cache.h"
#include "solver/svm_kernel.h"
#include "solver/svm_smo.h"

enum {
  SVM_SET = 512,      /* rows of the working set, at most */
  SVM_STRIP = 256,    /* columns of a tile of kernel values */
  SVM_PATIENCE = 3,   /* rounds that a row must look settled before it is set aside */
  SVM_MOST_TRIES = 10 /* computations of f in double precision */
};

/* The problem of one function and its solution. */
typedef struct svm_function {
  svm_rows rows;
  svm_row *row; /* rows.count: targets and bounds are given, coefficients found */
  double f0, violation;
  size_t steps;
} svm_function;

typedef struct svm_machine {
  const svm *self;
  const scl_host *host;
  const scl_problem *problem; /* NULL: not in the thread that may report progress */
  double done;                /* what it reports */
  svm_function *out;
  double epsilon, tolerance;
  size_t most_steps, round, room; /* room: rows of the working set */
  /* the rows that are not set aside */
  size_t count;
  size_t *place; /* in out->rows */
  svm_row *row;
  double *f;
  unsigned char *settled; /* for how many rounds */
  svm_rows rows;
  double *own; /* rows.x, once some are set aside */
  double *squares;
  svm_cache cache;
  /* the working set, oldest first; those whose kernel values are missing; what changed */
  size_t set_count, fresh_count, changed;
  size_t *set, *fresh;
  bool *in_set;
  double *change;
  float **fresh_values;
  const float **change_values;
  svm_rows gathered; /* rows of `fresh` */
  double *gathered_x, *gathered_squares;
  svm_smo smo;
  double most, least; /* ends of the violation */
  /* the support vectors, while f is computed anew */
  svm_rows kept;
  double *kept_x, *kept_squares, *kept_b;
} svm_machine;

/* How many of n rows the working set takes. Small problems would waste kernel values on a large
 * set, and large ones rounds on a small set. */
static inline size_t svm_set_room(size_t n) {
  const size_t share = n / 6, room = share > 96 ? share : 96;
  return svm_least(n, svm_least(room, SVM_SET));
}

/* ------------------------------------------------------------ memory */

static inline void svm_machine_release(svm_machine *m) {
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

static inline scl_status svm_machine_reserve(svm_machine *m, double megabytes, scl_error *error) {
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

/* All rows, with the coefficients and the f that they have. */
static inline void svm_machine_all(svm_machine *m) {
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

static inline void svm_machine_store(svm_machine *m) {
  for (size_t k = 0; k < m->count; k++)
    m->out->row[m->place[k]].b = m->row[k].b;
}

static inline void svm_machine_ends(svm_machine *m) {
  m->most = -INFINITY;
  m->least = INFINITY;
  for (size_t k = 0; k < m->count; k++) {
    m->most = fmax(m->most, svm_up(&m->row[k], m->epsilon) - m->f[k]);
    m->least = fmin(m->least, svm_low(&m->row[k], m->epsilon) - m->f[k]);
  }
}

/* Whether row k can neither grow nor shrink to any gain. */
static inline bool svm_machine_is_settled(const svm_machine *m, size_t k) {
  return svm_up(&m->row[k], m->epsilon) - m->f[k] <= m->least &&
         svm_low(&m->row[k], m->epsilon) - m->f[k] >= m->most;
}

/* Keep the rows that are not settled, with their columns of the cache. `kept` has room for all. */
static inline scl_status svm_machine_set_aside(svm_machine *m, size_t *kept, size_t count,
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

static inline scl_status svm_machine_shrink(svm_machine *m, scl_error *error) {
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

/* ------------------------------------------------------------ the working set */

/* A heap of the `room` largest values, the least of them on top. */
typedef struct svm_heap {
  size_t count, room;
  double value[SVM_SET];
  size_t row[SVM_SET];
} svm_heap;

static inline void svm_heap_put(svm_heap *h, double value, size_t row) {
  size_t at = 0;
  if (h->count < h->room) { /* up from the end */
    for (at = h->count++; at > 0 && h->value[(at - 1) / 2] > value; at = (at - 1) / 2) {
      h->value[at] = h->value[(at - 1) / 2];
      h->row[at] = h->row[(at - 1) / 2];
    }
  } else { /* down from the top, in place of the least */
    if (h->room == 0 || value <= h->value[0]) return;
    for (size_t next = 1; next < h->count; next = 2 * at + 1) {
      if (next + 1 < h->count && h->value[next + 1] < h->value[next]) next++;
      if (h->value[next] >= value) break;
      h->value[at] = h->value[next];
      h->row[at] = h->row[next];
      at = next;
    }
  }
  h->value[at] = value;
  h->row[at] = row;
}

static inline void svm_machine_join(svm_machine *m, const svm_heap *h) {
  for (size_t i = 0; i < h->count; i++) {
    if (m->in_set[h->row[i]]) continue;
    m->in_set[h->row[i]] = true;
    m->set[m->set_count++] = h->row[i];
  }
}

/* Half of the set leaves, the oldest, for the rows that would gain most by growing or shrinking:
 * half of them by each. */
static inline void svm_machine_choose(svm_machine *m) {
  svm_heap grow = {.count = 0}, shrink = {.count = 0};
  const size_t q = svm_least(m->count, m->room), stay = svm_least(m->set_count, q / 2);
  for (size_t i = 0; i < m->set_count - stay; i++)
    m->in_set[m->set[i]] = false;
  memmove(m->set, m->set + m->set_count - stay, stay * sizeof *m->set);
  m->set_count = stay;
  shrink.room = (q - stay) / 2;
  grow.room = q - stay - shrink.room;
  for (size_t k = 0; k < m->count; k++) {
    if (m->in_set[k]) continue;
    const double up = svm_up(&m->row[k], m->epsilon) - m->f[k],
                 low = svm_low(&m->row[k], m->epsilon) - m->f[k];
    const bool may_grow = up > m->least, may_shrink = low < m->most;
    if (may_grow && !(may_shrink && m->most - low > up - m->least))
      svm_heap_put(&grow, up, k);
    else if (may_shrink)
      svm_heap_put(&shrink, -low, k);
  }
  svm_machine_join(m, &grow);
  svm_machine_join(m, &shrink);
}

/* ------------------------------------------------------------ kernel values */

static inline scl_status svm_machine_tile(void *context, size_t index, scl_error *error) {
  const svm_machine *m = context;
  const size_t first = index * SVM_STRIP;
  const svm_rows v = svm_rows_at(&m->rows, first, SVM_STRIP);
  double *room = m->host->allocate(m->fresh_count * v.count * sizeof *room);
  float **to = m->host->allocate(m->fresh_count * sizeof *to);
  scl_status status = SCL_STATUS_OK;
  if (room == NULL || to == NULL)
    status =
        m->host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a tile of kernel values");
  for (size_t i = 0; status == SCL_STATUS_OK && i < m->fresh_count; i++)
    to[i] = m->fresh_values[i] + first;
  if (status == SCL_STATUS_OK)
    status = svm_single(m->self, &m->smo.loops, &m->gathered, &v, room, to, error);
  m->host->release(room);
  m->host->release((void *)to);
  return status;
}

static inline scl_status svm_machine_fill(svm_machine *m, scl_error *error) {
  const size_t d = m->rows.dim;
  m->fresh_count = 0;
  for (size_t i = 0; i < m->set_count; i++)
    if (svm_cache_find(&m->cache, m->set[i], m->round) == NULL)
      m->fresh[m->fresh_count++] = m->set[i];
  if (m->fresh_count == 0) return SCL_STATUS_OK;
  for (size_t i = 0; i < m->fresh_count; i++) {
    const size_t from = m->fresh[i];
    m->fresh_values[i] = svm_cache_claim(&m->cache, from, m->round);
    m->gathered_squares[i] = m->rows.squares[from];
    memcpy(m->gathered_x + i * d, m->rows.x + (ptrdiff_t)from * m->rows.stride, d * sizeof(double));
  }
  m->gathered = (svm_rows){m->fresh_count, d, m->gathered_x, (ptrdiff_t)d, m->gathered_squares};
  return m->host->parallel((m->count + SVM_STRIP - 1) / SVM_STRIP, svm_machine_tile, m, error);
}

/* ------------------------------------------------------------ a round */

/* The problem of the working set, and its solution to a tenth of its violation. */
static inline void svm_machine_solve_set(svm_machine *m) {
  svm_smo *s = &m->smo;
  s->count = m->set_count;
  s->stride = (s->count + SVM_LANES - 1) / SVM_LANES * SVM_LANES;
  s->epsilon = m->epsilon;
  for (size_t i = 0; i < s->stride; i++)
    s->f[i] = i < s->count ? m->f[m->set[i]] : 0;
  for (size_t i = 0; i < s->count; i++) {
    const float *values = svm_cache_find(&m->cache, m->set[i], m->round);
    for (size_t j = 0; j < s->stride; j++)
      s->k[i * s->stride + j] = j < s->count ? values[m->set[j]] : 0;
    s->row[i] = m->row[m->set[i]];
  }
  const double enough = m->set_count == m->count ? 0 : 0.1 * (m->most - m->least);
  const size_t most = svm_least(m->most_steps - m->out->steps, 100 * m->room);
  m->out->steps += svm_smo_solve(s, fmax(m->tolerance, enough), most);
  m->changed = 0;
  for (size_t i = 0; i < s->count; i++) {
    svm_row *row = &m->row[m->set[i]];
    if (s->row[i].b == row->b) continue;
    m->change[m->changed] = s->row[i].b - row->b;
    m->change_values[m->changed++] = svm_cache_find(&m->cache, m->set[i], m->round);
    row->b = s->row[i].b;
  }
  for (size_t i = 0; i < 4 && m->changed % 4 != 0; i++) { /* the loop takes four */
    m->change[m->changed] = 0;
    m->change_values[m->changed] = m->change_values[m->changed - 1];
    m->changed++;
  }
}

enum { SVM_FOLLOW = 2048 };

static inline scl_status svm_machine_follow_task(void *context, size_t index, scl_error *error) {
  const svm_machine *m = context;
  const size_t first = index * SVM_FOLLOW;
  (void)error;
  for (size_t i = 0; i < m->changed; i += 4) {
    const float *k[4];
    for (size_t j = 0; j < 4; j++)
      k[j] = m->change_values[i + j] + first;
    m->smo.loops.add_four(svm_least(m->count - first, SVM_FOLLOW), m->change + i, k, m->f + first);
  }
  return SCL_STATUS_OK;
}

static inline scl_status svm_machine_round(svm_machine *m, scl_error *error) {
  m->round++;
  svm_machine_choose(m);
  scl_status status = svm_machine_fill(m, error);
  if (status != SCL_STATUS_OK) return status;
  svm_machine_solve_set(m);
  status = m->host->parallel((m->count + SVM_FOLLOW - 1) / SVM_FOLLOW, svm_machine_follow_task, m,
                             error);
  if (status != SCL_STATUS_OK) return status;
  svm_machine_ends(m);
  return svm_machine_shrink(m, error);
}

/* ------------------------------------------------------------ f in double precision */

static inline scl_status svm_machine_exact_task(void *context, size_t index, scl_error *error) {
  const svm_machine *m = context;
  const svm_rows u = svm_rows_at(&m->out->rows, index * SVM_STRIP, SVM_STRIP);
  double *f = m->f + index * SVM_STRIP,
         *k = m->host->allocate(SVM_STRIP * EXPANSION_TILE * sizeof *k);
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
  m->host->release(k);
  return status;
}

static inline scl_status svm_machine_keep(svm_machine *m, scl_error *error) {
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

/* f of all rows from the coefficients, and the ends of the violation. */
static inline scl_status svm_machine_exact(svm_machine *m, scl_error *error) {
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
static inline double svm_machine_constant(const svm_machine *m) {
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

static inline scl_status svm_machine_rounds(svm_machine *m, scl_error *error) {
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

static inline scl_status svm_machine_run(svm_machine *m, scl_error *error) {
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

/* Fill in out. `problem` may be NULL; megabytes: of the cache. */
static inline scl_status svm_machine_fit(const svm *self, const scl_problem *problem, double done,
                                         double epsilon, double megabytes, svm_function *out,
                                         scl_error *error) {
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

#endif
