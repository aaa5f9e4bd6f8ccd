/* Files whose rows are cells, which plugins read (scullery/plugin/reader.h). Their rows reach
 * every reader of comma-separated text, whole and as a stream: the same rules find types, code
 * categories and fill missing values. */
#ifndef SCULLERY_READER_H
#define SCULLERY_READER_H

#include "plugin/instance.h"

/* The reader that recognises a file by its first bytes, or NULL. One that cannot be loaded is
 * passed over. SCL_STATUS_IO: the file cannot be read. */
scl_status scl_reader_of(const char *path, const scl_component **out, scl_error *error);

/* A file whose rows can be read under `name` as comma-separated text (data/files/input.h),
 * with a first line of names, until it is released. The file is opened once here, so that what
 * is wrong with it is said at once. `columns`: the names of those that are read, in this
 * order; NULL: all. */
typedef struct scl_cell_file scl_cell_file;
scl_status scl_cell_file_create(const scl_instance *reader, const char *path,
                                const char *const *columns, size_t count, scl_cell_file **out,
                                scl_error *error);
const char *scl_cell_file_name(const scl_cell_file *file);
void scl_cell_file_destroy(scl_cell_file *file);

/* The text of a date or a time that is not missing: `to` has room for SCL_CELL_LONGEST bytes.
 * Returns its length; 0: no text stands for it, a date before the year 1 or after 9999. */
enum { SCL_CELL_LONGEST = 48 };
size_t scl_cell_write_date(int64_t days, char *to);
size_t scl_cell_write_time(int64_t time, int64_t per_second, char *to);

#endif
