/* What wrong readers share: the reader of `scullery plugin new`, some slots of which they replace. */
#ifndef BROKEN_READER_H
#define BROKEN_READER_H

#include <scullery/plugin.h>

#define scullery_plugin right_reader
#include "../../lua/scullery/templates/reader.c"
#undef scullery_plugin

/* The descriptor, with the members of the table that are wrong, each of which replaces the right
 * one: BROKEN_READER(.rows = wrong_rows) */
#define BROKEN_READER(...) \
  _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Woverride-init\"") \
      const scl_plugin scullery_plugin = { \
          .name = "broken", \
          .summary = "A reader that is wrong in one way", \
          .doc = "Tables of float32, but for what is wrong with it.", \
          .version = "1.0", \
          .instance_size = sizeof(table_reader), \
          SCL_READER(.format = "a table", .recognises = recognises, .open = open_file, \
                     .schema = schema, .rows = rows, .close = close_file, .example = example, \
                     __VA_ARGS__)}; \
  _Pragma("GCC diagnostic pop")

#endif
