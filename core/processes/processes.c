/* Several processes that run the same script: joining, meeting before each exchange, leaving. */
#define _GNU_SOURCE
#include "processes/processes.h"

#include "algebra/symmetric.h"
#include "base/loops.h"
#include "base/pool.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TEXT = 256, HOST = 64 };

/* What a process says when they do not all agree. */
typedef struct statement {
  scl_status status;
  int32_t leaving;
  char doing[TEXT];
  char sentence[sizeof((scl_error *)0)->message];
} statement;

static struct {
  scl_instance *transport; /* NULL: one process */
  void *group;
  size_t count, rank, here;
  char (*hosts)[HOST];
  pid_t process;    /* that joined: its children are none of the group */
  pthread_t thread; /* that joined */
  uint64_t meetings;
  bool alone;       /* nothing is divided at present */
  bool broken;      /* an exchange failed: there are no others */
  bool over;        /* they have agreed to part: no exchange follows */
  scl_error parted; /* why, for whoever asks for another exchange */
  char why[TEXT];   /* scl_processes_stopped */
  size_t exchanges;
  double bytes, seconds;
} all = {
    .count = 1, .here = 1, .parted = {SCL_STATUS_IO, "the processes have parted after a failure"}};

size_t scl_processes_count(void) { return all.count; }
size_t scl_processes_rank(void) { return all.rank; }
size_t scl_processes_here(void) { return all.here; }
size_t scl_processes_exchanges(void) { return all.exchanges; }
double scl_processes_bytes(void) { return all.bytes; }
double scl_processes_seconds(void) { return all.seconds; }
const char *scl_processes_host(size_t rank) { return all.hosts[rank]; }
const char *scl_processes_transport(void) {
  return all.transport == NULL ? NULL : scl_instance_name(all.transport);
}

void scl_processes_set_alone(bool alone) { all.alone = alone; }
bool scl_processes_alone(void) { return all.alone; }

/* Whether this is a child that a process of the group has forked. */
static bool is_child(void) { return all.process != getpid(); }

bool scl_processes_divide(void) {
  return all.count > 1 && !all.alone && !scl_pool_inside() &&
         pthread_equal(all.thread, pthread_self()) && !is_child();
}

void scl_processes_part(size_t rank, size_t count, size_t *first, size_t *end) {
  /* Without a product that overflows: count = q P + r. */
  const size_t q = count / all.count, r = count % all.count;
  *first = q * rank + r * rank / all.count;
  *end = q * (rank + 1) + r * (rank + 1) / all.count;
}

/* ------------ exchanges */

static double now(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Note what an exchange that began at `from` took. */
static scl_status finish(scl_status status, double from, double bytes, const scl_error *error) {
  all.exchanges++;
  all.seconds += now() - from;
  all.bytes += bytes;
  if (status == SCL_STATUS_OK || all.broken) return status;
  all.broken = true;
  if (error != NULL) all.parted = *error;
  return status;
}

scl_status scl_processes_sum(int64_t *numbers, size_t count, scl_error *error) {
  const double from = now();
  return finish(scl_transport_sum(all.transport, all.group, numbers, count, error), from,
                (double)count * sizeof *numbers, error);
}

scl_status scl_processes_maximum(int64_t *numbers, size_t count, scl_error *error) {
  const double from = now();
  return finish(scl_transport_maximum(all.transport, all.group, numbers, count, error), from,
                (double)count * sizeof *numbers, error);
}

scl_status scl_processes_broadcast(size_t rank, void *bytes, size_t size, scl_error *error) {
  const double from = now();
  return finish(scl_transport_broadcast(all.transport, all.group, rank, bytes, size, error), from,
                (double)size, error);
}

/* ------------ meetings */

/* A number of 62 bits from the text and the count of meetings (FNV-1a). */
static int64_t print_of(const char *text) {
  uint64_t hash = 14695981039346656037u ^ all.meetings;
  for (const char *c = text; *c != 0; c++)
    hash = (hash ^ (unsigned char)*c) * 1099511628211u;
  return (int64_t)(hash >> 2);
}

/* The statements of all processes, from which each finds the same sentence. */
static scl_status collect(const statement *mine, statement *of, scl_error *error) {
  for (size_t r = 0; r < all.count; r++) {
    if (r == all.rank) of[r] = *mine;
    SCL_TRY(scl_processes_broadcast(r, &of[r], sizeof of[r], error));
  }
  return SCL_STATUS_OK;
}

/* The failure of the first process that has failed, or the first two that do different things. The
 * processes part where one leaves and others do not, and where they do different things. */
static scl_status judge(const statement *of, scl_error *error) {
  for (size_t r = 1; r < all.count; r++)
    all.over = all.over || of[r].leaving != of[0].leaving;
  for (size_t r = 0; r < all.count; r++) {
    if (of[r].status == SCL_STATUS_OK) continue;
    if (r == all.rank) return scl_fail(error, of[r].status, "%s", of[r].sentence);
    return scl_fail(error, of[r].status, "process %zu of %zu (%s): %s", r, all.count, all.hosts[r],
                    of[r].sentence);
  }
  size_t other = 1;
  while (other < all.count && strcmp(of[0].doing, of[other].doing) == 0)
    other++;
  if (other == all.count) other = 1; /* the same, but not after as many meetings */
  all.over = true;
  return scl_fail(
      error, SCL_STATUS_INTERNAL,
      "the processes went different ways: process 0 (%s) is at %s, and process %zu "
      "(%s) at %s. All processes must make the same calls, with the same options and rows",
      all.hosts[0], of[0].doing, other, all.hosts[other], of[other].doing);
}

/* Not all processes are alike: find out, and fail. */
static scl_status disagree(const statement *mine, scl_error *error) {
  statement *of = scl_allocate_array(all.count, sizeof *of);
  if (of == NULL) {
    scl_transport_abort(all.transport, all.group);
    all.broken = true;
    return scl_fail_memory(error, all.count * sizeof *of, "what the processes say");
  }
  scl_status status = collect(mine, of, error);
  if (status == SCL_STATUS_OK) status = judge(of, error);
  if (all.over && error != NULL) all.parted = *error;
  scl_release(of);
  return status;
}

void scl_processes_stopped(const char *why) {
  (void)snprintf(all.why, sizeof all.why, "%s", why == NULL ? "" : why);
}

/* scl_processes_meet with what this process says. */
static scl_status meet(statement *own, scl_error *error) {
  const scl_status mine = own->status;
  if (all.broken || all.over)
    return mine != SCL_STATUS_OK ? mine
                                 : scl_fail(error, all.parted.status, "%s", all.parted.message);
  if (is_child())
    return mine != SCL_STATUS_OK
               ? mine
               : scl_fail(error, SCL_STATUS_UNSUPPORTED,
                          "a child of a process cannot exchange numbers with the other processes");
  if (mine != SCL_STATUS_OK && error != NULL)
    (void)snprintf(own->sentence, sizeof own->sentence, "%s",
                   mine == SCL_STATUS_CANCELLED && all.why[0] != 0 ? all.why : error->message);
  const int64_t print = print_of(own->doing);
  int64_t seen[3] = {print, -print, mine != SCL_STATUS_OK};
  all.meetings++;
  const scl_status status = scl_processes_maximum(seen, 3, error);
  /* A transport interrupts those that compute where a process is gone: that is told, if it is so. */
  if (status != SCL_STATUS_OK && mine != SCL_STATUS_OK && mine != SCL_STATUS_CANCELLED)
    return scl_fail(error, mine, "%s", own->sentence);
  if (status != SCL_STATUS_OK) return status;
  if (seen[0] == -seen[1] && seen[2] == 0) return SCL_STATUS_OK;
  return disagree(own, error);
}

scl_status scl_processes_meet(scl_status mine, scl_error *error, const char *format, ...) {
  if (all.count == 1) return mine;
  statement own = {.status = mine};
  scl_error unasked = {0}; /* the next call tells it */
  if (error == NULL) error = &unasked;
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(own.doing, sizeof own.doing, format, arguments);
  va_end(arguments);
  return meet(&own, error);
}

/* ------------ joining and leaving */

/* The names of all machines, and what must be the same on them. */
static scl_status introduce(scl_error *error) {
  if (gethostname(all.hosts[all.rank], HOST - 1) != 0) (void)strcpy(all.hosts[all.rank], "?");
  for (size_t r = 0; r < all.count; r++)
    SCL_TRY(scl_processes_broadcast(r, all.hosts[r], HOST, error));
  all.here = 0;
  for (size_t r = 0; r < all.count; r++)
    all.here += strcmp(all.hosts[r], all.hosts[all.rank]) == 0;
  return scl_processes_meet(SCL_STATUS_OK, error,
                            "the start of Scullery " SCULLERY_VERSION
                            " with the instruction set %s",
                            scl_loops_get()->name);
}

/* For matrices that processes share (algebra/symmetric_shared.c). */
static scl_status meet_for_matrix(scl_status mine, const char *doing, size_t order,
                                  scl_error *error) {
  return scl_processes_meet(mine, error, "%s of order %zu", doing, order);
}

/* The memory of a matrix is that of all processes to its end: no descriptor is needed. */
static scl_status share_for_matrix(scl_status mine, size_t bytes, void **out, scl_error *error) {
  SCL_TRY(scl_processes_share(mine, bytes, out, error));
  if (*out != NULL) scl_mapped_close(*out);
  return SCL_STATUS_OK;
}

/* A network takes longer for the tiles of a factor than a machine to make them. */
static bool divides_here(void) { return all.here == all.count && scl_processes_divide(); }

static void share_matrices(void) {
  const scl_symmetric_peers peers = {.rank = all.rank,
                                     .count = all.count,
                                     .divides = divides_here,
                                     .meet = meet_for_matrix,
                                     .broadcast = scl_processes_broadcast,
                                     .share = share_for_matrix};
  scl_symmetric_set_peers(all.count > 1 ? &peers : NULL);
}

scl_status scl_processes_join(scl_instance *transport, scl_error *error) {
  SCL_TRY(scl_transport_open(transport, &all.group, &all.count, &all.rank, error));
  all.transport = scl_instance_share(transport);
  all.process = getpid();
  all.thread = pthread_self();
  all.hosts = scl_allocate_zero(all.count * sizeof *all.hosts);
  if (all.hosts == NULL) {
    scl_processes_abandon();
    return scl_fail_memory(error, all.count * HOST, "names of machines");
  }
  share_matrices();
  return all.count == 1 ? SCL_STATUS_OK : introduce(error);
}

/* This process is one of one again. */
static void forget_group(void) {
  scl_instance_release(all.transport);
  scl_release(all.hosts);
  all.transport = NULL;
  all.hosts = NULL;
  all.count = all.here = 1;
  all.rank = 0;
  share_matrices();
}

void scl_processes_abandon(void) {
  if (all.transport == NULL) return;
  scl_transport_abort(all.transport, all.group);
  forget_group();
}

scl_status scl_processes_leave(scl_status status, scl_error *error) {
  if (all.transport == NULL || is_child()) return status;
  all.broken = all.broken || !pthread_equal(all.thread, pthread_self()); /* it may exchange now */
  statement own = {.status = status, .leaving = 1, .doing = "the end of the script"};
  if (all.count > 1) status = meet(&own, error);
  if (all.broken) {
    scl_processes_abandon();
    return status;
  }
  scl_transport_close(all.transport, all.group);
  forget_group();
  return status;
}
