/* Components of a saved model, made again with the options that they were saved with. */
#ifndef SCULLERY_SAVED_COMPONENT_H
#define SCULLERY_SAVED_COMPONENT_H

#include "model/saved.h"
#include "plugin/instance.h"

/* Widths that came from data: gammas by "scale" and "median", and the columns of the rows. */
typedef struct scl_saved_widths {
  bool known;
  double scale, median;
  size_t cols;
} scl_saved_widths;

/* The field `name` of a table: a list of up to three numbers; absent: not known. */
scl_status scl_saved_read_widths(const scl_saved *saved, const cJSON *from, scl_saved_widths *out,
                                 scl_error *error);

/* The component that a saved one is here. Refused: a value that is none, a plugin that is missing or
 * older than the one it was saved with. note (or NULL): a sentence, empty where there is none, about
 * a script's definition of that name which is another one than was saved. */
scl_status scl_saved_find_component(const scl_saved *saved, const cJSON *value,
                                    const scl_component **out, scl_error *note, scl_error *error);
/* Whether every option that was in force when a component was saved is so in the instance. */
scl_status scl_saved_check_settings(const scl_saved *saved, const cJSON *value,
                                    const scl_instance *made, scl_error *error);

/* "solver.ridge": the name of a value that is a component, NULL where it is none. */
const char *scl_saved_component_name(const cJSON *value);
/* The component, with all that it holds. kinds: "kernel|nonlinearity". Refused: a plugin that is
 * missing or older than the one it was saved with, and one whose options in force differ from those
 * that it was saved with. The caller releases *out. */
scl_status scl_saved_component(scl_saved *saved, const cJSON *value, const char *kinds,
                               const scl_saved_widths *widths, scl_instance **out,
                               scl_error *error);

#endif
