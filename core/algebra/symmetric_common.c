/* Symmetric matrices that are once in memory for all processes of a machine. Each process writes
 * the tiles that are its own, and reads all. Before it reads what others have written, or writes
 * what others may still be reading, all processes meet: they make the same calls in the same
 * order. */
#define _GNU_SOURCE
#include "algebra/symmetric_internal.h"

#include <errno.h>
#include <pthread.h>

/* Smaller matrices are sooner exchanged than mapped. */
enum { LEAST_ORDER = SCL_BUFFER(768), LOCKS = 1024 };

struct scl_common {
  void *memory;
  pthread_mutex_t *locks; /* LOCKS, behind the numbers */
  size_t rank, count;
  bool written, read; /* since the processes have met */
  bool begets;        /* matrices that are made like this one are common too */
};

void scl_common_lock(const scl_symmetric *a, size_t index) {
  if (a->common == NULL) return;
  pthread_mutex_t *lock = &a->common->locks[index % LOCKS];
  /* The process that had it was killed: all fail when they meet. */
  if (pthread_mutex_lock(lock) == EOWNERDEAD) (void)pthread_mutex_consistent(lock);
}

void scl_common_unlock(const scl_symmetric *a, size_t index) {
  if (a->common != NULL) (void)pthread_mutex_unlock(&a->common->locks[index % LOCKS]);
}

size_t scl_common_turn(const scl_symmetric *a, size_t index, size_t count) {
  return a->common == NULL ? index : (index + a->common->rank * count / a->common->count) % count;
}

bool scl_common_mine(const scl_symmetric *a, size_t i, size_t j) {
  return (i * (i + 1) / 2 + j) % a->common->count == a->common->rank;
}

/* ------------ making */

/* The memory of a matrix without any, and its locks; a->common stays NULL where the processes
 * cannot share memory. */
static scl_status map_common(scl_symmetric *a, const scl_symmetric_peers *peers, scl_status mine,
                             scl_error *error) {
  const size_t numbers = scl_tile_count(a) * a->tile * a->tile * sizeof *a->data,
               bytes = numbers + LOCKS * sizeof(pthread_mutex_t);
  scl_common *common = scl_allocate_zero(sizeof *common);
  if (common == NULL && mine == SCL_STATUS_OK)
    mine = scl_fail_memory(error, sizeof *common, "a symmetric matrix");
  void *memory = NULL;
  scl_status status = peers->share(mine, bytes, &memory, error);
  if (status != SCL_STATUS_OK || memory == NULL) {
    scl_release(common);
    return status;
  }
  *common = (scl_common){.memory = memory,
                         .locks = (pthread_mutex_t *)(void *)((char *)memory + numbers),
                         .rank = peers->rank,
                         .count = peers->count};
  a->common = common;
  a->data = memory;
  /* Locks that outlive a process that was killed while it had one. */
  pthread_mutexattr_t kind;
  (void)pthread_mutexattr_init(&kind);
  (void)pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
  (void)pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
  for (size_t k = 0; peers->rank == 0 && k < LOCKS; k++)
    (void)pthread_mutex_init(&common->locks[k], &kind);
  (void)pthread_mutexattr_destroy(&kind);
  return peers->meet(SCL_STATUS_OK, "a matrix in common memory", a->n, error);
}

scl_status scl_symmetric_create_common(size_t n, bool begets, scl_symmetric **out,
                                       scl_error *error) {
  const scl_symmetric_peers *peers = scl_symmetric_dividing();
  if (peers == NULL || n < LEAST_ORDER) return scl_symmetric_create(n, out, error);
  scl_symmetric *a = scl_allocate_zero(sizeof *a), sizes = {.n = n};
  scl_status status =
      a == NULL ? scl_fail_memory(error, sizeof *a, "a symmetric matrix") : SCL_STATUS_OK;
  sizes.tile = scl_symmetric_tile(n);
  sizes.across = (n + sizes.tile - 1) / sizes.tile;
  sizes.ranks = 1;
  if (a != NULL) *a = sizes;
  status = map_common(a == NULL ? &sizes : a, peers, status, error);
  if (status == SCL_STATUS_OK && a->common != NULL) {
    a->common->begets = begets;
    *out = a;
    return status;
  }
  scl_symmetric_destroy(a);
  return status == SCL_STATUS_OK ? scl_symmetric_create(n, out, error) : status;
}

void scl_common_close(scl_common *common) {
  if (common == NULL) return;
  SCL_RELEASE(common->memory, common);
}

bool scl_symmetric_is_common(const scl_symmetric *a) { return a->common != NULL; }

bool scl_common_begets(const scl_symmetric *a) {
  return a->common != NULL && a->common->begets && scl_symmetric_dividing() != NULL;
}

void scl_symmetric_set_begets(scl_symmetric *a) {
  if (a->common != NULL) a->common->begets = true;
}

/* ------------ meeting */

scl_status scl_common_meet(const scl_symmetric *a, scl_error *error) {
  const scl_symmetric_peers *peers = scl_symmetric_dividing();
  if (a->common == NULL || peers == NULL) return SCL_STATUS_OK;
  a->common->written = a->common->read = false;
  return peers->meet(SCL_STATUS_OK, "a matrix in common memory", a->n, error);
}

void scl_common_read(const scl_symmetric *a) {
  if (a->common == NULL || !a->common->begets) return;    /* others are not written any more */
  if (a->common->written) (void)scl_common_meet(a, NULL); /* a failure stays: the next call fails */
  a->common->read = true;
}

void scl_common_write(const scl_symmetric *a) {
  if (a->common == NULL) return;
  if (a->common->read) (void)scl_common_meet(a, NULL);
  a->common->written = true;
}
