/* Memory that belongs to a call of a slot (scl_host.scratch): aligned, apart, released when the
 * slot returns, fails or is refused memory; of a task, when the task ends; none outside a call. */
#include "base/arena.h"
#include "base/pool.h"
#include "expect.h"
#include "plugin/host.h"
#include "plugin/instance.h"
#include "plugin/kernel.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { TASKS = 64, EACH = 1000 };

static atomic_int wrong; /* found in slots and tasks */

/* Whether a block is aligned and holds its own numbers after another was taken. */
static bool is_sound(const scl_host *host, size_t bytes, unsigned char mark) {
  unsigned char *block = host->scratch(bytes);
  if (block == NULL) return false;
  memset(block, mark, bytes);
  unsigned char *other = host->scratch(bytes);
  if (other == NULL) return false;
  memset(other, mark + 1, bytes);
  bool sound = (uintptr_t)block % 64 == 0 && (uintptr_t)other % 64 == 0;
  for (size_t i = 0; i < bytes; i++)
    sound &= block[i] == mark;
  return sound;
}

/* ------------ a kernel that takes memory */

static const scl_host *host;
static atomic_size_t most; /* bytes held, seen from tasks */
static size_t before;      /* bytes held before the call */

static scl_status refuse(scl_error *error) {
  return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for the test");
}

static scl_status task(void *context, size_t index, scl_error *error) {
  double *shared = context, *own = host->scratch(EACH * sizeof *own);
  if (own == NULL) return refuse(error);
  own[EACH - 1] = 1;
  shared[index] = own[EACH - 1];
  const size_t held = scl_allocated() - before;
  for (size_t seen = atomic_load(&most); held > seen;)
    if (atomic_compare_exchange_weak(&most, &seen, held)) break;
  return SCL_STATUS_OK;
}

/* K = 1, the sum of what the tasks wrote over their number; a pair of rows fails. */
static scl_status gram(const void *self, const scl_const_parameters *u,
                       const scl_const_parameters *v, double *out, ptrdiff_t stride,
                       scl_error *error) {
  (void)self, (void)stride;
  double sum = 0, *shared = host->scratch(TASKS * sizeof *shared);
  if (shared == NULL) return refuse(error);
  const scl_status status = host->parallel(TASKS, task, shared, error);
  if (status != SCL_STATUS_OK) return status;
  if (u->count == 2) return host->fail(error, SCL_STATUS_BAD_DATA, "two rows are too many");
  for (size_t i = 0; i < TASKS; i++)
    sum += shared[i];
  out[0] = v->count == 1 ? sum / TASKS : 0;
  return SCL_STATUS_OK;
}

static scl_status create(void *self, scl_error *error) {
  host = ((const scl_base *)self)->host;
  for (size_t bytes = 0; bytes < 300000; bytes = 3 * bytes + 1)
    if (!is_sound(host, bytes, (unsigned char)bytes)) return refuse(error);
  return SCL_STATUS_OK;
}

static void destroy(void *self) {
  (void)self;
  if (!is_sound(host, 100, 7)) atomic_fetch_add(&wrong, 1);
}

static const scl_plugin plugin = {.name = "taker",
                                  .summary = "takes memory",
                                  .doc = "For tests.",
                                  SCL_KERNEL(.spaces = SCL_BIT(SCL_SPACE_DENSE), .gram = gram),
                                  .create = create,
                                  .destroy = destroy};

/* ------------ tests */

static scl_status ask(const scl_instance *kernel, size_t count, double *out, scl_error *error) {
  double rows[2] = {1, 2};
  const scl_const_parameters u = {.head = SCL_HEAD(scl_const_parameters),
                                  .dim = 1,
                                  .count = count,
                                  .weights = rows,
                                  .stride = 1};
  return scl_kernel_gram(kernel, &u, &u, out, (ptrdiff_t)count, error);
}

/* Tasks release what they took: never more at once than one block a thread. */
static void test_calls(const scl_instance *kernel) {
  double out[4];
  scl_error error = {0};
  before = scl_allocated();
  expect_true(ask(kernel, 1, out, &error) == SCL_STATUS_OK && out[0] == 1, "a slot and its tasks");
  expect_true(scl_allocated() == before, "bytes are held after a slot");
  expect_true(atomic_load(&most) < TASKS / 2 * EACH * sizeof(double), "tasks keep what they took");
  expect_true(ask(kernel, 2, out, &error) == SCL_STATUS_BAD_DATA, "a slot that fails");
  expect_true(scl_allocated() == before, "bytes are held after a slot that failed");
  expect_true(host->scratch(1) == NULL, "memory outside a call");
}

/* Every allocation in turn fails once: a sentence, nothing lost. */
static void test_failing_allocations(const scl_instance *kernel) {
  scl_status status = SCL_STATUS_NO_MEMORY;
  long count = 0;
  for (; status != SCL_STATUS_OK && count < 1000; count++) {
    double out[1];
    scl_error error = {0};
    scl_allocate_fail_after(count);
    status = ask(kernel, 1, out, &error);
    scl_allocate_fail_after(-1);
    expect_true(status == SCL_STATUS_OK ||
                    (status == SCL_STATUS_NO_MEMORY && strstr(error.message, "taker") != NULL),
                "a failed allocation has a sentence");
    expect_true(scl_allocated() == before, "bytes are held after a failed allocation");
  }
  expect_true(status == SCL_STATUS_OK && count > TASKS, "a failure reaches the slot and each task");
}

static void test_refusals(const scl_instance *kernel) {
  double out[1];
  scl_error error = {0};
  scl_host_watch(kernel->component, SCL_HOST_REFUSE, 0);
  expect_true(ask(kernel, 1, out, &error) == SCL_STATUS_NO_MEMORY, "a refused call of scratch");
  scl_host_watch(NULL, 0, -1);
}

static void test_arena(void) {
  scl_arena arena = {0};
  const size_t held = scl_allocated();
  expect_true(scl_arena_take(&arena, 1000) != NULL, "a block");
  expect_true(scl_arena_take(&arena, SIZE_MAX - 10) == NULL, "nearly everything");
  scl_arena_end(&arena);
  scl_arena_end(&arena);
  expect_true(scl_allocated() == held, "bytes are held after an arena's end");
  expect_true(scl_arena_take(&arena, 0) != NULL, "an arena that is used again");
  scl_arena_end(&arena);
}

int main(void) {
  scl_instance *kernel = NULL;
  scl_error error = {0};
  scl_pool_set_threads(4);
  expect_true(scl_host_get()->scratch(1) == NULL, "memory before any call");
  expect_true(strcmp(scl_host_get()->name, "scullery") == 0 && scl_host_get()->version[0] != 0,
              "the host's name and version");
  test_arena();
  if (scl_registry_define(&plugin, "scratch_test.c", "1", &error) != SCL_STATUS_OK ||
      scl_instance_from_text("kernel", "taker", &kernel, &error) != SCL_STATUS_OK) {
    (void)fprintf(stderr, "scratch_test: %s\n", error.message);
    return EXIT_FAILURE;
  }
  test_calls(kernel);
  test_failing_allocations(kernel);
  test_refusals(kernel);
  scl_instance_release(kernel);
  expect_true(atomic_load(&wrong) == 0, "memory in destroy");
  scl_pool_stop();
  (void)printf("scratch_test: %d failures\n", failures);
  return failures != 0;
}
