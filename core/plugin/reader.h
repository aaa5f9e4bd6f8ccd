/* Calls of readers (scullery/plugin/reader.h), whose answers are checked here. */
#ifndef SCULLERY_PLUGIN_READER_CALLS_H
#define SCULLERY_PLUGIN_READER_CALLS_H

#include "plugin/instance.h"

bool scl_reader_recognises(const scl_component *reader, const unsigned char *first, size_t size);
scl_status scl_reader_open(const scl_instance *reader, const char *path, void **file,
                           scl_error *error);
/* SCL_STATUS_INTERNAL: no columns, a column without a name, or of an unknown type. */
scl_status scl_reader_get_schema(const scl_instance *reader, void *file, scl_reader_schema *out,
                                 scl_error *error);
/* The reader gives all columns where it has no slot `choose`: *chosen is then false. */
scl_status scl_reader_choose(const scl_instance *reader, void *file, const size_t *columns,
                             size_t count, bool *chosen, scl_error *error);
scl_status scl_reader_seek(const scl_instance *reader, void *file, size_t part, scl_error *error);
scl_status scl_reader_rows(const scl_instance *reader, void *file, scl_row_block *out,
                           scl_error *error);
void scl_reader_close(const scl_instance *reader, void *file);
/* Write a file of the format. *written = false: the reader has no slot `example`. */
scl_status scl_reader_example(const scl_instance *reader, const char *path, bool *written,
                              scl_error *error);

#endif
