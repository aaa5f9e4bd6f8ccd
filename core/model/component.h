/* Components of a saved model, made again with the options that they were saved with. */
#ifndef SCULLERY_SAVED_COMPONENT_H
#define SCULLERY_SAVED_COMPONENT_H

#include "model/saved.h"
#include "plugin/instance.h"

/* Widths that came from data: the gammas of the words "scale" and "median", and the number of
 * columns of the rows. known: whether the file has them. */
typedef struct scl_saved_widths {
  bool known;
  double scale, median;
  size_t cols;
} scl_saved_widths;

/* The field "widths" of a table, a list of up to three numbers; if it is absent, they are not
 * known. */
scl_status scl_saved_read_widths(const scl_saved *saved, const cJSON *from, scl_saved_widths *out,
                                 scl_error *error);

/* Find the component of this process that a saved value names: a component, or a row stage, which
 * is saved under its name alone. Refused: a value that is neither, and a plugin that is missing,
 * older than the saved one, or of another id. note (or NULL): a sentence if a script defines the
 * component differently from the saved one, otherwise empty. */
scl_status scl_saved_find_component(const scl_saved *saved, const cJSON *value,
                                    const scl_component **out, scl_error *note, scl_error *error);
/* Fail unless every setting that was in force when the component was saved has the same value in
 * the instance. */
scl_status scl_saved_check_settings(const scl_saved *saved, const cJSON *value,
                                    const scl_instance *made, scl_error *error);

/* The name of a value that is a component ("solver.ridge"); NULL for any other value. */
const char *scl_saved_component_name(const cJSON *value);
/* The component, with all that it holds. kinds: "kernel|nonlinearity". Refused: a plugin that is
 * missing or older than the one it was saved with, and one whose options in force differ from those
 * that it was saved with. The caller releases *out. */
scl_status scl_saved_component(scl_saved *saved, const cJSON *value, const char *kinds,
                               const scl_saved_widths *widths, scl_instance **out,
                               scl_error *error);

#endif
