/* scullery/arrow.h: the three records of Arrow's C data and stream interfaces, as its specification
 * has them (arrow.apache.org/docs/format/CStreamInterface.html): tables of columns between libraries
 * of one process, without a library of Arrow. Programs that have them from elsewhere keep theirs. */
#ifndef SCULLERY_ARROW_H
#define SCULLERY_ARROW_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

/* The type of a column, or of a table: a struct of columns. */
struct ArrowSchema {
  const char *format, *name, *metadata;
  int64_t flags, n_children;
  struct ArrowSchema **children, *dictionary;
  void (*release)(struct ArrowSchema *);
  void *private_data;
};

/* Some rows of it. */
struct ArrowArray {
  int64_t length, null_count, offset, n_buffers, n_children;
  const void **buffers;
  struct ArrowArray **children, *dictionary;
  void (*release)(struct ArrowArray *);
  void *private_data;
};
#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

/* Batches of rows, one after the other; the functions return 0 or an errno. */
struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
  int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out); /* released: the end */
  const char *(*get_last_error)(struct ArrowArrayStream *);
  void (*release)(struct ArrowArrayStream *);
  void *private_data;
};
#endif

#ifdef __cplusplus
}
#endif

#endif
