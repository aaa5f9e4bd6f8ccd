/* Plugins with one subtle fault each, for subtle_slow_test.lua: what they compute is right for
 * ordinary questions, and wrong for some. One object holds all of them; its last line, which the
 * test appends, says which fault an object has, "subtle FAULT", or which plugin without one,
 * "subtle COMPONENT". */
#ifndef SUBTLE_H
#define SUBTLE_H

#include <scullery/plugin.h>

typedef struct subtle_fault {
  const char *component, *name, *about;
} subtle_fault;

/* Each file lists its faults as FAULTS(X), rows X(component, name, "what is wrong"), and asks
 * IS(name). */
#define SUBTLE_NUMBER(component, name, about) FAULT_##name,
#define SUBTLE_ROW(component, name, about) {#component, #name, about},
#define IS(name) (chosen == FAULT_##name)
#define SUBTLE_FAULTS(list) \
  enum { FAULT_NONE, FAULTS(SUBTLE_NUMBER) FAULT_COUNT }; \
  static int chosen; \
  static const subtle_fault list##_rows[] = {FAULTS(SUBTLE_ROW){NULL, NULL, NULL}}; \
  const subtle_set list = {list##_rows, &chosen}

typedef struct subtle_set {
  const subtle_fault *faults;
  int *chosen; /* the number of the row + 1 */
} subtle_set;

extern const subtle_set subtle_samplers, subtle_nonlinearities, subtle_kernels, subtle_solvers;
extern const scl_plugin subtle_rows, subtle_stumps, subtle_turned, subtle_taught, subtle_quick;
extern const scl_plugin subtle_soft, subtle_side, subtle_wide;
extern const scl_plugin subtle_bell, subtle_edge, subtle_overlap;
extern const scl_plugin subtle_ridge, subtle_idle, subtle_model;

/* Seconds since 1970, and a number that is 0 at the first call of a process alone. */
double subtle_clock(void);
unsigned subtle_calls(void);

#define SUBTLE(word, ...) \
  const scl_plugin subtle_##word = { \
      __VA_ARGS__, .name = "subtle_" #word, .version = "1.0", \
      .summary = "A plugin of the checker's tests", \
      .doc = "The comment at the head of its source says what it computes."}

#endif
