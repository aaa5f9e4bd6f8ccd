/* The interrupt flag: set by the handler of Ctrl-C, polled between blocks of work. */
#ifndef SCULLERY_INTERRUPT_H
#define SCULLERY_INTERRUPT_H

#include "base/memory.h"

void scl_interrupt(void); /* async-signal-safe */
bool scl_interrupted(void);
/* Work of the calling thread, and of the pool's threads for it, does not see the flag: somebody
 * else's work is to end. Returns what was set before. */
bool scl_interrupt_ignore(bool ignore);
bool scl_interrupt_ignored(void);
void scl_interrupt_clear(void);
/* Clear the flag; SCL_STATUS_CANCELLED ("interrupted!") where it was set. */
scl_status scl_interrupt_check(scl_error *error);
/* Whether an error of a script came from Ctrl-C: it ends with "interrupted!", also where the script
 * caught it and raised it again with other text before it. */
bool scl_is_interrupt(const char *sentence);

#endif
