/* The flag that Ctrl-C sets. */
#include "base/interrupt.h"

#include <stdatomic.h>
#include <string.h>

static atomic_int flag;
static _Thread_local bool ignored;

void scl_interrupt(void) { atomic_store(&flag, 1); }
bool scl_interrupted(void) { return atomic_load(&flag) != 0 && !ignored; }
bool scl_interrupt_ignored(void) { return ignored; }
bool scl_interrupt_ignore(bool ignore) {
  const bool before = ignored;
  ignored = ignore;
  return before;
}
void scl_interrupt_clear(void) { atomic_store(&flag, 0); }

static const char said[] = "interrupted!";

scl_status scl_interrupt_check(scl_error *error) {
  if (ignored || atomic_exchange(&flag, 0) == 0) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_CANCELLED, "%s", said);
}

bool scl_is_interrupt(const char *sentence) {
  const size_t length = strlen(sentence), end = sizeof said - 1;
  return length >= end && strcmp(sentence + length - end, said) == 0;
}
