/* What is left of the memory: the least of the machine's, the control groups' of both versions and
 * the limits of the process, read from files that the test writes. */
#define _GNU_SOURCE
#include "base/memory.h"
#include "base/memory_left.h"
#include "base/pages.h"
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static int failures;
static char root[] = "/tmp/scullery_memory_XXXXXX";

static void expect(const char *what, size_t got, size_t wanted) {
  if (got == wanted) return;
  failures++;
  (void)fprintf(stderr, "memory_test: %s: got %zu, wanted %zu\n", what, got, wanted);
}

/* A file below the root, with the folders that it lies in. */
static void put(const char *name, const char *text) {
  char path[PATH_MAX];
  (void)snprintf(path, sizeof path, "%s%s", root, name);
  for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
    *slash = 0;
    (void)mkdir(path, 0700);
    *slash = '/';
  }
  FILE *file = fopen(path, "w");
  if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0) {
    perror(path);
    exit(EXIT_FAILURE);
  }
}

static void test_machine(void) {
  put("/proc/self/statm", "1000 500 100 1 0 600 0\n");
  const size_t all = (size_t)sysconf(_SC_PHYS_PAGES) / 10 * 9 * (size_t)sysconf(_SC_PAGESIZE);
  expect("without meminfo: nine tenths of all", scl_memory_left_under(root), all);
  put("/proc/meminfo", "MemTotal: 9000000 kB\nMemFree: 5 kB\nMemAvailable: 1000000 kB\n");
  expect("nine tenths of what is free", scl_memory_left_under(root), (size_t)900000 << 10);
}

static void test_version_2(void) {
  put("/proc/self/cgroup", "0::/outer/inner\n");
  put("/sys/fs/cgroup/outer/inner/memory.max", "max\n");
  put("/sys/fs/cgroup/outer/inner/memory.current", "50000000\n");
  expect("no limit", scl_memory_left_under(root), (size_t)900000 << 10);
  put("/sys/fs/cgroup/outer/memory.max", "400000000\n");
  put("/sys/fs/cgroup/outer/memory.current", "100000000\n");
  expect("the outer group's limit", scl_memory_left_under(root), 300000000);
  put("/sys/fs/cgroup/outer/memory.stat", "anon 5\ninactive_file 20000000\nactive_file 10000000\n");
  expect("cached files give way", scl_memory_left_under(root), 330000000);
  put("/sys/fs/cgroup/outer/inner/memory.max", "60000000\n");
  expect("the inner group's limit", scl_memory_left_under(root), 10000000);
  put("/sys/fs/cgroup/outer/inner/memory.max", "40000000\n");
  expect("more used than allowed", scl_memory_left_under(root), 0);
}

static void test_version_1(void) {
  put("/proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory:/a/b\n0::/\n");
  put("/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712\n");
  put("/sys/fs/cgroup/memory/a/b/memory.usage_in_bytes", "1000\n");
  expect("no limit", scl_memory_left_under(root), (size_t)900000 << 10);
  put("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "70000000\n");
  put("/sys/fs/cgroup/memory/a/memory.usage_in_bytes", "60000000\n");
  put("/sys/fs/cgroup/memory/a/memory.stat", "total_inactive_file 5000000\n");
  expect("the outer group's limit", scl_memory_left_under(root), 15000000);
  put("/proc/self/cgroup", "4:memory:/not/seen/here\n");
  put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "30000000\n");
  put("/sys/fs/cgroup/memory/memory.usage_in_bytes", "10000000\n");
  expect("a container sees the root alone", scl_memory_left_under(root), 20000000);
}

static void test_process(void) {
  struct rlimit before, limit;
  (void)getrlimit(RLIMIT_DATA, &before);
  limit = before;
  limit.rlim_cur = 600 * 4096 + 8000000; /* statm above: 600 pages of data */
  (void)setrlimit(RLIMIT_DATA, &limit);
  expect("RLIMIT_DATA", scl_memory_left_under(root), 8000000);
  (void)setrlimit(RLIMIT_DATA, &before);
}

/* A limit that is set while the process runs is seen at the next large request. */
static void test_allocation(void) {
  struct rlimit before, limit;
  void *block = scl_allocate((size_t)50 << 20);
  expect("a block without a limit", block != NULL, 1);
  scl_release(block);
  (void)getrlimit(RLIMIT_DATA, &before);
  limit = before;
  limit.rlim_cur = 1 << 20;
  (void)setrlimit(RLIMIT_DATA, &limit);
  block = scl_allocate((size_t)4 << 30);
  expect("a block over the limit", block == NULL, 1);
  scl_release(block);
  (void)setrlimit(RLIMIT_DATA, &before);
  expect("far too much", scl_allocate((size_t)1 << 50) == NULL, 1);
}

/* Pages that were released serve the next block of about their size: one that is to be zero is. */
static void test_kept_pages(void) {
  const size_t bytes = (size_t)6 << 20;
  for (int run = 0; run < 3; run++) {
    unsigned char *block = scl_allocate_zero(bytes - (size_t)run * 5000);
    size_t sum = 0;
    for (size_t i = 0; i < bytes - (size_t)run * 5000; i++)
      sum += block[i];
    expect("a block of zeros", sum, 0);
    memset(block, 1, bytes - (size_t)run * 5000);
    scl_release(block);
  }
  (void)scl_pages_trim();
  expect("nothing is left to give back", scl_pages_trim(), 0);
  for (int run = 0; run < 40; run++) { /* more than are kept */
    void *blocks[40];
    for (int i = 0; i < run; i++)
      blocks[i] = scl_allocate(bytes);
    for (int i = 0; i < run; i++)
      scl_release(blocks[i]);
  }
  expect("what is held", scl_allocated(), 0);
}

/* A released block serves the next one of its size, also where small ones were taken in between. */
static void test_small_blocks_serve_again(void) {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
  enum { BYTES = 3 << 20, TIMES = 50 };
  void *between[TIMES];
  scl_memory_keep_released();
  const size_t before = mallinfo2().arena;
  for (int i = 0; i < TIMES; i++) {
    void *block = scl_allocate(BYTES);
    between[i] = scl_allocate(1000);
    scl_release(block);
  }
  expect("memory of three blocks at most", mallinfo2().arena - before < 3 * BYTES, 1);
  scl_release_each(TIMES, between);
#endif
}

static void clean(void) {
  char line[PATH_MAX];
  (void)snprintf(line, sizeof line, "rm -r '%s'", root);
  if (system(line) != 0) failures++;
}

/* Preparing pages changes nothing of what is in them, wherever the part begins. */
static void test_prepared_pages(void) {
  enum { BYTES = 40 << 20, STEP = 1234567 };
  unsigned char *block = scl_allocate(BYTES);
  size_t wrong = 0;
  if (block == NULL) return;
  for (size_t at = 0; at < BYTES; at += STEP) {
    const size_t left = BYTES - at, part = left < STEP ? left : STEP;
    scl_pages_prepare(block + at, part);
    memset(block + at, (int)(at / STEP % 251), part);
  }
  scl_pages_prepare(block, BYTES);
  for (size_t at = 0; at < BYTES; at++)
    wrong += block[at] != at / STEP % 251;
  expect("bytes that preparing changed", wrong, 0);
  scl_release(block);
}

int main(void) {
  if (mkdtemp(root) == NULL) return EXIT_FAILURE;
  test_machine();
  test_version_2();
  test_version_1();
  test_process();
  clean();
  test_allocation();
  test_kept_pages();
  test_prepared_pages();
  test_small_blocks_serve_again();
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
