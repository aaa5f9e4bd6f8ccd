/* How the columns of a file become columns of X, so that another file can be read in the same
 * way. */
#ifndef SCULLERY_SCHEMA_H
#define SCULLERY_SCHEMA_H

#include "base/memory.h"
#include "data/date.h"

typedef enum scl_choice { SCL_AUTO = -1, SCL_NO = 0, SCL_YES = 1 } scl_choice;
typedef enum scl_missing { SCL_MISSING_MEDIAN = 0, SCL_MISSING_ERROR, SCL_MISSING_ROW } scl_missing;

typedef enum scl_column_kind {
  SCL_COLUMN_NUMBER = 0,
  SCL_COLUMN_CATEGORY, /* one 0/1 column a level, and a last one where training missed some */
  SCL_COLUMN_DATE,     /* days since 1970-01-01 */
  SCL_COLUMN_SKIPPED   /* no column of X */
} scl_column_kind;

typedef struct scl_column {
  char *name;
  scl_column_kind kind;
  scl_date_order order; /* of dates */
  bool loose;           /* numbers may come as "$1,000.50" or "5%" */
  double fill;          /* what a missing number becomes; NaN: nothing, it is refused */
  size_t missing;       /* missing fields in training */
  char **levels;        /* n_levels texts, in the order of the columns of X */
  size_t n_levels;
} scl_column;

/* The roles of columns that are no features: they are read beside X, one column each. */
typedef enum scl_column_role {
  SCL_COLUMN_ROLE_WEIGHTS = 0, /* the weight of each row: numbers */
  SCL_COLUMN_ROLE_GROUPS,      /* rows that belong together: numbers, or places of levels */
  SCL_COLUMN_ROLE_TIME, /* the time of each row: numbers, or dates as days since 1970-01-01 */
  SCL_COLUMN_ROLES
} scl_column_role;
/* "weights", "groups", "time". */
extern const char *const scl_column_role_names[SCL_COLUMN_ROLES];

typedef struct scl_schema {
  scl_column *columns; /* in the file's order, without the target */
  size_t n_columns;
  char separator;
  bool header, drop_categorical;
  bool by_place; /* columns go by place, whatever a header calls them */
  scl_missing missing_values;
  char **missing; /* n_missing texts that mean a missing value */
  size_t n_missing;
  char *target;        /* its name; NULL: none */
  size_t target_place; /* in the file, from 1 */
  bool target_is_category, classification;
  char *roles[SCL_COLUMN_ROLES]; /* names of columns; NULL: none has the role */
  bool time_in_dates;            /* the column of times holds dates: times are days */
} scl_schema;

/* Number of columns of X that one column becomes, and that all become. */
size_t scl_column_width(const scl_column *column);
size_t scl_schema_cols(const scl_schema *schema);
/* schema may be NULL. */
void scl_schema_destroy(scl_schema *schema);
void scl_release_texts(char **list, size_t count);
/* A copy of `count` texts; NULL: no memory. */
char **scl_copy_texts(const char *const *list, size_t count);
/* A deep copy; NULL: no memory. */
scl_schema *scl_schema_copy(const scl_schema *schema);

/* Something the reader did to a column that the user should know about. */
typedef enum scl_note_kind {
  SCL_NOTE_EXTRA = 0, /* a column that the schema does not know was passed over */
  SCL_NOTE_UNKNOWN,   /* categories that the schema does not know: all columns of X are 0 */
  SCL_NOTE_FILLED,    /* missing numbers that were filled in */
  SCL_NOTE_LARGE,     /* whole numbers beyond 2^53, which are rounded */
  SCL_NOTE_DROPPED    /* rows left out because a number is missing; of no column */
} scl_note_kind;

typedef struct scl_note {
  scl_note_kind kind;
  size_t count;
  double value;     /* what was filled in */
  char column[101]; /* cut where it is longer */
  char example[41];
} scl_note;

#endif
