/* One round of a support vector machine (machine.c): the working set, its kernel values,
 * its solution, and f of all rows after it. */
#include "svm.h"

/* ------------ the working set */

/* A heap of the `room` largest values, the least of them on top. */
typedef struct svm_heap {
  size_t count, room;
  double value[SVM_SET];
  size_t row[SVM_SET];
} svm_heap;

/* Inserts a value if it is among the h->room largest so far. */
static void svm_heap_put(svm_heap *h, double value, size_t row) {
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

/* Appends the rows of the heap to the working set, but those that are in it already. */
static void svm_machine_join(svm_machine *m, const svm_heap *h) {
  for (size_t i = 0; i < h->count; i++) {
    if (m->in_set[h->row[i]]) continue;
    m->in_set[h->row[i]] = true;
    m->set[m->set_count++] = h->row[i];
  }
}

/* Half of the set leaves, the oldest, for the rows that would gain most by growing or shrinking:
 * half of them by each. */
static void svm_machine_choose(svm_machine *m) {
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

/* ------------ kernel values */

/* A task of the pool: kernel values of the missing rows with one strip of the rows at work. */
static scl_status svm_machine_tile(void *context, size_t index, scl_error *error) {
  const svm_machine *m = context;
  const size_t first = index * SVM_STRIP;
  const svm_rows v = svm_rows_at(&m->rows, first, SVM_STRIP);
  double *room = m->host->scratch(m->fresh_count * v.count * sizeof *room);
  float **to = m->host->scratch(m->fresh_count * sizeof *to);
  if (room == NULL || to == NULL)
    return m->host->fail(error, SCL_STATUS_NO_MEMORY,
                         "not enough memory for a tile of kernel values");
  for (size_t i = 0; i < m->fresh_count; i++)
    to[i] = m->fresh_values[i] + first;
  return svm_single(m->self, &m->smo.loops, &m->gathered, &v, room, to, error);
}

/* Computes the kernel values of the rows of the working set that are not in the cache, against
 * all rows at work. */
static scl_status svm_machine_fill(svm_machine *m, scl_error *error) {
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

/* ------------ a round */

/* Copies the problem of the working set to m->smo and solves it to a tenth of its violation (to the
 * tolerance where the set has all rows). Lists in change and change_values by how much each
 * coefficient changed, padded with zeros to a multiple of four. */
static void svm_machine_solve_set(svm_machine *m) {
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

/* A task of the pool: f += sum change_i K_i for SVM_FOLLOW rows. */
static scl_status svm_machine_follow_task(void *context, size_t index, scl_error *error) {
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

scl_status svm_machine_round(svm_machine *m, scl_error *error) {
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
