/* The flag that Ctrl-C sets. */
#include "base/interrupt.h"

#include <stdatomic.h>

static atomic_int flag;

void scl_interrupt(void) { atomic_store(&flag, 1); }
bool scl_interrupted(void) { return atomic_load(&flag) != 0; }
void scl_interrupt_clear(void) { atomic_store(&flag, 0); }

scl_status scl_interrupt_check(scl_error *error) {
  if (atomic_exchange(&flag, 0) == 0) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_CANCELLED, "interrupted!");
}
