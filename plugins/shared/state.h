/* The state of a solver's loop in a checkpoint: what scl_problem.keep gets at the head of an
 * iteration. Numbers that are determined by the options and the rows need not be in it. */
#ifndef SCULLERY_SHARED_STATE_H
#define SCULLERY_SHARED_STATE_H

#include <scullery/plugin.h>
#include <stdbool.h>

enum { STATE_PARTS = 24 };

typedef struct state {
  scl_state_part parts[STATE_PARTS];
  size_t count;
} state;

/* Adds `size` bytes at `data`, at most STATE_PARTS times. */
static inline void state_add(state *s, void *data, size_t size) {
  s->parts[s->count++] = (scl_state_part){data, size};
}
/* Adds a variable. */
#define STATE_ADD(s, variable) state_add(s, &(variable), sizeof(variable))

/* Call it at the head of each iteration. If the loop was at another place when a process before
 * this one ended, the first call sets the parts to what they were there. */
static inline scl_status state_keep(const scl_problem *problem, const state *s, scl_error *error) {
  int32_t restored;
  return SCL_HAS(problem, keep) ? problem->keep(problem, s->parts, s->count, &restored, error)
                                : SCL_STATUS_OK;
}

#endif
