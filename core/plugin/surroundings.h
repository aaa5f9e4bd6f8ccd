/* State of the whole process that a shared object must not change when it is opened: locale, signal
 * handlers and the mask of signals, current folder, mask of new files, environment. (For the
 * floating-point mode see call.h.) */
#ifndef SCULLERY_SURROUNDINGS_H
#define SCULLERY_SURROUNDINGS_H

#include "base/memory.h"

typedef struct scl_surroundings scl_surroundings;

/* Note the present state. scl_surroundings_restore releases the note. */
scl_status scl_surroundings_note(scl_surroundings **out, scl_error *error);
/* Restore what has changed since the note, and release the note (NULL: nothing to do). Returns
 * whether something had changed; text: what, as "the locale, the handler of signal 11 (Segmentation
 * fault)". */
bool scl_surroundings_restore(scl_surroundings *noted, char *text, size_t size);

#endif
