/* scullery.checker: groups of processes that a transport joins, and exchanges between them whose
 * results each process knows: the numbers of every process are a function of a seed.
 *
 * A transport may start its processes by fork, and the process that starts them ends with them. So
 * a group is opened in a child of the process that checks. Its processes tell what they are at, and
 * what they have found, in memory that they share with it. */
#define _GNU_SOURCE
#include "plugin/transport.h"
#include "base/interrupt.h"
#include "checker/checker.h"
#include "checker/guarded.h"
#include "lua/handle.h"
#include "plugin/call.h"
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 16, TEXT = sizeof((scl_error *)0)->message }; /* processes; bytes of a sentence */

/* What a process of the group tells. */
typedef struct tale {
  size_t rank, size;
  atomic_int told;  /* 1: text is there, and the process is about to leave the group */
  char doing[TEXT]; /* the exchange that it is at, or empty */
  char text[TEXT];  /* what it has found to be wrong, or empty */
} tale;

typedef struct tales {
  atomic_uint joined; /* how many processes `open` has returned in; more than MOST tell nothing */
  char refused[TEXT]; /* why it has failed, in one of them */
  tale of[MOST];      /* in the order of joining */
} tales;

/* The group of this process. */
static struct {
  const scl_instance *transport;
  void *group; /* NULL: there is none */
  tale *mine;
} here;

static void doing(const char *text) {
  (void)snprintf(here.mine->doing, sizeof here.mine->doing, "%s", text);
}

static void check_group(lua_State *L) {
  if (here.group == NULL) luaL_error(L, "this process is in no group");
}

/* ------------ numbers that all know */

/* A number of 64 bits from three (the finaliser of splitmix64). */
static uint64_t mix(uint64_t seed, uint64_t rank, uint64_t i) {
  uint64_t z = seed + 0x9e3779b97f4a7c15U * (rank + 1) + 0xd1342543de82ef95U * (i + 1);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

typedef enum pattern { RANDOM, EXTREME } pattern;
static const char *const patterns[] = {"random", "extreme", NULL};

/* Number i of process r. No sum of some processes leaves the range: random numbers are below 2^59
 * (there are at most 16 processes); of the extreme ones, one process has the least or the largest
 * number, or half of it, and the others small ones of the other sign. */
static int64_t number_of(pattern p, uint64_t seed, size_t r, size_t i, size_t size) {
  const uint64_t z = mix(seed, r, i);
  const int64_t small = (int64_t)(z >> 40);
  if (p == RANDOM) return (int64_t)(z >> 5) - ((int64_t)1 << 58);
  const bool extreme = mix(seed, 77, i) % size == r;
  switch (i % 4) {
  case 0:
    return extreme ? INT64_MAX : -small;
  case 1:
    return extreme ? INT64_MIN : small;
  case 2:
    return extreme ? INT64_MIN / 2 : -1;
  default:
    return 0;
  }
}

static int64_t combined(bool maximum, int64_t a, int64_t b) {
  return !maximum ? a + b : a > b ? a : b;
}

/* Number i of the result, without the numbers of process `without` (size: of none). */
static int64_t wanted(bool maximum, pattern p, uint64_t seed, size_t i, size_t size,
                      size_t without) {
  int64_t result = maximum ? INT64_MIN : 0;
  for (size_t r = 0; r < size; r++)
    if (r != without) result = combined(maximum, result, number_of(p, seed, r, i, size));
  return result;
}

/* ------------ exchanges */

typedef struct exchange {
  scl_guarded memory;
  bool failed; /* the slot returned a failure: `text` is its sentence; else what is wrong, or "" */
  char text[TEXT];
} exchange;

static int release_exchange(lua_State *L) {
  exchange *e = lua_touserdata(L, 1);
  scl_guarded_destroy(&e->memory);
  return 0;
}

/* Say what is wrong with number i of the result. */
static void say_number(exchange *e, bool maximum, pattern p, uint64_t seed, size_t i,
                       size_t count) {
  const size_t size = here.mine->size;
  const int64_t got = ((const int64_t *)(const void *)e->memory.bytes)[i];
  const int written = snprintf(e->text, sizeof e->text,
                               "number %zu of %zu is %lld, and the %s is "
                               "%lld",
                               i, count, (long long)got, maximum ? "maximum" : "sum",
                               (long long)wanted(maximum, p, seed, i, size, size));
  for (size_t r = 0; r < size && size > 1; r++)
    if (got == wanted(maximum, p, seed, i, size, r)) {
      (void)snprintf(e->text + written, sizeof e->text - (size_t)written,
                     ": the numbers of process %zu are missing", r);
      return;
    }
}

/* Return an exchange to Lua: nothing, or what is wrong with its result; or nil and the sentence of
 * its failure. */
static int answer(lua_State *L, const exchange *e) {
  if (e->text[0] == 0) return 0;
  if (e->failed) lua_pushnil(L);
  lua_pushstring(L, e->text);
  return e->failed ? 2 : 1;
}

/* Note how a slot has ended; whether its result is to be looked at. */
static bool finish(exchange *e, scl_status status, const scl_error *error) {
  here.mine->doing[0] = 0;
  e->failed = status != SCL_STATUS_OK;
  if (e->failed) (void)snprintf(e->text, sizeof e->text, "%s", error->message);
  if (!e->failed && !scl_guarded_untouched(&e->memory))
    (void)snprintf(e->text, sizeof e->text, "bytes before the numbers are written");
  return e->text[0] == 0;
}

static int reduce(lua_State *L, bool maximum) {
  check_group(L);
  const size_t count = scl_lua_check_size(L, 1, 0, (size_t)1 << 26, "count");
  const pattern p = (pattern)luaL_checkoption(L, 2, NULL, patterns);
  const uint64_t seed = (uint64_t)luaL_checkinteger(L, 3);
  const size_t size = here.mine->size;
  exchange *e = scl_lua_new_guarded(L, sizeof *e, release_exchange);
  scl_error error = {0};
  const bool at_start = seed % 2 == 0;
  scl_lua_check(L, scl_guarded_create(count * sizeof(int64_t), at_start, &e->memory, &error),
                &error);
  int64_t *x = (int64_t *)(void *)e->memory.bytes;
  for (size_t i = 0; i < count; i++)
    x[i] = number_of(p, seed, here.mine->rank, i, size);
  doing(
      lua_pushfstring(L, "the %s of %I numbers", maximum ? "maximum" : "sum", (lua_Integer)count));
  const scl_status status = (maximum ? scl_transport_maximum : scl_transport_sum)(
      here.transport, here.group, x, count, &error);
  if (!finish(e, status, &error)) return answer(L, e);
  for (size_t i = 0; i < count && e->text[0] == 0; i++)
    if (x[i] != wanted(maximum, p, seed, i, size, size)) say_number(e, maximum, p, seed, i, count);
  return answer(L, e);
}

/* checker.transport_sum(count, "random" | "extreme", seed), checker.transport_maximum(the same):
 * one exchange of the group -> nothing, or what is wrong with its result; or nil and the sentence
 * of its failure */
static int transport_sum(lua_State *L) { return reduce(L, false); }
static int transport_maximum(lua_State *L) { return reduce(L, true); }

/* checker.transport_broadcast(from, size, seed): the same, of so many bytes */
static int transport_broadcast(lua_State *L) {
  check_group(L);
  const size_t from = scl_lua_check_size(L, 1, 0, here.mine->size - 1, "from");
  const size_t size = scl_lua_check_size(L, 2, 0, (size_t)1 << 28, "size");
  const uint64_t seed = (uint64_t)luaL_checkinteger(L, 3);
  exchange *e = scl_lua_new_guarded(L, sizeof *e, release_exchange);
  scl_error error = {0};
  scl_lua_check(L, scl_guarded_create(size, seed % 2 == 0, &e->memory, &error), &error);
  unsigned char *bytes = e->memory.bytes;
  for (size_t i = 0; i < size; i++)
    bytes[i] = (unsigned char)mix(seed, here.mine->rank, i);
  doing(lua_pushfstring(L, "the broadcast of %I bytes from process %I", (lua_Integer)size,
                        (lua_Integer)from));
  if (!finish(e, scl_transport_broadcast(here.transport, here.group, from, bytes, size, &error),
              &error))
    return answer(L, e);
  for (size_t i = 0; i < size; i++)
    if (bytes[i] != (unsigned char)mix(seed, from, i)) {
      (void)snprintf(e->text, sizeof e->text,
                     "byte %zu of %zu from process %zu is %d, and was sent as %d", i, size, from,
                     bytes[i], (unsigned char)mix(seed, from, i));
      break;
    }
  return answer(L, e);
}

/* checker.transport_asked() -> the size of the group and the number of this process, as the slots
 * say now */
static int transport_asked(lua_State *L) {
  check_group(L);
  const scl_transport *table = scl_instance_vtable(here.transport);
  scl_call call;
  scl_error error = {0};
  scl_call_enter(&call, here.transport->component, "size", &error);
  lua_pushinteger(L, (lua_Integer)table->size(here.group));
  lua_pushinteger(L, (lua_Integer)table->rank(here.group));
  scl_lua_check(L, scl_call_leave(&call, SCL_STATUS_OK), &error);
  return 2;
}

/* Up to a minute, in turns that Ctrl-C ends. */
static void sleep_for(double seconds) {
  const double longest = 0.01;
  for (double left = fmin(seconds, 60); left > 0 && !scl_interrupted(); left -= longest) {
    const struct timespec turn = {.tv_nsec = (long)(1e9 * fmin(left, longest))};
    (void)nanosleep(&turn, NULL);
  }
}

/* checker.sleep(seconds) */
static int sleep_here(lua_State *L) {
  sleep_for(luaL_checknumber(L, 1));
  return 0;
}

static void do_nothing(int signal) { (void)signal; }

/* checker.outlive_ctrl_c(): from now on Ctrl-C ends calls that wait, and not this process, as when
 * a script runs */
static int outlive_ctrl_c(lua_State *L) {
  const struct sigaction action = {.sa_handler = do_nothing}; /* no SA_RESTART */
  check_group(L);
  (void)sigaction(SIGINT, &action, NULL);
  return 0;
}

/* checker.press_ctrl_c(): as at the terminal, for the group and the process that opened it */
static int press_ctrl_c(lua_State *L) {
  check_group(L); /* the child that opened it leads a process group */
  (void)kill(0, SIGINT);
  return 0;
}

/* ------------ the processes of a group */

/* f(rank, size) in this process, which then leaves the group and ends. f returns what is wrong or
 * nil, then how to leave: "close", "abort", "exit" (without a word to the transport) or "kill",
 * then the status to end with (0, or 1 where something is wrong). */
static _Noreturn void play(lua_State *L, tale *mine) {
  lua_pushvalue(L, 3);
  lua_pushinteger(L, (lua_Integer)mine->rank);
  lua_pushinteger(L, (lua_Integer)mine->size);
  const bool works = lua_pcall(L, 2, 3, 0) == LUA_OK;
  if (!works) lua_settop(L, lua_gettop(L) + 2);
  const char *wrong = lua_tostring(L, -3), *how = lua_tostring(L, -2);
  const int status = (int)luaL_optinteger(L, -1, wrong != NULL);
  if (wrong != NULL) (void)snprintf(mine->text, sizeof mine->text, "%s", wrong);
  if (how == NULL) how = wrong != NULL ? "abort" : "close";
  mine->doing[0] = 0;
  atomic_store(&mine->told, 1);
  if (strcmp(how, "close") == 0) scl_transport_close(here.transport, here.group);
  if (strcmp(how, "abort") == 0) scl_transport_abort(here.transport, here.group);
  if (strcmp(how, "kill") == 0) (void)raise(SIGKILL);
  (void)fflush(NULL);
  _exit(status);
}

/* Open the group as the command does: before it watches for Ctrl-C. */
static scl_status open_unwatched(const scl_instance *transport, size_t *size, size_t *rank,
                                 scl_error *error) {
  const struct sigaction plain = {.sa_handler = SIG_DFL};
  struct sigaction watched, now;
  (void)sigaction(SIGINT, &plain, &watched);
  const scl_status status = scl_transport_open(transport, &here.group, size, rank, error);
  (void)sigaction(SIGINT, NULL, &now);
  if (now.sa_handler == SIG_DFL) (void)sigaction(SIGINT, &watched, NULL);
  return status;
}

/* Open the group in a child, whose messages go to a file. */
static _Noreturn void join(lua_State *L, const scl_instance *transport, tales *told, int messages,
                           unsigned seconds) {
  scl_error error = {0};
  size_t size, rank;
  (void)setpgid(0, 0);
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (messages >= 0) (void)dup2(messages, STDERR_FILENO);
  here.transport = transport;
  if (open_unwatched(transport, &size, &rank, &error) != SCL_STATUS_OK) {
    (void)snprintf(told->refused, sizeof told->refused, "%s", error.message);
    _exit(EXIT_FAILURE);
  }
  (void)alarm(seconds); /* where nobody is left to end it */
  const unsigned place = atomic_fetch_add(&told->joined, 1);
  if (place >= MOST) _exit(EXIT_FAILURE);
  here.mine = &told->of[place];
  here.mine->rank = rank;
  here.mine->size = size;
  play(L, here.mine);
}

/* ------------ the process that checks */

typedef struct run {
  tales *told;
  int messages; /* a file in memory */
  pid_t child;  /* and its process group; 0: none */
} run;

static void end_group(run *r) {
  if (r->child > 0) (void)kill(-r->child, SIGKILL);
  r->child = 0;
}

static void close_run(run *r) {
  end_group(r);
  if (r->told != NULL) (void)munmap(r->told, sizeof *r->told);
  if (r->messages >= 0) (void)close(r->messages);
  *r = (run){.messages = -1};
}

static int release_run(lua_State *L) {
  close_run(lua_touserdata(L, 1));
  return 0;
}

static double now(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Wait for the child; false where it was not over after so many seconds, and was ended. */
static bool wait_for(const run *r, double seconds, int *status) {
  const double until = now() + seconds;
  while (waitpid(r->child, status, WNOHANG) == 0) {
    if (now() > until) {
      (void)kill(-r->child, SIGKILL);
      (void)waitpid(r->child, status, 0);
      return false;
    }
    sleep_for(1e-3);
  }
  return true;
}

static void push_tale(lua_State *L, const tale *one) {
  lua_newtable(L);
  scl_lua_set_integer(L, "rank", one->rank);
  scl_lua_set_integer(L, "size", one->size);
  scl_lua_set_boolean(L, "told", atomic_load(&one->told) != 0);
  if (one->doing[0] != 0) scl_lua_set_text(L, "doing", one->doing);
  if (one->text[0] != 0) scl_lua_set_text(L, "text", one->text);
}

/* What was written to standard error. */
static void set_messages(lua_State *L, const run *r) {
  char text[4 * TEXT];
  const ssize_t size = pread(r->messages, text, sizeof text, 0);
  lua_pushlstring(L, text, size > 0 ? (size_t)size : 0);
  lua_setfield(L, -2, "messages");
}

/* checker.transport_run(transport, seconds, f): a child process opens the group, and each process
 * of it calls f (above) -> { status = of the child, signal = that ended it; late = whether it was
 * ended after so many seconds, lingering = whether others lived longer than it, refused = the
 * sentence of `open`, messages, and for each process that has joined { rank =, size =, told =
 * whether f has returned, text = what it returned, doing = the exchange that it was at } } */
static int transport_run(lua_State *L) {
  const scl_instance *transport = scl_lua_check_instance(L, 1, SCL_KIND_TRANSPORT);
  const unsigned seconds = (unsigned)scl_lua_check_size(L, 2, 1, 86400, "seconds");
  luaL_checktype(L, 3, LUA_TFUNCTION);
  run *r = scl_lua_new_guarded(L, sizeof *r, release_run);
  *r = (run){.messages = memfd_create("messages", MFD_CLOEXEC)};
  void *memory =
      mmap(NULL, sizeof *r->told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return luaL_error(L, "no memory that processes share");
  r->told = memory;
  (void)fflush(NULL);
  const pid_t child = fork();
  if (child < 0) return luaL_error(L, "no process can be started: %s", strerror(errno));
  if (child == 0) join(L, transport, r->told, r->messages, seconds + 5);
  (void)setpgid(child, child);
  r->child = child;
  int status = 0;
  const bool late = !wait_for(r, seconds, &status);
  const bool lingering = !late && kill(-child, 0) == 0;
  end_group(r);
  lua_newtable(L);
  scl_lua_set_integer(L, "status", WIFEXITED(status) ? (size_t)WEXITSTATUS(status) : 0);
  if (WIFSIGNALED(status)) scl_lua_set_text(L, "signal", strsignal(WTERMSIG(status)));
  scl_lua_set_boolean(L, "late", late);
  scl_lua_set_boolean(L, "lingering", lingering);
  if (r->told->refused[0] != 0) scl_lua_set_text(L, "refused", r->told->refused);
  set_messages(L, r);
  for (unsigned i = 0; i < scl_min(atomic_load(&r->told->joined), MOST); i++) {
    push_tale(L, &r->told->of[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  close_run(r);
  return 1;
}

/* checker.transport_launched(transport) -> whether it says that a launcher started this process */
static int transport_launched(lua_State *L) {
  lua_pushboolean(L, scl_transport_launched(scl_lua_check_instance(L, 1, SCL_KIND_TRANSPORT)));
  return 1;
}

SCL_LUA_CALLS(scl_checker_transport_calls, {"transport_run", transport_run, 3},
              {"transport_launched", transport_launched, 1}, {"transport_sum", transport_sum, 3},
              {"transport_maximum", transport_maximum, 3},
              {"transport_broadcast", transport_broadcast, 3},
              {"transport_asked", transport_asked, 0}, {"sleep", sleep_here, 1},
              {"outlive_ctrl_c", outlive_ctrl_c, 0}, {"press_ctrl_c", press_ctrl_c, 0});
