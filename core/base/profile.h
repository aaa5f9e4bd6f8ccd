/* What long work is made of: seconds of each stage (reading, features, solving) on the thread that
 * started the profile and waits for the others. Stages nest, and a moment counts to the innermost
 * alone. Where no profile runs a call costs a test. */
#ifndef SCULLERY_PROFILE_H
#define SCULLERY_PROFILE_H

#include <stdbool.h>
#include <stddef.h>

enum { SCL_PROFILE_STAGES = 64, SCL_PROFILE_NAME = 48 };

typedef struct scl_profile_stage {
  char name[SCL_PROFILE_NAME];
  double seconds;
  double rows;   /* gone through, those of several passes together */
  double passes; /* walks over rows */
} scl_profile_stage;

/* From now on the stages of this thread are timed. Profiles nest: sums go on growing until the
 * outermost ends. */
void scl_profile_start(void);
void scl_profile_stop(void);
bool scl_profile_runs(void);
/* What is known of this thread so far, in the order in which stages were entered first. */
const scl_profile_stage *scl_profile_stages(size_t *count);

/* The work up to scl_profile_leave is of this stage; 0 where no profile runs. Nothing is entered
 * where it is NULL. */
size_t scl_profile_enter(const char *stage);
/* The same, of the stage that runs where there is one. */
size_t scl_profile_within(const char *stage);
/* End what was entered under that mark, and whatever within it was not left. */
void scl_profile_leave(size_t mark, double rows, double passes);
/* So many seconds of what was entered last and left were those of another stage. */
void scl_profile_move(const char *from, const char *to, double seconds, double rows, double passes);

#endif
