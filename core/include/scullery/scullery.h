/* scullery/scullery.h: saved models in other programs. Load a file that p:save wrote, predict on
 * buffers, from any thread; no Lua.
 *
 *   scl_error error;
 *   scl_predictor *model;
 *   if (scl_predictor_load("model.safetensors", &model, &error) != SCL_STATUS_OK)
 *     fprintf(stderr, "%s\n", error.message);
 *   scl_predictor_predict(model, SCL_DTYPE_FLOAT64, rows, n, 0, out, 0, &error);
 *   scl_predictor_close(model);
 *
 * What holds for every function:
 *
 *  - Failure. A status other than SCL_STATUS_OK (0) comes with a sentence in *error; `error` may be
 *    NULL. Nothing was made or changed then. Lack of memory is a failure like any other.
 *  - NULL as the predictor is a failure of the calls that have a status. The others return
 *    0, NULL, NaN, or -1 for a kind.
 *  - Threads. Any function may be called on any thread. Any number of calls on one predictor may
 *    run at once, as it is constant. Only scl_predictor_close must be the last call. Up to 64 calls
 *    work at a time; more wait for their turn.
 *  - The program. Nothing is printed; signal handlers, the locale, the rounding mode and the
 *    current folder stay as they are; no thread is started unless scl_set_threads asks for it.
 *  - Numbers. Buffers are row-major, of float64 or float32. Strides count numbers from one row to
 *    the next; 0 means that rows follow each other without gaps. Columns, outputs and classes are
 *    numbered from 0.
 *
 * C11 and C++11; callable from other languages: functions and constants alone, no macros. Later
 * versions add functions and change none (docs/embedding.md). */
#ifndef SCULLERY_H
#define SCULLERY_H

#include "arrow.h"
#include "plugin/base.h"
#include "plugin/block.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------ the library */

/* The version of the library, "0.2.0". */
SCL_EXPORT const char *scl_version(void);

/* How many threads work on one call, 1 to 256; 1 at first: a call works on the thread that makes
 * it. With more, calls share one pool of threads, for large numbers of rows. Predictions are the
 * same to the bit. Waits for calls that are running. SCL_STATUS_BAD_OPTION for other numbers. */
SCL_EXPORT scl_status scl_set_threads(size_t threads, scl_error *error);

/* Load a plugin from outside the search path, before a model that needs it. Its code runs in this
 * process and is trusted. */
SCL_EXPORT scl_status scl_load_plugin(const char *path, scl_error *error);

/* Call log with each line that a plugin writes for the user, on any thread. Default: no output. */
SCL_EXPORT void scl_set_log(void (*log)(const char *line));

/* ------------ loading */

typedef struct scl_predictor scl_predictor;

/* Load a fitted pipeline with a solver from a file of p:save, or from its bytes in memory, which
 * are copied. Everything in the file is checked, and parameters of features are drawn again: see
 * docs/models.md for what is refused. */
SCL_EXPORT scl_status scl_predictor_load(const char *path, scl_predictor **out, scl_error *error);
SCL_EXPORT scl_status scl_predictor_load_memory(const void *bytes, size_t size, scl_predictor **out,
                                                scl_error *error);
/* Release the predictor, which must not be used afterwards. NULL: does nothing. */
SCL_EXPORT void scl_predictor_close(scl_predictor *predictor);

/* ------------ input and output */

/* Columns of a row. Rows have the columns that the pipeline was fitted to, in the same order,
 * before any stage. */
SCL_EXPORT size_t scl_predictor_columns(const scl_predictor *predictor);
/* The name of a column, NULL: the training data had no names. The predictor owns texts. */
SCL_EXPORT const char *scl_predictor_column_name(const scl_predictor *predictor, size_t column);

/* Scores of a row: one for two classes or one target, else one for each class or target. */
SCL_EXPORT size_t scl_predictor_outputs(const scl_predictor *predictor);
/* The number of classes; 0: a regression. */
SCL_EXPORT size_t scl_predictor_classes(const scl_predictor *predictor);
/* The label of a class as a text, NULL if there is no such class; and as a number, NaN if labels
 * are texts. */
SCL_EXPORT const char *scl_predictor_class_label(const scl_predictor *predictor, size_t place);
SCL_EXPORT double scl_predictor_class_number(const scl_predictor *predictor, size_t place);
/* Multi-label targets, of which a row has any number: the number of labels, for each of which there
 * is an output; 0: it has none. scl_predictor_classes is 0. The label as a text, NULL if there is no
 * such label. */
SCL_EXPORT size_t scl_predictor_labels(const scl_predictor *predictor);
SCL_EXPORT const char *scl_predictor_label(const scl_predictor *predictor, size_t place);
/* 1 if it predicts probabilities: in a classification whose solver's loss defines them, or that was
 * calibrated before it was saved; else 0. */
SCL_EXPORT int scl_predictor_has_probabilities(const scl_predictor *predictor);

/* 1 if it says standard deviations: a ridge regression that was saved with p:save(path, { std = true
 * }), whose targets were not learnt as logarithms; else 0. */
SCL_EXPORT int scl_predictor_has_deviations(const scl_predictor *predictor);
/* 1 if it says intervals: a regression fitted with p:fit(ds, { interval = method }) whose groups, if
 * it has any, are those of a column; else 0. */
SCL_EXPORT int scl_predictor_has_intervals(const scl_predictor *predictor);
/* The same of label sets, for a classification. */
SCL_EXPORT int scl_predictor_has_label_sets(const scl_predictor *predictor);

/* ------------ the table behind the columns
 *
 * A model that learnt from a CSV table describes how fields of the table become columns: a number
 * or a date (days since 1970-01-01) is one column, a category one column of 0 or 1 for each level,
 * and one more, 1 where the field is missing, if training rows missed some. */

enum {
  SCL_FIELD_NUMBER = 0,
  SCL_FIELD_CATEGORY = 1,
  SCL_FIELD_DATE = 2,
  SCL_FIELD_SKIPPED = 3 /* no column */
};

/* The number of fields of the table, without the target; 0: the model has no table. */
SCL_EXPORT size_t scl_predictor_fields(const scl_predictor *predictor);
/* For field number `field`: its name (NULL: no such field), its kind (-1: no such field), its first
 * column and its number of columns. */
SCL_EXPORT const char *scl_predictor_field_name(const scl_predictor *predictor, size_t field);
SCL_EXPORT int scl_predictor_field_kind(const scl_predictor *predictor, size_t field);
SCL_EXPORT size_t scl_predictor_field_column(const scl_predictor *predictor, size_t field);
SCL_EXPORT size_t scl_predictor_field_width(const scl_predictor *predictor, size_t field);
/* The value that replaces a missing number; NaN: missing numbers are not replaced. */
SCL_EXPORT double scl_predictor_field_fill(const scl_predictor *predictor, size_t field);
/* The level of a category whose column is the first of the field plus `level`; NULL: no such. */
SCL_EXPORT const char *scl_predictor_field_level(const scl_predictor *predictor, size_t field,
                                                 size_t level);

/* A field of a row: a text as in a CSV file, without quotes; or, if `text` is NULL, a number, NaN
 * for a missing one. Dates as numbers are days since 1970-01-01. */
typedef struct scl_field {
  const char *text;
  double number;
} scl_field;

/* Turn fields into the columns of the model, as sc.data.csv(path, { like = p }) does.
 *
 * names: `fields` names, in any order; names that the model does not know are passed over, and one
 * that is given more often than the model has it is an error. NULL:
 * values are those of all fields of the model, in its order. values: count x fields, row by row.
 * rows: count x scl_predictor_columns numbers of type dtype, `stride` numbers apart (0: without
 * gaps), for the functions below. *unknown (if not NULL): how many categories were not among the
 * levels of their field, so that all its columns are 0.
 * SCL_STATUS_BAD_DATA names the field that is not given, or the row (from 1) and field of a value
 * that is not a number or date, or missing where the model has no number in its place; then `rows`
 * is not changed. SCL_STATUS_UNSUPPORTED: the model has no table. */
SCL_EXPORT scl_status scl_predictor_encode(const scl_predictor *predictor, const char *const *names,
                                           size_t fields, const scl_field *values, size_t count,
                                           scl_dtype dtype, void *rows, size_t stride,
                                           size_t *unknown, scl_error *error);

/* ------------ predicting
 *
 * rows: `count` rows of scl_predictor_columns numbers each, of type dtype (SCL_DTYPE_FLOAT64, 0, or
 * SCL_DTYPE_FLOAT32, 1), aligned to it, `stride` numbers apart. Numbers are finite:
 * SCL_STATUS_BAD_DATA names the row and column, counted from 1, of one that is not. Output buffers
 * have the same type and do not overlap the rows. A call allocates memory for a block of rows and
 * for count x outputs numbers. */

/* out: in a classification (count x 1) the index of the class of each row, in a regression (count x
 * outputs) the predicted values, of multi-label targets (count x outputs) 1 for a label that the row
 * has, else 0. */
SCL_EXPORT scl_status scl_predictor_predict(const scl_predictor *predictor, scl_dtype dtype,
                                            const void *rows, size_t count, size_t stride,
                                            void *out, size_t out_stride, scl_error *error);
/* classes (count): the index of the class of each row. SCL_STATUS_UNSUPPORTED: a regression. */
SCL_EXPORT scl_status scl_predictor_classify(const scl_predictor *predictor, scl_dtype dtype,
                                             const void *rows, size_t count, size_t stride,
                                             int32_t *classes, scl_error *error);
/* scores (count x outputs): for two classes positive for the second; for more classes the predicted
 * class has the largest; in a regression the predicted values. */
SCL_EXPORT scl_status scl_predictor_scores(const scl_predictor *predictor, scl_dtype dtype,
                                           const void *rows, size_t count, size_t stride,
                                           void *scores, size_t scores_stride, scl_error *error);
/* probabilities (count x classes), which sum to 1 in each row. SCL_STATUS_UNSUPPORTED if
 * scl_predictor_has_probabilities is 0. */
SCL_EXPORT scl_status scl_predictor_probabilities(const scl_predictor *predictor, scl_dtype dtype,
                                                  const void *rows, size_t count, size_t stride,
                                                  void *probabilities, size_t probabilities_stride,
                                                  scl_error *error);

/* deviations (count x outputs): the standard deviation of the predicted function at each row; with
 * noise = 1 of a new row, which has the noise too. SCL_STATUS_UNSUPPORTED if
 * scl_predictor_has_deviations is 0. */
SCL_EXPORT scl_status scl_predictor_deviations(const scl_predictor *predictor, int noise,
                                               scl_dtype dtype, const void *rows, size_t count,
                                               size_t stride, void *deviations,
                                               size_t deviations_stride, scl_error *error);
/* low, high (count x outputs each, `bounds_stride` numbers apart): the bounds between which a new
 * row lies with a probability of about `level`, as p:interval(X, { level = level }) gives them.
 * SCL_STATUS_BAD_OPTION: the level is not above 0 and below 1, or takes more rows to judge by than
 * the model has. SCL_STATUS_UNSUPPORTED if scl_predictor_has_intervals is 0. */
SCL_EXPORT scl_status scl_predictor_interval(const scl_predictor *predictor, double level,
                                             scl_dtype dtype, const void *rows, size_t count,
                                             size_t stride, void *low, void *high,
                                             size_t bounds_stride, scl_error *error);
/* sets (count x classes): 1 where the class may be that of the row, else 0, as p:label_sets(X, {
 * level = level }) says: the set of a new row holds its class with a probability of about `level`.
 * SCL_STATUS_BAD_OPTION: as for scl_predictor_interval. SCL_STATUS_UNSUPPORTED if
 * scl_predictor_has_label_sets is 0. */
SCL_EXPORT scl_status scl_predictor_label_sets(const scl_predictor *predictor, double level,
                                               scl_dtype dtype, const void *rows, size_t count,
                                               size_t stride, void *sets, size_t sets_stride,
                                               scl_error *error);

/* The same for compressed sparse rows: row i has the number values[k] in column columns[k] (from 0),
 * for k = starts[i] .. starts[i+1]-1, and 0 in all other columns; columns ascend in a row. starts:
 * count + 1 numbers, of which the first need not be 0. Memory and time grow with these numbers, not
 * with the columns, where the model has row stages and features that take such rows.
 * what: SCL_OUTPUT_PREDICTIONS (as scl_predictor_predict), SCL_OUTPUT_SCORES or
 * SCL_OUTPUT_PROBABILITIES. SCL_STATUS_BAD_DATA names the row and column of what does not fit. */
enum { SCL_OUTPUT_PREDICTIONS = 0, SCL_OUTPUT_SCORES = 1, SCL_OUTPUT_PROBABILITIES = 2 };
SCL_EXPORT scl_status scl_predictor_sparse(const scl_predictor *predictor, int what,
                                           scl_dtype dtype, const int64_t *starts,
                                           const int32_t *columns, const void *values, size_t count,
                                           void *out, size_t out_stride, scl_error *error);

/* ------------ texts
 *
 * A pipeline that begins with sc.text learnt from texts. Its columns are those of the terms
 * (scl_predictor_columns), and the functions above take rows of them; this one takes the texts. */

/* 1 if the rows of the model are texts; else 0. */
SCL_EXPORT int scl_predictor_takes_texts(const scl_predictor *predictor);

/* texts: `count` texts of lengths[i] bytes in UTF-8 (bytes that are not are read as U+FFFD, between
 * words); lengths NULL: each ends at its first zero byte. what: SCL_OUTPUT_..., as above. A call
 * allocates memory for a copy of the texts and for 8 bytes for each of their different terms.
 * SCL_STATUS_UNSUPPORTED: the rows of the model are not texts, or it has no probabilities. */
SCL_EXPORT scl_status scl_predictor_texts(const scl_predictor *predictor, int what, scl_dtype dtype,
                                          const char *const *texts, const size_t *lengths,
                                          size_t count, void *out, size_t out_stride,
                                          scl_error *error);

/* ------------ rows of Arrow */

/* Rows of an Arrow stream as numbers: what the calls above and scl_table of scullery/fit.h take. */
typedef struct scl_arrow_rows {
  size_t rows, columns;
  scl_dtype dtype;    /* SCL_DTYPE_FLOAT32 if all columns are float32, else SCL_DTYPE_FLOAT64 */
  const void *values; /* row by row, without gaps */
  const char *const *names; /* of the columns, UTF-8 */
  size_t unknown; /* texts, or nulls, for which there is no column: all columns of theirs are 0 */
  size_t texts;   /* columns that stand for texts */
} scl_arrow_rows;

/* All rows of a stream, which is released in any case. Columns are numbers, truth values or texts; a
 * fixed-size list of d numbers is d columns with its name; texts s, also those of a dictionary, are
 * a column of 0 or 1 for each different text, in the order of their bytes ("s=text"), and "s=?" for
 * nulls and "?", where there are such. A table of one batch with one such list of float64 or
 * float32, or with one column of numbers, is kept as it is; others are copied. An error that names
 * column and row: a column of another type, a null among numbers, a whole number that no double
 * has, texts that nearly all differ. */
SCL_EXPORT scl_status scl_arrow_read(struct ArrowArrayStream *stream, scl_arrow_rows **out,
                                     scl_error *error);
/* The same in the columns of other rows, whose names these are, as for a model that learnt from
 * them; NULL: as above. Each column of the stream is among them, and each of them in the stream. */
SCL_EXPORT scl_status scl_arrow_read_as(struct ArrowArrayStream *stream, const char *const *names,
                                        size_t count, scl_arrow_rows **out, scl_error *error);
/* NULL: does nothing. */
SCL_EXPORT void scl_arrow_free(scl_arrow_rows *rows);

#ifdef __cplusplus
}
#endif

#endif
