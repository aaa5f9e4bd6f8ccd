/* scullery.checker: what slots share with each other that they must not: calls of two instances on
 * two threads at once, the memory of instances and of the object, the clock, and the streams of
 * random numbers that they take. */
#define _GNU_SOURCE
#include "base/pool.h"
#include "checker/blocks.h"
#include "checker/checker.h"
#include "checker/parameters.h"
#include "lua/model.h"
#include "lua/training.h"
#include "map/parameters.h"
#include "plugin/kernel.h"
#include "plugin/nonlinearity.h"
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* ------------ calls at once */

enum { JOBS = 2, ROOM = 1 << 22 }; /* bytes of a result */

/* One of two tasks: a call that is made again and again, and the bytes that it must write. */
typedef struct job {
  scl_status (*call)(const struct job *job, scl_error *error);
  scl_instance *self;
  scl_origin origin;
  scl_draw draw;
  scl_const_block in;
  scl_block out;
  scl_const_parameters u, v;
  scl_parameters drawn;
  scl_training *training;
  const scl_model *model;
  const void *wanted, *made;
  size_t bytes;
} job;

typedef struct race {
  job jobs[JOBS];
  size_t times;
  atomic_int ready;
  atomic_size_t wrong[JOBS], done;
} race;

static scl_status call_phi(const job *j, scl_error *error) {
  return scl_nonlinearity_apply(j->self, &j->in, &j->out, error);
}
static scl_status call_gram(const job *j, scl_error *error) {
  return scl_kernel_gram(j->self, &j->u, &j->v, j->out.data, j->out.row_stride, error);
}
static scl_status call_draw(const job *j, scl_error *error) {
  return scl_sampler_draw(j->self, &j->draw, &j->drawn, error);
}
static scl_status call_apply(const job *j, scl_error *error) {
  return scl_sampler_apply(j->self, &j->draw, &j->u, &j->in, &j->out, error);
}
static scl_status call_decide(const job *j, scl_error *error) {
  return scl_model_decide_block(j->model, &j->in, j->out.data, j->out.row_stride, error);
}
static scl_status call_solve(const job *j, scl_error *error) {
  scl_fit fit;
  SCL_TRY(scl_training_solve(j->training, j->self, -1, NULL, 0, &fit, error));
  memcpy((void *)(uintptr_t)j->made, fit.coefficients.data, j->bytes);
  scl_fit_release(&fit);
  return SCL_STATUS_OK;
}

/* A task waits for the other one, as long as it may take to start a thread, and goes on until both
 * have made their calls. */
static scl_status run_job(void *context, size_t index, scl_error *error) {
  race *r = context;
  const job *j = &r->jobs[index];
  scl_status status = SCL_STATUS_OK;
  atomic_fetch_add(&r->ready, 1);
  for (long spin = 0; atomic_load(&r->ready) < JOBS && spin < 1000000; spin++)
    (void)spin;
  for (size_t k = 0; status == SCL_STATUS_OK && k < r->times; k++) {
    status = j->call(j, error);
    if (status == SCL_STATUS_OK && memcmp(j->made, j->wanted, j->bytes) != 0)
      atomic_fetch_add(&r->wrong[index], 1);
  }
  return status;
}

static const void *bytes_of(const scl_block *b, size_t *bytes) {
  const size_t size = b->dtype == SCL_DTYPE_FLOAT32 || b->dtype == SCL_DTYPE_INT32 ? 4 : 8;
  *bytes = b->rows * b->cols * b->planes == 0
               ? 0
               : ((size_t)b->row_stride * (b->rows - 1) +
                  (size_t)b->plane_stride * (b->planes - 1) + b->cols) *
                     size;
  return b->data;
}

/* The block in field `key` of the table at `place`. */
static scl_block block_field(lua_State *L, int place, const char *key) {
  lua_getfield(L, place, key);
  const scl_block b = scl_lua_check_block(L, lua_gettop(L));
  lua_pop(L, 1); /* it stays in the table */
  return b;
}

static scl_parameters parameters_field(lua_State *L, int place, const char *key) {
  lua_getfield(L, place, key);
  const scl_parameters p = scl_lua_check_parameters(L, lua_gettop(L));
  lua_pop(L, 1);
  return p;
}

static void read_draw(lua_State *L, int place, job *j) {
  lua_getfield(L, place, "draw");
  j->draw = scl_lua_check_draw(L, lua_gettop(L), &j->origin);
  j->self = j->origin.sampler;
  lua_pop(L, 1);
}

static void read_result(lua_State *L, int place, job *j) {
  const scl_block wanted = block_field(L, place, "wanted");
  size_t bytes;
  j->out = block_field(L, place, "out");
  j->made = bytes_of(&j->out, &j->bytes);
  j->wanted = bytes_of(&wanted, &bytes);
  if (bytes != j->bytes) luaL_error(L, "out and wanted differ in size");
}

/* { what =, self or draw or model or training =, in =, u =, v =, out =, wanted = } */
static void read_job(lua_State *L, int place, job *j) {
  static const char *const whats[] = {"phi", "gram", "draw", "apply", "decide", "solve", NULL};
  static scl_status (*const calls[])(const job *, scl_error *) = {
      call_phi, call_gram, call_draw, call_apply, call_decide, call_solve};
  lua_getfield(L, place, "what");
  const int what = luaL_checkoption(L, -1, NULL, whats);
  j->call = calls[what];
  lua_getfield(L, place, "self");
  if (what < 2 || what == 5) j->self = scl_lua_check_handle(L, lua_gettop(L), SCL_LUA_INSTANCE);
  if (what == 4) j->model = scl_lua_check_handle(L, lua_gettop(L), SCL_LUA_MODEL);
  lua_pop(L, 2);
  if (what == 2 || what == 3) read_draw(L, place, j);
  if (what == 0 || what >= 3) {
    lua_getfield(L, place, "in");
    if (what == 5)
      j->training = scl_lua_take_training(L, lua_gettop(L))->engine;
    else
      j->in = scl_lua_check_const_block(L, lua_gettop(L));
    lua_pop(L, 1);
  }
  if (what == 1 || what == 3) {
    const scl_parameters u = parameters_field(L, place, "u");
    j->u = scl_parameters_view(&u);
  }
  if (what == 1) {
    const scl_parameters v = parameters_field(L, place, "v");
    j->v = scl_parameters_view(&v);
  }
  if (what == 2) j->drawn = parameters_field(L, place, "u");
  read_result(L, place, j);
}

/* checker.at_once({ job, job }, times) -> how many of the calls of each job wrote something else
 * than wanted: two calls of slots on two threads, each that many times. Jobs as read_job says. */
static int at_once(lua_State *L) {
  race r = {.times = scl_lua_check_size(L, 2, 1, 1 << 20, "times")};
  scl_error error = {0};
  luaL_checktype(L, 1, LUA_TTABLE);
  for (int i = 0; i < JOBS; i++) {
    lua_rawgeti(L, 1, i + 1);
    luaL_checktype(L, -1, LUA_TTABLE);
    read_job(L, lua_gettop(L), &r.jobs[i]);
  }
  scl_lua_check(L, scl_pool_try(JOBS, run_job, &r, &error), &error);
  for (int i = 0; i < JOBS; i++)
    lua_pushinteger(L, (lua_Integer)atomic_load(&r.wrong[i]));
  return JOBS;
}

/* ------------ memory */

/* checker.instance_bytes(instance) -> the bytes of the plugin's instance, a text */
static int instance_bytes(lua_State *L) {
  const scl_instance *instance = scl_lua_check_handle(L, 1, SCL_LUA_INSTANCE);
  const size_t size = instance->self == NULL ? 0 : instance->component->plugin.instance_size;
  lua_pushlstring(L, size == 0 ? "" : instance->self, size);
  return 1;
}

typedef struct segments {
  const char *path;
  luaL_Buffer *text;
  bool found;
} segments;

static int add_segments(struct dl_phdr_info *info, size_t size, void *context) {
  segments *s = context;
  (void)size;
  if (info->dlpi_name == NULL || strcmp(info->dlpi_name, s->path) != 0) return 0;
  for (size_t i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *one = &info->dlpi_phdr[i];
    if (one->p_type != PT_LOAD || (one->p_flags & PF_W) == 0) continue;
    luaL_addlstring(s->text, (const char *)(uintptr_t)(info->dlpi_addr + one->p_vaddr),
                    one->p_memsz);
    s->found = true;
  }
  return 1;
}

/* checker.static_bytes(path) -> the writable segments of the loaded object, a text; nothing where
 * it has none, or where the address sanitizer has put zones between variables that no one reads */
static int static_bytes(lua_State *L) {
  luaL_Buffer text;
  segments s = {.path = luaL_checkstring(L, 1), .text = &text};
  luaL_buffinit(L, &text);
#if defined(__SANITIZE_ADDRESS__)
  (void)add_segments;
#else
  (void)dl_iterate_phdr(add_segments, &s);
#endif
  luaL_pushresult(&text);
  return s.found ? 1 : 0;
}

/* ------------ the clock */

static long ahead; /* seconds that the object's clock is ahead */

static time_t moved_time(time_t *out) {
  const time_t now = time(NULL) + ahead;
  if (out != NULL) *out = now;
  return now;
}
static int moved_clock_gettime(clockid_t clock, struct timespec *out) {
  const int status = clock_gettime(clock, out);
  out->tv_sec += ahead;
  out->tv_nsec = (out->tv_nsec + ahead % 1000 * 1000003) % 1000000000;
  return status;
}
static int moved_gettimeofday(struct timeval *out, void *zone) {
  const int status = gettimeofday(out, zone);
  out->tv_sec += ahead;
  out->tv_usec = (out->tv_usec + ahead % 1000 * 1009) % 1000000;
  return status;
}
static int moved_timespec_get(struct timespec *out, int base) {
  const int status = timespec_get(out, base);
  out->tv_sec += ahead;
  return status;
}
static clock_t moved_clock(void) { return clock() + ahead * CLOCKS_PER_SEC; }
static pid_t moved_getpid(void) { return getpid() + (pid_t)(ahead % 1000); }

static const struct {
  const char *name;
  void (*function)(void);
} moved[] = {{"time", (void (*)(void))moved_time},
             {"clock_gettime", (void (*)(void))moved_clock_gettime},
             {"gettimeofday", (void (*)(void))moved_gettimeofday},
             {"timespec_get", (void (*)(void))moved_timespec_get},
             {"clock", (void (*)(void))moved_clock},
             {"getpid", (void (*)(void))moved_getpid}};

/* Let the place of a relocation point to the checker's function of that name, where it has one. */
static bool move_place(void **place, const char *name) {
  for (size_t i = 0; i < sizeof moved / sizeof *moved; i++) {
    if (strcmp(moved[i].name, name) != 0) continue;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    void *from = (void *)((uintptr_t)place / page * page);
    if (mprotect(from, page, PROT_READ | PROT_WRITE) != 0) return false;
    memcpy(place, &moved[i].function, sizeof *place);
    return true;
  }
  return false;
}

static size_t move_all(const struct link_map *map, const ElfW(Rela) * from, size_t bytes,
                       const ElfW(Sym) * symbols, const char *names) {
  size_t count = 0;
  for (size_t i = 0; from != NULL && i < bytes / sizeof *from; i++) {
    const size_t symbol = ELF64_R_SYM(from[i].r_info);
    if (symbol == 0) continue;
    void **place = (void **)(uintptr_t)(map->l_addr + from[i].r_offset);
    count += move_place(place, names + symbols[symbol].st_name);
  }
  return count;
}

/* checker.move_clock(path, seconds) -> how many of the functions that tell the time (and the number
 * of the process) the loaded object calls: from now on they are that far ahead for it */
static int move_clock(lua_State *L) {
  struct link_map *map = dlopen(luaL_checkstring(L, 1), RTLD_NOLOAD | RTLD_NOW);
  ahead = (long)luaL_checkinteger(L, 2);
  size_t count = 0;
  if (map != NULL) {
    const ElfW(Rela) * lists[2] = {NULL, NULL};
    size_t bytes[2] = {0, 0};
    const ElfW(Sym) *symbols = NULL;
    const char *names = NULL;
    for (const ElfW(Dyn) *one = map->l_ld; one->d_tag != DT_NULL; one++) {
      const void *at = (const void *)(uintptr_t)one->d_un.d_ptr;
      if (one->d_tag == DT_RELA) lists[0] = at;
      if (one->d_tag == DT_JMPREL) lists[1] = at;
      if (one->d_tag == DT_RELASZ) bytes[0] = one->d_un.d_val;
      if (one->d_tag == DT_PLTRELSZ) bytes[1] = one->d_un.d_val;
      if (one->d_tag == DT_SYMTAB) symbols = at;
      if (one->d_tag == DT_STRTAB) names = at;
    }
    for (int i = 0; symbols != NULL && names != NULL && i < 2; i++)
      count += move_all(map, lists[i], bytes[i], symbols, names);
    (void)dlclose(map);
  }
  lua_pushinteger(L, (lua_Integer)count);
  return 1;
}

/* ------------ streams of random numbers */

static scl_random watched_random;
static scl_host watched_host;
static struct {
  const scl_random *plain;
  scl_address expected;
  _Atomic uint64_t seed, stream; /* of the first call beyond what a component may use */
  atomic_int beyond;
} taken;

static void take(uint64_t seed, uint64_t stream) {
  const uint64_t past = stream - taken.expected.stream;
  if (seed == taken.expected.seed && past < 16 && past != 1) return;
  if (atomic_exchange(&taken.beyond, 1) != 0) return;
  atomic_store(&taken.seed, seed);
  atomic_store(&taken.stream, stream);
}
static void watched_bits(uint64_t seed, uint64_t stream, uint64_t index, uint64_t offset,
                         size_t count, uint64_t *out) {
  take(seed, stream);
  taken.plain->bits(seed, stream, index, offset, count, out);
}
static void watched_uniform(uint64_t seed, uint64_t stream, uint64_t index, uint64_t offset,
                            size_t count, double *out) {
  take(seed, stream);
  taken.plain->uniform(seed, stream, index, offset, count, out);
}
static void watched_normal(uint64_t seed, uint64_t stream, uint64_t index, uint64_t offset,
                           size_t count, double *out) {
  take(seed, stream);
  taken.plain->normal(seed, stream, index, offset, count, out);
}

/* checker.streams(draw, parameters) -> nothing where the draw takes random numbers from the seed
 * and the 16 streams of its own alone, but for the one of the bias; else that it does not, the seed
 * and the stream that it takes */
static int streams(lua_State *L) {
  scl_origin origin;
  scl_error error = {0};
  const scl_draw draw = scl_lua_check_draw(L, 1, &origin);
  const scl_parameters out = scl_lua_check_parameters(L, 2);
  scl_base *base = origin.sampler->self;
  if (base == NULL || origin.sampler->component->plugin.instance_size < sizeof *base) return 0;
  const scl_host *host = base->host;
  taken.plain = host->random;
  taken.expected = draw.address;
  atomic_store(&taken.beyond, 0);
  watched_random = *host->random;
  watched_random.bits = watched_bits;
  watched_random.uniform = watched_uniform;
  watched_random.normal = watched_normal;
  watched_host = *host;
  watched_host.random = &watched_random;
  base->host = &watched_host;
  const scl_status status = scl_sampler_draw(origin.sampler, &draw, &out, &error);
  base->host = host;
  scl_lua_check(L, status, &error);
  if (atomic_load(&taken.beyond) == 0) return 0;
  lua_pushboolean(L, true);
  lua_pushfstring(L, "%I", (lua_Integer)atomic_load(&taken.seed));
  lua_pushinteger(L, (lua_Integer)(atomic_load(&taken.stream) - draw.address.stream));
  return 3;
}

SCL_LUA_CALLS(scl_checker_at_once_calls, {"at_once", at_once, 2},
              {"instance_bytes", instance_bytes, 1}, {"static_bytes", static_bytes, 1},
              {"move_clock", move_clock, 2}, {"streams", streams, 2});
