/* Levels of progress: threads that follow another one show their work within its levels, and change
 * none of them. */
#include "base/progress.h"
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition) \
  do { \
    if (!(condition)) { \
      (void)fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
      exit(EXIT_FAILURE); \
    } \
  } while (0)

/* "search 1, learning 5" and whether a follower told it, of the last report. */
static struct {
  char path[256];
  bool followed;
  int reports;
} told;

static void hook(scl_progress_event event, const scl_level *level) {
  size_t count, used = 0;
  const scl_level *levels = scl_levels(&count);
  if (event != SCL_PROGRESS_REPORT) return;
  CHECK(level == &levels[count - 1]);
  for (size_t i = 0; i < count; i++)
    used += (size_t)snprintf(told.path + used, sizeof told.path - used, "%s%s %g",
                             i > 0 ? ", " : "", levels[i].name, levels[i].done);
  told.followed = scl_progress_follows();
  told.reports++;
}

static void *work(void *context) {
  const scl_lead *lead = context;
  scl_progress_follow(lead);
  CHECK(!scl_level_step(lead->levels[0].number, 2, NAN)); /* that level is not its own */
  scl_level_close(lead->levels[0].number, false);
  scl_progress piece = scl_progress_begin("learning", "rows", 10);
  scl_progress_report(&piece, 5);
  scl_progress_end(&piece);
  size_t count;
  (void)scl_levels(&count);
  CHECK(count == 1);
  return NULL;
}

static void test_followers(void) {
  const size_t number = scl_level_open("search", NULL, 3);
  CHECK(scl_level_step(number, 1, NAN));
  CHECK(strcmp(told.path, "search 1") == 0 && !told.followed);
  scl_lead lead = scl_progress_lead();
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, work, &lead) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(strcmp(told.path, "search 1, learning 5") == 0 && told.followed);
  CHECK(scl_level_step(number, 2, NAN));
  CHECK(strcmp(told.path, "search 2") == 0 && !told.followed && told.reports == 3);
  scl_level_close(number, false);
  CHECK(!scl_level_step(number, 3, NAN));
}

static void test_time_left(void) {
  scl_level level = {.done = 1, .total = 4, .began = 10, .changed = 12};
  CHECK(fabs(scl_level_left(&level, 12) - 6) < 1e-12);
  CHECK(fabs(scl_level_left(&level, 13) - 5) < 1e-12);
  CHECK(scl_level_left(&level, 100) == 0);
  level.done = 0;
  CHECK(isnan(scl_level_left(&level, 13)));
  level = (scl_level){.done = 3, .total = NAN, .began = 10, .changed = 12};
  CHECK(isnan(scl_level_left(&level, 13)));
}

/* The time of a walk is not that of the search around it. */
static void test_time_left_is_that_of_the_whole(void) {
  scl_level levels[] = {
      {.total = NAN, .began = 8, .changed = 8}, /* a fit, which does not know its length */
      {.total = 3, .counted = true, .began = 8, .changed = 8},
      {.done = 1, .total = 4, .began = 10, .changed = 12},
  };
  CHECK(scl_level_known(levels, 3, 12) == NULL);
  levels[1].done = 1;
  levels[1].changed = 10;
  CHECK(scl_level_known(levels, 3, 12) == &levels[1]);
  levels[1].counted = false; /* a solver that does not tell its share */
  levels[1].done = 0;
  CHECK(scl_level_known(levels, 3, 12) == &levels[2]);
  levels[1].total = NAN;
  CHECK(scl_level_known(levels, 3, 12) == &levels[2]);
  CHECK(scl_level_known(levels, 1, 12) == NULL);
}

/* A character of two bytes is whole or not there. */
static void test_names_are_cut_between_characters(void) {
  char name[2 * SCL_LEVEL_NAME + 1] = "x";
  for (size_t i = 1; i + 3 <= sizeof name; i += 2)
    memcpy(name + i, "\xC3\xB6", 3);
  const size_t number = scl_level_open(name, NULL, NAN);
  size_t count;
  const scl_level *levels = scl_levels(&count);
  const size_t length = strlen(levels[count - 1].name);
  CHECK(length == SCL_LEVEL_NAME - 1 && (unsigned char)levels[count - 1].name[length - 1] == 0xB6);
  scl_level_close(number, false);
  (void)scl_levels(&count);
  CHECK(count == 0);
}

int main(void) {
  scl_progress_set_hook(hook);
  test_followers();
  test_time_left();
  test_time_left_is_that_of_the_whole();
  test_names_are_cut_between_characters();
  return EXIT_SUCCESS;
}
