/* The interrupt flag: set by the handler of Ctrl-C, polled between blocks of work. */
#ifndef SCULLERY_INTERRUPT_H
#define SCULLERY_INTERRUPT_H

#include "base/memory.h"

void scl_interrupt(void); /* async-signal-safe */
bool scl_interrupted(void);
void scl_interrupt_clear(void);
/* Clear the flag; SCL_STATUS_CANCELLED ("interrupted!") where it was set. */
scl_status scl_interrupt_check(scl_error *error);

#endif
