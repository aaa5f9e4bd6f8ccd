/* Ctrl-C, as a flag: set from a signal handler, polled between blocks of work. */
#ifndef SCULLERY_INTERRUPT_H
#define SCULLERY_INTERRUPT_H

#include "base/memory.h"

void scl_interrupt(void); /* async-signal-safe */
bool scl_interrupted(void);
void scl_interrupt_clear(void);
/* SCL_STATUS_CANCELLED with a sentence, and the flag cleared, when the user asked to stop. */
scl_status scl_interrupt_check(scl_error *error);

#endif
