/* Processes of one machine: the process that joins makes the others by fork, and they exchange
 * numbers in shared memory.
 *
 * Two buffers are used in turns. An exchange copies its numbers, up to one buffer at a time, and
 * waits until all processes have done so; each process then adds a part of the numbers of all. When
 * a buffer is used again, every process has passed the wait of the other buffer, and so has taken
 * what it needed. */
#define _GNU_SOURCE
#include <scullery/plugin.h>

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
  MOST = 256,                   /* processes */
  CHUNK = 1 << 17,              /* numbers of a buffer */
  SPINS = 8000,                 /* looks at the counter before a process sleeps */
  WAKE_NANOSECONDS = 100000000, /* a sleeping process looks whether the others live */
  GRACE_SECONDS = 10,           /* for the others to end, once one has left with a failure */
  NOTICE_SECONDS = 1,           /* for them to see that one is gone, before they are interrupted */
  INTERRUPTION_SECONDS = 3,     /* and to end then */
  TERMINATION_SECONDS = 1       /* and once they have got SIGTERM after that */
};

typedef struct forking {
  scl_base base;
  size_t processes;
} forking;

static const scl_option options[] = {
    SCL_INTEGER(forking, processes, "2", "how many processes", SCL_WITHIN(1, MOST))};

/* What all processes see. */
typedef struct shared {
  atomic_uint arrived, round; /* of the wait: how many have arrived, and how many waits are over */
  atomic_uint ended;          /* 1 + the number of a process that has ended too early; 0: none */
  atomic_uint closed[MOST];   /* 1: the process has left the group */
  int64_t result[2][CHUNK];
  int64_t numbers[]; /* 2 x processes x CHUNK */
} shared;

typedef struct group {
  const scl_host *host;
  shared *memory;
  size_t bytes, size, rank;
  unsigned turn; /* the buffer of the next exchange, 0 or 1 */
  bool crowded;
} group;

/* ------------ waiting for each other */

static scl_status fail_ended(const group *g, scl_error *error) {
  const unsigned ended = atomic_load(&g->memory->ended);
  return g->host->fail(error, SCL_STATUS_IO, "process %u of %zu has ended", ended - 1, g->size);
}

/* Have all processes know that one has ended. The first one stays: others end because of it. */
static void tell_ended(shared *m, size_t rank) {
  unsigned none = 0;
  (void)atomic_compare_exchange_strong(&m->ended, &none, (unsigned)rank + 1);
  (void)syscall(SYS_futex, &m->round, FUTEX_WAKE, MOST, NULL, NULL, 0);
}

/* Sleep until *word is no longer `value`, or for a tenth of a second. */
static void sleep_while(atomic_uint *word, unsigned value) {
  const struct timespec most = {0, WAKE_NANOSECONDS};
  (void)syscall(SYS_futex, word, FUTEX_WAIT, value, &most, NULL, 0);
}

/* Some 20 to 50 ns, in which the processor does less. */
static void pause_briefly(void) {
#ifdef __x86_64__
  __builtin_ia32_pause();
#endif
}

/* Whether there are more processes than processors for them: then one that looks takes the time of
 * one that works. */
static bool is_crowded(size_t processes) {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) != 0 || (size_t)CPU_COUNT(&set) < processes;
}

/* Wait until all processes have come here. */
static scl_status wait_for_all(const group *g, scl_error *error) {
  shared *m = g->memory;
  const unsigned round = atomic_load(&m->round);
  if (atomic_fetch_add(&m->arrived, 1) + 1 == g->size) {
    atomic_store(&m->arrived, 0);
    atomic_fetch_add(&m->round, 1);
    (void)syscall(SYS_futex, &m->round, FUTEX_WAKE, MOST, NULL, NULL, 0);
    return SCL_STATUS_OK;
  }
  for (int spin = 0; spin < SPINS && atomic_load(&m->round) == round; spin++)
    if (!g->crowded) pause_briefly();
  while (atomic_load(&m->round) == round) {
    if (atomic_load(&m->ended) != 0) return fail_ended(g, error);
    sleep_while(&m->round, round);
  }
  return SCL_STATUS_OK;
}

/* ------------ exchanges */

static int64_t *buffer_of(const group *g, size_t rank) {
  return g->memory->numbers + (g->turn * g->size + rank) * CHUNK;
}

/* result = the sums or maxima of this process's part of `count` numbers of all processes. */
static void reduce_part(const group *g, size_t count, bool maximum) {
  const size_t first = count * g->rank / g->size, end = count * (g->rank + 1) / g->size;
  int64_t *result = g->memory->result[g->turn];
  memcpy(result + first, buffer_of(g, 0) + first, (end - first) * sizeof *result);
  for (size_t r = 1; r < g->size; r++) {
    const int64_t *from = buffer_of(g, r);
    if (maximum)
      for (size_t i = first; i < end; i++)
        result[i] = from[i] > result[i] ? from[i] : result[i];
    else
      for (size_t i = first; i < end; i++)
        result[i] += from[i];
  }
}

/* Replace the numbers, one buffer at a time. */
static scl_status reduce(group *g, int64_t *numbers, size_t count, bool maximum, scl_error *error) {
  for (size_t at = 0; at < count; at += CHUNK) {
    const size_t some = count - at < CHUNK ? count - at : CHUNK;
    memcpy(buffer_of(g, g->rank), numbers + at, some * sizeof *numbers);
    scl_status status = wait_for_all(g, error);
    if (status != SCL_STATUS_OK) return status;
    reduce_part(g, some, maximum);
    status = wait_for_all(g, error);
    if (status != SCL_STATUS_OK) return status;
    memcpy(numbers + at, g->memory->result[g->turn], some * sizeof *numbers);
    g->turn = 1 - g->turn;
  }
  return SCL_STATUS_OK;
}

static scl_status fork_sum(void *context, int64_t *numbers, size_t count, scl_error *error) {
  return reduce(context, numbers, count, false, error);
}

static scl_status fork_maximum(void *context, int64_t *numbers, size_t count, scl_error *error) {
  return reduce(context, numbers, count, true, error);
}

static scl_status fork_broadcast(void *context, size_t from, void *bytes, size_t size,
                                 scl_error *error) {
  group *g = context;
  const size_t most = sizeof g->memory->result[0];
  for (size_t at = 0; at < size; at += most) {
    const size_t some = size - at < most ? size - at : most;
    void *result = g->memory->result[g->turn];
    if (g->rank == from) memcpy(result, (char *)bytes + at, some);
    const scl_status status = wait_for_all(g, error);
    if (status != SCL_STATUS_OK) return status;
    if (g->rank != from) memcpy((char *)bytes + at, result, some);
    g->turn = 1 - g->turn;
  }
  return SCL_STATUS_OK;
}

static size_t fork_size(void *context) { return ((const group *)context)->size; }
static size_t fork_rank(void *context) { return ((const group *)context)->rank; }

/* ------------ the process that waits for all */

/* The processes, as the one that started them sees them. */
typedef struct launch {
  const forking *self;
  shared *memory;
  size_t size, alive;
  pid_t pid[MOST]; /* 0: has ended */
  int status;      /* the exit status of all: the first failure */
  int passed;      /* the signal that was passed on last, or 0 */
  bool failed;
  int ending;               /* the signal that those get that are left ...; 0: none */
  struct timespec deadline; /* ... after this time */
} launch;

static void signal_all(const launch *l, int number) {
  for (size_t r = 0; r < l->size; r++)
    if (l->pid[r] > 0) (void)kill(l->pid[r], number);
}

/* From now on the processes have so many seconds to end, before they get a signal. */
static void set_deadline(launch *l, int seconds, int number) {
  if (l->ending != 0) return;
  l->ending = number;
  (void)clock_gettime(CLOCK_MONOTONIC, &l->deadline);
  l->deadline.tv_sec += seconds;
}

/* Note that process r has ended. The first that fails decides the status of all. Where it is gone
 * without a word, the work of the others is in vain, and they are interrupted at it: those that
 * exchange nothing for long would not see it. */
static void note_end(launch *l, size_t r, int status) {
  const bool early = atomic_load(&l->memory->closed[r]) == 0;
  const int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  l->pid[r] = 0;
  l->alive--;
  if (code == 0 && !early) return;
  if (l->failed) return;
  l->failed = true;
  l->status = code == 0 ? 1 : code;
  /* Who sends a signal to all, or closes the pipe that they write to, knows of it. */
  if (WIFSIGNALED(status) && WTERMSIG(status) != l->passed && WTERMSIG(status) != SIGPIPE)
    l->self->base.host->log(l->self, "process %zu of %zu was ended by signal %d (%s)", r, l->size,
                            WTERMSIG(status), strsignal(WTERMSIG(status)));
  tell_ended(l->memory, r);
  if (early)
    set_deadline(l, NOTICE_SECONDS, SIGINT);
  else
    set_deadline(l, GRACE_SECONDS, SIGTERM);
}

/* Note all processes that have ended by now. */
static void collect(launch *l) {
  int status;
  pid_t pid;
  while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
    for (size_t r = 0; r < l->size; r++)
      if (l->pid[r] == pid) note_end(l, r, status);
}

static bool is_late(const launch *l) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return l->ending != 0 &&
         (now.tv_sec > l->deadline.tv_sec ||
          (now.tv_sec == l->deadline.tv_sec && now.tv_nsec >= l->deadline.tv_nsec));
}

/* End those that are late: by SIGINT where one is gone, as if by Ctrl-C; by SIGTERM, so that they
 * remove unfinished files; then by SIGKILL. */
static void end_late(launch *l) {
  if (l->passed == 0 && l->ending == SIGTERM)
    l->self->base.host->log(l->self, "the others did not end in time, and were ended");
  signal_all(l, l->ending);
  if (l->ending != SIGINT) l->passed = l->ending;
  l->deadline.tv_sec += l->ending == SIGINT ? INTERRUPTION_SECONDS : TERMINATION_SECONDS;
  l->ending = l->ending == SIGINT ? SIGTERM : SIGKILL;
}

/* Wait for all processes, and end with their status. Signals to this process go to all; Ctrl-C
 * reaches the processes from the terminal. */
static _Noreturn void wait_and_end(launch *l, const sigset_t *awaited) {
  const struct timespec second = {1, 0}, tenth = {0, WAKE_NANOSECONDS};
  while (l->alive > 0) {
    siginfo_t from;
    const int number = sigtimedwait(awaited, &from, l->ending == 0 ? &second : &tenth);
    if (number == SIGTERM || number == SIGHUP || (number == SIGINT && from.si_code <= 0)) {
      l->passed = number;
      signal_all(l, number);
      if (number != SIGINT) /* a script may go on after Ctrl-C */
        set_deadline(l, GRACE_SECONDS, SIGTERM);
    }
    collect(l);
    if (is_late(l)) end_late(l);
  }
  _exit(l->status);
}

/* ------------ joining */

/* The memory that the processes share. */
static shared *map_shared(const forking *self, size_t *bytes, scl_error *error) {
  *bytes = sizeof(shared) + 2 * self->processes * CHUNK * sizeof(int64_t);
  /* Reserved: pages that the system did not have later would end a process. */
  void *memory = mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory != MAP_FAILED) return memory;
  (void)self->base.host->fail(error, SCL_STATUS_NO_MEMORY,
                              "%.0f MB of memory that %zu processes share: %s",
                              (double)*bytes / 1e6, self->processes, strerror(errno));
  return NULL;
}

/* In a new process: end with the one that started it. */
static void follow(pid_t parent, const sigset_t *before) {
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  (void)sigprocmask(SIG_SETMASK, before, NULL);
}

/* Start the processes. Returns in each of them with its number; here only after a failure, with
 * `size`, when those that were started are gone. */
static size_t start_all(launch *l, const sigset_t *awaited, const sigset_t *before) {
  const pid_t self = getpid();
  for (size_t r = 0; r < l->size; r++) {
    const pid_t pid = fork();
    if (pid == 0) {
      follow(self, before);
      return r;
    }
    if (pid < 0) {
      signal_all(l, SIGKILL);
      while (waitpid(-1, NULL, 0) > 0)
        ;
      return l->size;
    }
    l->pid[r] = pid;
    l->alive++;
  }
  wait_and_end(l, awaited);
}

static scl_status fork_open(const void *instance, void **out, scl_error *error) {
  const forking *self = instance;
  const scl_host *host = self->base.host;
  group *g = host->allocate(sizeof *g);
  size_t bytes = 0;
  if (g == NULL) return host->fail(error, SCL_STATUS_NO_MEMORY, "no memory for a group");
  shared *memory = map_shared(self, &bytes, error);
  if (memory == NULL) {
    host->release(g);
    return SCL_STATUS_NO_MEMORY;
  }
  sigset_t awaited, before;
  (void)sigemptyset(&awaited);
  (void)sigaddset(&awaited, SIGCHLD);
  (void)sigaddset(&awaited, SIGINT);
  (void)sigaddset(&awaited, SIGTERM);
  (void)sigaddset(&awaited, SIGHUP);
  (void)sigprocmask(SIG_BLOCK, &awaited, &before);
  (void)signal(SIGCHLD, SIG_DFL); /* one that is ignored does not come, nor does the status */
  launch l = {.self = self, .memory = memory, .size = self->processes};
  const size_t rank = start_all(&l, &awaited, &before);
  if (rank < l.size) {
    *g = (group){host, memory, bytes, l.size, rank, 0, is_crowded(l.size)};
    *out = g;
    return SCL_STATUS_OK;
  }
  const int reason = errno;
  (void)sigprocmask(SIG_SETMASK, &before, NULL);
  (void)munmap(memory, bytes);
  host->release(g);
  return host->fail(error, SCL_STATUS_IO, "%zu processes cannot be started: %s", l.size,
                    strerror(reason));
}

static void fork_close(void *context) {
  group *g = context;
  atomic_store(&g->memory->closed[g->rank], 1);
  (void)munmap(g->memory, g->bytes);
  g->host->release(g);
}

static void fork_abort(void *context) {
  const group *g = context;
  tell_ended(g->memory, g->rank);
}

const scl_plugin scullery_plugin = {
    .name = "fork",
    .summary = "processes of this machine, made by fork, which exchange numbers in shared memory",
    .doc = "scullery --processes 4 fit.lua runs the script in four processes. They share nothing\n"
           "but what they exchange. The process that starts them waits for all, passes signals\n"
           "on to them, and ends with their status: when one fails, the others end too.",
    SCL_TRANSPORT(.open = fork_open, .size = fork_size, .rank = fork_rank, .sum = fork_sum,
                  .maximum = fork_maximum, .broadcast = fork_broadcast, .close = fork_close,
                  .abort = fork_abort),
    SCL_INSTANCE(forking, options)};
