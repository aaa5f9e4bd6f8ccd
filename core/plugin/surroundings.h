/* What belongs to the whole process, and must be after a shared object was opened what it was
 * before: locale, signal handlers and the mask of signals, current folder, mask of new files,
 * environment. (The floating-point mode: call.h.) */
#ifndef SCULLERY_SURROUNDINGS_H
#define SCULLERY_SURROUNDINGS_H

#include "base/memory.h"

typedef struct scl_surroundings scl_surroundings;

/* As they are now. */
scl_status scl_surroundings_note(scl_surroundings **out, scl_error *error);
/* Put back what has changed since, and end the note. True where something had; text: what, "the
 * locale, the handler of signal 11 (Segmentation fault)". NULL: nothing to do. */
bool scl_surroundings_restore(scl_surroundings *noted, char *text, size_t size);

#endif
