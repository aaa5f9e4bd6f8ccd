/* Labels and the numeric targets that stand for them: one column of -1 (first class) and +1 for two
 * classes, one column a class, +1 against -1, for more. */
#ifndef SCULLERY_LABELS_H
#define SCULLERY_LABELS_H

#include "rows/source.h"

/* The numbers that stand for the classes in a column of labels. */
typedef struct scl_classes {
  const double *values;
  size_t count;
  bool strangers; /* whether other labels may occur: rows of no class */
} scl_classes;

/* 1 for two classes, else their number. */
size_t scl_classes_targets(const scl_classes *classes);
/* targets (n x c, made here) of labels (n x 1). A label that is none of the classes: 0 of one
 * column, -1 in each of several, where strangers may occur; otherwise SCL_STATUS_BAD_DATA names its
 * row. */
scl_status scl_code_labels(const scl_matrix *labels, const scl_classes *classes, scl_matrix *out,
                           scl_error *error);
/* labels (n x 1, made here) of decisions (n x c): the class of the largest, of one column by its
 * sign. */
scl_status scl_decide_labels(const scl_matrix *decisions, const scl_classes *classes,
                             scl_matrix *out, scl_error *error);
/* A source whose labels (one column of targets) come coded. `from` is borrowed. */
scl_status scl_source_coded(scl_source *from, const scl_classes *classes, scl_source **out,
                            scl_error *error);

/* How many classes the rows read so far had, from a source of scl_source_coded: 0, 1, or 2 for two
 * and more; 0 of another source. */
size_t scl_source_classes_seen(scl_source *coded);

/* Whether the targets of a row are those of a label that is none of the classes. */
bool scl_is_stranger(const double *y, size_t targets);

#endif
