/* A saved model while it is read: its arrays, and its description as a tree of JSON. The file is
 * not trusted: each field is checked where it is read (docs/models.md). */
#ifndef SCULLERY_SAVED_H
#define SCULLERY_SAVED_H

#include "algebra/matrix.h"
#include "data/json.h"
#include "data/safetensors.h"

/* Who loads. It decides what an error message advises about a missing component. Texts with a zero
 * byte are allowed for scripts only, which read them from the description; copies made here end at
 * that byte. */
typedef enum scl_loader { SCL_LOADER_PROGRAM = 0, SCL_LOADER_SCRIPT } scl_loader;

typedef struct scl_saved {
  scl_tensor_file file;
  scl_json json;
  const cJSON *body;
  scl_loader loader;
  size_t components; /* number made from it so far, to bound the work of a damaged file */
  bool script;       /* whether one of them runs functions of a script */
} scl_saved;

/* From a file; or, where the path is NULL, from `size` bytes in memory, which sentences call
 * `what`. The caller closes it. */
scl_status scl_saved_open(const char *path, const void *bytes, size_t size, const char *what,
                          scl_loader loader, scl_saved *out, scl_error *error);
void scl_saved_close(scl_saved *saved);

/* ------------ the description */

/* A field of a table; NULL if it is absent. */
const cJSON *scl_saved_find(const cJSON *from, const char *name);
/* The mark of a table that describes an object, its field "@" ("component", "stage"); NULL for a
 * plain table, "?" for a mark that is not a text. */
const char *scl_saved_mark(const cJSON *value);
/* A field that is a plain table: a list, an object, and the empty list, which is written as {}. */
scl_status scl_saved_table(const cJSON *from, const char *name, const cJSON **out,
                           scl_error *error);
/* Whether it is a list; the empty list is written as {}. */
bool scl_saved_is_list(const cJSON *table);
/* The number of elements of a list, or of fields of an object. */
size_t scl_saved_count(const cJSON *list);
/* A field that is a whole number of at least `low`. */
scl_status scl_saved_whole(const scl_saved *saved, const cJSON *from, const char *name, size_t low,
                           size_t high, size_t *out, scl_error *error);
/* The same; *out is unchanged if the field is absent. */
scl_status scl_saved_opt_whole(const scl_saved *saved, const cJSON *from, const char *name,
                               size_t low, size_t high, size_t *out, scl_error *error);
/* A field that is a plain text; it lives as long as `saved`. */
scl_status scl_saved_word(const cJSON *from, const char *name, const char **out, scl_error *error);
/* The same; *out is unchanged if the field is absent. */
scl_status scl_saved_opt_word(const cJSON *from, const char *name, const char **out,
                              scl_error *error);
/* A field that is true or false; false where it is absent. */
scl_status scl_saved_flag(const cJSON *from, const char *name, bool *out, scl_error *error);
/* "float64" or "float32". */
scl_status scl_saved_dtype(const char *word, scl_dtype *out, scl_error *error);

/* Any number, including infinities and NaN; false if the value is not a number. */
bool scl_saved_number(const scl_saved *saved, const cJSON *value, double *out);
/* A copy of a text of any bytes but zero; *out is NULL if the value is not a text. */
scl_status scl_saved_text(const scl_saved *saved, const cJSON *value, char **out, scl_error *error);
/* The value as JSON in `text`, cut to `size` bytes. Returns `text`. */
const char *scl_saved_shown(const cJSON *value, char *text, size_t size);

/* ------------ the arrays */

/* The array of that name, which belongs to `saved`; NULL if there is none. */
const scl_array *scl_saved_array(const scl_saved *saved, const char *name);
/* A copy of a matrix of finite numbers, which the caller releases. rows, cols: SIZE_MAX accepts
 * any; wide: float64 only. */
typedef struct scl_saved_shape {
  size_t rows, cols;
  bool wide;
} scl_saved_shape;
scl_status scl_saved_matrix(const scl_saved *saved, const char *name, scl_saved_shape shape,
                            scl_matrix *out, scl_error *error);
/* A matrix that was saved without its zeros (float64): "NAME.values", and in "NAME.places" their
 * places, row by row from 0; scl_saved_matrix reads it where "NAME.sizes" has rows and columns.
 * _has_matrix: in either form. */
bool scl_saved_is_thin(const scl_saved *saved, const char *name);
bool scl_saved_has_matrix(const scl_saved *saved, const char *name);
scl_status scl_saved_thin(const scl_saved *saved, const char *name, size_t rows, size_t cols,
                          scl_matrix *out, scl_error *error);

#endif
