/* Which plugin the object has, and with which fault: its last line. */
#include "subtle.h"

#include <scullery/plugin/entry.h>

#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

static const subtle_set *const sets[] = {&subtle_samplers, &subtle_nonlinearities, &subtle_kernels,
                                         &subtle_solvers};
static const scl_plugin *const components[] = {
    &subtle_rows,    &subtle_stumps, &subtle_turned, &subtle_taught, &subtle_quick,
    &subtle_soft,    &subtle_side,   &subtle_wide,   &subtle_bell,   &subtle_edge,
    &subtle_overlap, &subtle_ridge,  &subtle_idle,   &subtle_model};
enum { SETS = sizeof sets / sizeof *sets, COMPONENTS = sizeof components / sizeof *components };

static const scl_plugin *own = &subtle_rows;
static scl_plugin_list list = {.head = SCL_HEAD(scl_plugin_list), .count = 1, .plugins = &own};

double subtle_clock(void) { return (double)time(NULL); }

unsigned subtle_calls(void) {
  static atomic_uint calls;
  return atomic_fetch_add(&calls, 1);
}

static int choose_plugin(const char *name) {
  for (int i = 0; i < COMPONENTS; i++)
    if (strcmp(components[i]->name + strlen("subtle_"), name) == 0) return own = components[i], 1;
  return 0;
}

static int choose(const char *word) {
  for (int k = 0; k < SETS; k++)
    for (int i = 0; sets[k]->faults[i].name != NULL; i++)
      if (strcmp(sets[k]->faults[i].name, word) == 0) {
        *sets[k]->chosen = i + 1;
        return choose_plugin(sets[k]->faults[i].component);
      }
  return choose_plugin(word);
}

static scl_status init(const scl_host *host, const char *path, scl_error *error) {
  enum { LAST = 100 };
  char tail[LAST + 1] = "", word[60];
  FILE *file = fopen(path, "rb");
  if (file == NULL) return host->fail(error, SCL_STATUS_IO, "%s cannot be opened", path);
  const size_t got = fseek(file, -LAST, SEEK_END) == 0 ? fread(tail, 1, LAST, file) : 0;
  (void)fclose(file);
  for (size_t i = 0; i + 8 < got; i++)
    if (memcmp(tail + i, "\nsubtle ", 8) == 0 && sscanf(tail + i + 8, "%59s", word) == 1)
      return choose(word) ? SCL_STATUS_OK
                          : host->fail(error, SCL_STATUS_BAD_DATA, "no such fault: %s", word);
  return SCL_STATUS_OK;
}

static const scl_plugin_list *get(void) { return &list; }

const scl_entry scullery_entry = {.head = SCL_HEAD(scl_entry), .init = init, .get = get};
