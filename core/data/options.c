#include "data/options.h"

#include <math.h>
#include <string.h>

#define TEXTS "a text or a list of texts"
#define FLAG(option, text) \
  { .name = option, .help = text, .forms = SCL_FORM_BOOLEAN }
#define WORD(option, choices, preset, text) \
  { .name = option, .help = text, .words = choices, .fallback = preset, .forms = SCL_FORM_WORD }
#define OPAQUE(option, takes, text) \
  { .name = option, .help = text, .words = takes, .forms = SCL_FORM_OPAQUE }
#define DTYPE WORD("dtype", "float64|float32", "float64", "type of the numbers")
#define UNPACKED \
  { \
    .name = "unpacked", \
    .help = "most bytes that a gzip file may unpack to in memory; default: 200 times the size of " \
            "the file, at least 128 MiB", \
    .forms = SCL_FORM_INTEGER, .range = SCL_RANGE_HIGH_OPEN, .low = 1, .high = INFINITY \
  }
#define TASK \
  WORD("task", "regression|classification", NULL, \
       "what the target is; default: classification where it is text, two numbers, or few whole " \
       "numbers named class, label or target")

/* The rows are sorted by name. Rows whose form is opaque are read by the caller. */
static const scl_option csv_rows[] = {
    WORD("categorical", "onehot|drop", "onehot",
         "what becomes of columns of text: one column a level, or none"),
    OPAQUE("columns", TEXTS, "names, where the file has none or others are wanted"),
    WORD("dates", "day|month", NULL,
         "what comes first in dates such as 03/04/2024; default: found where a date says it, as "
         "31/12/2024 does"),
    OPAQUE("derive", "a table of names with expressions or functions",
           "computed columns, such as { ratio = \"a / b\", hour = \"hour(when)\", lag1 = "
           "\"lag(y, 1)\" }"),
    DTYPE,
    WORD("fill", "median|error|row", NULL, "another name for missing_values"),
    OPAQUE("groups", "a column's name",
           "rows with the same value stay together: splits and folds keep each group on one side"),
    FLAG("header", "whether the first line holds names; default: found"),
    OPAQUE("levels", TEXTS,
           "columns to take as categories whatever they hold, nearly unique text among them"),
    OPAQUE("like", "a data set, a fitted pipeline or a schema",
           "columns by name, and encoded, as there: other order, other categories and extra "
           "columns do no harm"),
    OPAQUE("missing", TEXTS,
           "texts that mean a missing value, beside an empty field; default \"?\", \"NA\", "
           "\"N/A\", \"NaN\", \"null\", \"None\", \"#N/A\" and the like"),
    WORD("missing_values", "median|error|row", NULL,
         "what a missing number becomes: the median of its column in the first file (of a "
         "stream: the mean), an error, or the row is left out"),
    OPAQUE("numeric", "true, or a list of columns that must hold numbers",
           "columns that must hold numbers, $1,000.50 and 5% among them; true: all but the target"),
    FLAG("quiet", "no line on the standard error about what was guessed and done"),
    OPAQUE("separator", "one character: a comma, semicolon, tab, bar or the like",
           "default: comma, semicolon or tab, found from the first lines"),
    OPAQUE("skip", TEXTS, "columns to leave out"),
    FLAG("sparse", "keep the numbers that are not 0 alone; default: where there are more than 1000 "
                   "columns and a row fills less than 10 % of them"),
    FLAG("stream", "read block by block from disk, in flat memory"),
    OPAQUE("target",
           "a column's name, its number (from 1, negative from the end), or false for none",
           "the column of targets; default: the last (with like: the one of that name, if it is "
           "there)"),
    TASK,
    OPAQUE("text", TEXTS, "columns whose texts are the rows, for sc.text: see docs/text.md"),
    OPAQUE("time", "a column's name",
           "the time of each row, numbers or dates: for folds = \"time\""),
    UNPACKED,
    OPAQUE("weights", "a column's name", "the weight of each row in learning")};

static const scl_option libsvm_rows[] = {
    {.name = "base",
     .help = "what indices count from: 1, or 0",
     .fallback = "1",
     .forms = SCL_FORM_INTEGER,
     SCL_WITHIN(0, 1)},
    DTYPE,
    {.name = "features",
     .help = "the number of columns; default: the largest index",
     .forms = SCL_FORM_INTEGER,
     SCL_WITHIN(1, INT32_MAX)},
    FLAG("sparse", "keep the numbers that are not 0 alone; default: where less than 10 % are"),
    FLAG("stream", "read the files from disk in each pass"),
    TASK,
    UNPACKED};

static const scl_option matrix_market_rows[] = {
    DTYPE,
    FLAG("sparse", "keep the numbers that are not 0 alone; default: where less than 10 % are"),
    UNPACKED};

static const scl_option idx_rows[] = {DTYPE,
                                      {.name = "scale",
                                       .help = "pixels are multiplied by it",
                                       .fallback = "1",
                                       .forms = SCL_FORM_NUMBER},
                                      FLAG("stream", "read the images from disk in each pass"),
                                      UNPACKED};

#define ROWS(reader, list) \
  { reader, list, sizeof(list) / sizeof *(list) }

const scl_reader_options *scl_reader_options_of(const char *reader) {
  static const scl_reader_options all[] = {ROWS("csv", csv_rows), ROWS("libsvm", libsvm_rows),
                                           ROWS("matrix_market", matrix_market_rows),
                                           ROWS("idx", idx_rows)};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++)
    if (strcmp(all[k].reader, reader) == 0) return &all[k];
  return NULL;
}

/* ------------ what checked values say */

/* The name is one of the declared rows. */
static const scl_value *value_of(const scl_settings *s, const char *name) {
  size_t i = 0;
  while (strcmp(s->options[i].name, name) != 0)
    i++;
  return &s->values[i];
}

/* The place of a word, `absent` where it was not given. */
static int word_of(const scl_settings *s, const char *name, int absent) {
  const scl_value *value = value_of(s, name);
  return value->form == 0 ? absent : value->place;
}

static scl_choice flag_of(const scl_settings *s, const char *name) {
  const scl_value *value = value_of(s, name);
  return value->form == 0 ? SCL_AUTO : value->number != 0 ? SCL_YES : SCL_NO;
}

static scl_dtype dtype_of(const scl_settings *s) {
  return word_of(s, "dtype", 0) == 1 ? SCL_DTYPE_FLOAT32 : SCL_DTYPE_FLOAT64;
}

/* In bytes; 0 where it was not given. */
static size_t unpacked_of(const scl_settings *s) {
  const double bytes = value_of(s, "unpacked")->number;
  return bytes < 0x1p62 ? (size_t)bytes : (size_t)1 << 62;
}

int scl_csv_set_options(const scl_settings *s, scl_csv_options *o) {
  o->classification = (scl_choice)word_of(s, "task", SCL_AUTO);
  o->header = flag_of(s, "header");
  o->sparse = flag_of(s, "sparse");
  o->drop_categorical = word_of(s, "categorical", 0) == 1;
  o->dtype = dtype_of(s);
  o->dates = word_of(s, "dates", -1) + 1;
  o->unpacked = unpacked_of(s);
  return word_of(s, "missing_values", word_of(s, "fill", -1));
}

scl_libsvm_options scl_libsvm_options_of(const scl_settings *s) {
  return (scl_libsvm_options){.features = (size_t)value_of(s, "features")->number,
                              .from_zero = value_of(s, "base")->number == 0,
                              .classification = (scl_choice)word_of(s, "task", SCL_AUTO),
                              .sparse = flag_of(s, "sparse"),
                              .dtype = dtype_of(s),
                              .unpacked = unpacked_of(s)};
}

scl_matrix_market_options scl_matrix_market_options_of(const scl_settings *s) {
  return (scl_matrix_market_options){flag_of(s, "sparse"), dtype_of(s), unpacked_of(s)};
}

scl_idx_options scl_idx_options_of(const scl_settings *s) {
  return (scl_idx_options){value_of(s, "scale")->number, dtype_of(s), unpacked_of(s)};
}
