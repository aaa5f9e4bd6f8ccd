/* Options by their names: present and former ones, and the sentence for a name that is not one. */
#include "base/text.h"
#include "plugin/host.h"
#include "plugin/options.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* A line, once for each option and process, about one that has another name now, or that goes
 * away. */
static void tell_change(const char *title, const scl_option *option, const char *given,
                        bool former) {
  enum { MOST = 64 };
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static const scl_option *told[MOST];
  static size_t count;
  size_t i = 0;
  if (!former && option->deprecated == NULL) return;
  pthread_mutex_lock(&lock);
  while (i < count && told[i] != option)
    i++;
  const bool known = i < count;
  if (!known && count < MOST) told[count++] = option;
  pthread_mutex_unlock(&lock);
  if (known) return;
  char line[400];
  if (former)
    (void)snprintf(line, sizeof line, "%s: option '%s' is now named '%s'", title, given,
                   option->name);
  else
    (void)snprintf(line, sizeof line, "%s: option '%s' goes away: %.200s", title, option->name,
                   option->deprecated);
  scl_host_write(line);
}

const scl_option *scl_option_named(const char *title, const scl_option *options, size_t count,
                                   const char *name) {
  for (size_t i = 0; i < 2 * count; i++) {
    const scl_option *option = &options[i % count];
    const bool former = i >= count;
    if (former ? option->former == NULL || scl_word_place(option->former, name) < 0
               : strcmp(option->name, name) != 0)
      continue;
    tell_change(title, option, name, former);
    return option;
  }
  return NULL;
}

/* The one of `names` that does what the option `name` of scikit-learn or pandas does; NULL: none. */
static const char *familiar_name(const char *name, const char *const *names, size_t count) {
  static const char *const pairs[][2] = {{"alpha", "lambda"},
                                         {"C", "lambda"},
                                         {"n_components", "T"},
                                         {"n_components", "k"},
                                         {"cv", "folds"},
                                         {"k", "folds"},
                                         {"n_splits", "folds"},
                                         {"n_splits", "k"},
                                         {"random_state", "seed"},
                                         {"scoring", "score"},
                                         {"scoring", "metric"},
                                         {"test_size", "test"},
                                         {"sample_weight", "weights"},
                                         {"sep", "separator"},
                                         {"delimiter", "separator"},
                                         {"max_iter", "max_iterations"},
                                         {"tol", "tolerance"},
                                         {"fit_intercept", "intercept"},
                                         {"n_neighbors", "k"},
                                         {"n_repeats", "repeats"},
                                         {"na_values", "missing"},
                                         {"usecols", "select"}};
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
    for (size_t k = 0; strcmp(name, pairs[i][0]) == 0 && k < count; k++)
      if (strcmp(names[k], pairs[i][1]) == 0) return names[k];
  return NULL;
}

scl_status scl_refuse_option(const char *title, const scl_option *options, size_t n_options,
                             const char *name, scl_error *error) {
  const char *names[64] = {NULL};
  char list[400];
  size_t used = 0, count = 0;
  list[0] = 0;
  for (size_t i = 0; i < n_options && count < 64; i++) {
    names[count++] = options[i].name;
    used = scl_append(list, sizeof list, used, i == 0 ? "" : ", ");
    used = scl_append(list, sizeof list, used, options[i].name);
  }
  const char *familiar = familiar_name(name, names, count),
             *near = familiar != NULL ? familiar : scl_nearest(name, names, count);
  if (count == 0)
    return scl_fail(error, SCL_STATUS_BAD_OPTION, "%s: unknown option '%.60s': it takes none",
                    title, name);
  if (near == NULL)
    return scl_fail(error, SCL_STATUS_BAD_OPTION, "%s: unknown option '%.60s'%s; it takes %s",
                    title, name,
                    strcmp(name, "n_components") == 0
                        ? " (the number of random features is option T of sc.features)"
                        : "",
                    list);
  return scl_fail(error, SCL_STATUS_BAD_OPTION,
                  "%s: unknown option '%.60s' (did you mean '%s'?); it takes %s", title, name, near,
                  list);
}
