/* Profiles: the seconds of each stage of a fit (reading, features, solving), measured on the thread
 * that started the profile. Stages nest; time counts for the innermost stage only. Without a
 * profile a call costs one comparison. */
#ifndef SCULLERY_PROFILE_H
#define SCULLERY_PROFILE_H

#include <stdbool.h>
#include <stddef.h>

enum { SCL_PROFILE_STAGES = 64, SCL_PROFILE_NAME = 48 };

typedef struct scl_profile_stage {
  char name[SCL_PROFILE_NAME];
  double seconds;
  double rows;   /* processed, summed over passes */
  double passes; /* over the rows */
} scl_profile_stage;

/* Start or stop timing the stages of this thread. Profiles nest: the outermost start clears the
 * sums. */
void scl_profile_start(void);
void scl_profile_stop(void);
bool scl_profile_runs(void);
/* The stages of this thread so far, in the order in which they were first entered. */
const scl_profile_stage *scl_profile_stages(size_t *count);

/* Enter a stage. Returns a mark for scl_profile_leave; 0 where nothing was entered, as without a
 * profile or for NULL. */
size_t scl_profile_enter(const char *stage);
/* Enter the current stage once more, or `stage` where none is open: for work that counts for its
 * caller's stage. */
size_t scl_profile_within(const char *stage);
/* Leave the stage of the mark and all stages inside it, and add to its rows and passes. */
void scl_profile_leave(size_t mark, double rows, double passes);
/* Move seconds from one stage to another, and add rows and passes to the latter: for work whose
 * parts are known only afterwards. */
void scl_profile_move(const char *from, const char *to, double seconds, double rows, double passes);

#endif
