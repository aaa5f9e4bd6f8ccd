/* Class labels and their numeric targets. Two classes: one column, -1 for the first class and +1
 * for the second. More classes: one column for each class, +1 in the column of the row's class and
 * -1 in the others. */
#ifndef SCULLERY_LABELS_H
#define SCULLERY_LABELS_H

#include "rows/source.h"

/* The labels of the classes: `count` different numbers, borrowed. Class k has the label
 * values[k]. */
typedef struct scl_classes {
  const double *values;
  size_t count;
  bool strangers; /* whether labels outside these classes may occur */
} scl_classes;

/* targets (n x c, made here) of labels (n x 1). A label outside the classes becomes 0 in a single
 * column, or -1 in each of several, if strangers may occur; otherwise it fails with
 * SCL_STATUS_BAD_DATA, which names the row. */
scl_status scl_code_labels(const scl_matrix *labels, const scl_classes *classes, scl_matrix *out,
                           scl_error *error);
/* labels (n x 1, made here) of decisions (n x c): the class of the largest decision; with one
 * column the second class if it is at least 0. */
scl_status scl_decide_labels(const scl_matrix *decisions, const scl_classes *classes,
                             scl_matrix *out, scl_error *error);
/* A source that codes the labels of another (its one column of targets). `from` is borrowed. */
scl_status scl_source_coded(scl_source *from, const scl_classes *classes, scl_source **out,
                            scl_error *error);

/* The number of different classes among the rows read so far from a source of scl_source_coded: 0,
 * 1, or 2 for two and more. 0 for any other source. */
size_t scl_source_classes_seen(scl_source *coded);

/* Whether the targets of a row are those of a label outside the classes. */
bool scl_is_stranger(const double *y, size_t targets);

#endif
