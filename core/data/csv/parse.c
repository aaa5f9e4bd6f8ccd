/* The second pass over the text: lines to numbers, by a finished schema. */
#include "base/interrupt.h"
#include "base/pages.h"
#include "base/pool.h"
#include "data/csv/internal.h"
#include "data/date.h"
#include "data/number.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>

typedef enum kind { PASSED = 0, NUMBER, DATE, LEVEL, PLACE, TARGET_NUMBER, TARGET_LEVEL } kind;

/* What to do with a column on one thread. The text and level of the row before are kept, as columns
 * often repeat themselves. */
typedef struct plan {
  kind kind;
  size_t out;
  const char *last;
  size_t last_length, last_level;
  csv_unknown unknown;
} plan;

enum { NO_LEVEL = -1 };
/* Chunks ahead of the one that is parsed whose memory is prepared, so that no two threads wait for
 * one page. */
enum { AHEAD = 8 };

typedef struct parsing {
  csv_schema *schema;
  const csv_chunk *chunks;
  size_t count; /* of chunks */
  size_t *to;   /* the first row of each in x */
  scl_matrix *x, *y;
  plan *plans; /* threads x columns */
  scl_error *errors;
  atomic_size_t failed; /* the lowest chunk that failed */
} parsing;

/* Where a row goes, and where it came from. */
typedef struct row_place {
  const csv_schema *schema;
  const csv_chunk *chunk;
  size_t row; /* in the chunk */
  double *wide;
  float *narrow; /* one of the two */
  double *y;
} row_place;

/* The error for a field: its place, its text, and why it is refused. */
static scl_status refuse(const row_place *r, size_t j, const char *at, csv_field field,
                         const char *why, scl_error *error) {
  const csv_place place = csv_say_place(r->schema, r->chunk->file, r->chunk->first_row + r->row, j,
                                        csv_line_of(r->chunk, at));
  return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: '%.*s' %s", place.text,
                  (int)scl_min(field.length, 40), field.text, why);
}

/* *place = the level of the field's text, or -1. */
static scl_status find_level(const csv_column *column, csv_field field, long *place,
                             scl_error *error) {
  if (!field.escaped) {
    *place = csv_levels_find(&column->levels, field.text, field.length);
    return SCL_STATUS_OK;
  }
  char *scratch = scl_allocate(field.length + 1);
  if (scratch == NULL) return scl_fail_memory(error, field.length, "a field");
  field = csv_unescape(field, scratch);
  *place = csv_levels_find(&column->levels, field.text, field.length);
  scl_release(scratch);
  return SCL_STATUS_OK;
}

/* Counts a category that the schema does not have, whose columns stay 0, and stores the first one
 * as an example, whichever thread finds it. */
static void note_unknown(const row_place *r, csv_field field, plan *p) {
  csv_unknown *u = &p->unknown;
  const size_t place = csv_row_place(r->chunk->file, r->chunk->first_row);
  if (u->count++ > 0 && place >= u->place) return;
  const size_t length = scl_min(field.length, sizeof u->example - 1);
  memcpy(u->example, field.text, length);
  u->example[length] = 0;
  u->place = place;
}

/* *level: the level of a field, the number of levels for a missing one that has its own column, or
 * NO_LEVEL. */
static scl_status parse_level(const row_place *r, size_t j, const char *at, csv_field field,
                              plan *p, long *level, scl_error *error) {
  const csv_column *column = &r->schema->column[j];
  long place = NO_LEVEL;
  if (csv_is_missing(&r->schema->missing, field)) {
    if (p->kind == TARGET_LEVEL) return refuse(r, j, at, field, "is a missing label", error);
    place = column->missing_level ? (long)column->levels.count : NO_LEVEL;
  } else {
    SCL_TRY(find_level(column, field, &place, error));
  }
  *level = place;
  if (place < 0 && column->like == NULL)
    return refuse(r, j, at, field, "was not there when the file was first read: it changed", error);
  if (place < 0) {
    note_unknown(r, field, p);
  } else if (!field.quoted) {
    p->last = field.text;
    p->last_length = field.length;
    p->last_level = (size_t)place;
  }
  return SCL_STATUS_OK;
}

static scl_status parse_date(const row_place *r, size_t j, const char *at, csv_field field,
                             double *value, scl_error *error) {
  static const char *const forms[SCL_DATE_ORDERS] = {"YYYY-MM-DD", "DD/MM/YYYY", "MM/DD/YYYY"};
  char why[240];
  const csv_column *column = &r->schema->column[j];
  if (scl_parse_date_as(field.text, field.length, column->order, value)) return SCL_STATUS_OK;
  (void)snprintf(why, sizeof why, "is not a date as %s", forms[column->order]);
  if (column->like == NULL)
    (void)snprintf(why, sizeof why,
                   "is not a date as %s, and the column's others are; missing = takes the text as "
                   "missing, levels = {\"%.60s\"} the column as categories",
                   forms[column->order], column->name);
  return refuse(r, j, at, field, why, error);
}

/* The number or date of a field that the fast path did not take. A missing label is an error,
 * another missing number NaN. */
static scl_status parse_number(const row_place *r, size_t j, const char *at, csv_field field,
                               const plan *p, double *value, scl_error *error) {
  if (csv_is_missing(&r->schema->missing, field)) {
    *value = NAN;
    return p->kind != TARGET_NUMBER ? SCL_STATUS_OK
                                    : refuse(r, j, at, field, "is a missing label", error);
  }
  if (p->kind == DATE) return parse_date(r, j, at, field, value, error);
  if (field.escaped ||
      (!scl_parse_number(field.text, field.length, value) &&
       !(r->schema->column[j].loose && scl_parse_loose_number(field.text, field.length, value))))
    return refuse(r, j, at, field,
                  r->schema->column[j].like == NULL
                      ? "is not a number"
                      : "is not a number, and the schema's column holds numbers",
                  error);
  if (!isfinite(*value)) return refuse(r, j, at, field, "is not finite", error);
  if (p->kind != TARGET_NUMBER && r->narrow != NULL && !isfinite((float)*value))
    return refuse(r, j, at, field, "is too large for float32", error);
  return SCL_STATUS_OK;
}

static inline void store(const row_place *r, const plan *p, double value) {
  if (p->kind >= TARGET_NUMBER)
    *r->y = value;
  else if (r->wide != NULL)
    r->wide[p->out] = value;
  else
    r->narrow[p->out] = (float)value;
}

/* Writes a level into a row of zeros: one 1 for a feature; the place of the level, from 1, for a
 * column with a role, for sparse rows (PLACE), and for the target. */
static inline void store_level(const row_place *r, const plan *p, size_t level) {
  if (p->kind == PLACE && r->wide != NULL)
    r->wide[p->out] = (double)level + 1;
  else if (p->kind == PLACE)
    r->narrow[p->out] = (float)level + 1;
  else if (p->kind == TARGET_LEVEL)
    *r->y = (double)level + 1;
  else if (r->wide != NULL)
    r->wide[p->out + level] = 1;
  else
    r->narrow[p->out + level] = 1;
}

static scl_status take_packed(const row_place *r, size_t j, const char *at, const plan *p,
                              scl_error *error) {
  char text[CSV_NUMBER_BYTES];
  double value = scl_unpack_number(at);
  if (p->kind == DATE || r->schema->missing.numbers)
    SCL_TRY(parse_number(r, j, at, csv_unpack(at, text), p, &value, error));
  store(r, p, value);
  return SCL_STATUS_OK;
}

/* Stores the number of the field at `at`; *stop is its delimiter. Plain decimals take a fast
 * path. */
static scl_status take_number(const row_place *r, size_t j, const char *at, const char *end,
                              const plan *p, const char **stop, scl_error *error) {
  static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,
                                  1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19};
  uint64_t digits;
  unsigned places;
  bool negative;
  double value;
  if (r->schema->packed && *at == SCL_PACKED) {
    *stop = at + SCL_PACKED_BYTES;
    return take_packed(r, j, at, p, error);
  }
  if (p->kind != DATE && !r->schema->missing.number[(unsigned char)*at]) {
    *stop = csv_plain_number(at, r->schema->separator, &digits, &places, &negative);
    if (*stop != NULL && digits <= (uint64_t)1 << 53) { /* both are exact in double: one rounding */
      value = places == 0 ? (double)digits : (double)digits / powers[places];
      store(r, p, negative ? -value : value);
      return SCL_STATUS_OK;
    }
  }
  const csv_field field = csv_read_field(at, end, r->schema->separator, stop);
  SCL_TRY(parse_number(r, j, at, field, p, &value, error));
  store(r, p, value);
  return SCL_STATUS_OK;
}

/* Stores the level of the field at `at`; *stop is its delimiter. The text of the row before is
 * compared first. */
static scl_status take_level(const row_place *r, size_t j, const char *at, const char *end, plan *p,
                             const char **stop, scl_error *error) {
  if (p->last != NULL && (size_t)(end - at) > p->last_length &&
      memcmp(at, p->last, p->last_length) == 0) {
    *stop = at + p->last_length;
    if (**stop == r->schema->separator || **stop == '\n') { /* the text of the row before */
      store_level(r, p, p->last_level);
      return SCL_STATUS_OK;
    }
  }
  long level = NO_LEVEL;
  char number[CSV_NUMBER_BYTES];
  csv_field field = csv_read_field(at, end, r->schema->separator, stop);
  if (r->schema->packed && *at == SCL_PACKED) field = csv_unpack(at, number);
  SCL_TRY(parse_level(r, j, at, field, p, &level, error));
  if (level >= 0) store_level(r, p, (size_t)level);
  return SCL_STATUS_OK;
}

/* One line into the row of r; fails if its number of fields is not that of the schema. */
static scl_status take_line(const row_place *r, const char *at, const char *end, plan *plans,
                            const char **stop, scl_error *error) {
  *stop = at;
  for (size_t j = 0; j < r->schema->columns; j++, at = *stop + 1) {
    plan *p = &plans[j];
    if (j % CSV_FIELDS_A_LOOK == 0 && scl_interrupted()) return SCL_STATUS_CANCELLED;
    if (p->kind == NUMBER || p->kind == DATE || p->kind == TARGET_NUMBER)
      SCL_TRY(take_number(r, j, at, end, p, stop, error));
    else if (p->kind != PASSED)
      SCL_TRY(take_level(r, j, at, end, p, stop, error));
    else
      (void)csv_read_field(at, end, r->schema->separator, stop);
    const bool last = *stop >= end || **stop == '\n';
    if (last != (j + 1 == r->schema->columns)) {
      const csv_place place = csv_say_place(r->schema, r->chunk->file, r->chunk->first_row + r->row,
                                            r->schema->columns, csv_line_of(r->chunk, at));
      return scl_fail(error, SCL_STATUS_BAD_DATA,
                      "%s: it has another number of fields than when the file was first read",
                      place.text);
    }
  }
  return SCL_STATUS_OK;
}

static void *row_of(const scl_matrix *x, size_t row) {
  return x->dtype == SCL_DTYPE_FLOAT64 ? (void *)scl_matrix_row(x, row)
                                       : (void *)scl_matrix_row_f32(x, row);
}

/* Prepares the pages of a chunk's rows; does nothing if there is no such chunk. */
static void prepare_rows(const parsing *job, size_t index) {
  if (index >= job->count || job->chunks[index].rows == 0) return;
  scl_pages_prepare(row_of(job->x, job->to[index]),
                    job->chunks[index].rows * job->x->cols * scl_dtype_size(job->x->dtype));
}

/* Parses the lines of a chunk into its rows of x and y. */
static scl_status parse_chunk(const parsing *job, size_t index, plan *plans, scl_error *error) {
  const csv_chunk *chunk = &job->chunks[index];
  const csv_schema *schema = job->schema;
  row_place r = {.schema = schema, .chunk = chunk};
  const char *at = chunk->text, *next = at;
  const size_t row_bytes = job->x->cols * scl_dtype_size(job->x->dtype);
  while (at < chunk->end) {
    if (csv_blank_line(at, chunk->end, schema->separator, &next)) {
      at = next;
      continue;
    }
    const size_t to = job->to[index] + r.row;
    if (r.row == chunk->rows)
      return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: the file changed while it was read",
                      schema->paths[chunk->file]);
    r.wide = job->x->dtype == SCL_DTYPE_FLOAT64 ? scl_matrix_row(job->x, to) : NULL;
    r.narrow = job->x->dtype == SCL_DTYPE_FLOAT64 ? NULL : scl_matrix_row_f32(job->x, to);
    r.y = schema->target >= 0 ? scl_matrix_row(job->y, to) : NULL;
    memset(row_of(job->x, to), 0, row_bytes);
    SCL_TRY(take_line(&r, at, chunk->end, plans, &next, error));
    at = next < chunk->end ? next + 1 : next;
    r.row++;
  }
  return SCL_STATUS_OK;
}

/* A task of the pool. After a failure only chunks before the failed one go on, so that the error is
 * always that of the first bad line. */
static void parse_task(void *context, size_t index) {
  parsing *job = context;
  scl_error error = {0};
  plan *plans = job->plans + scl_pool_worker() * job->schema->columns;
  prepare_rows(job, index + AHEAD);
  for (size_t j = 0; j < job->schema->columns; j++)
    plans[j].last = NULL; /* the text behind it may be gone */
  if (index > atomic_load(&job->failed) || parse_chunk(job, index, plans, &error) == SCL_STATUS_OK)
    return;
  job->errors[index] = error;
  size_t lowest = atomic_load(&job->failed);
  while (index < lowest && !atomic_compare_exchange_weak(&job->failed, &lowest, index)) {
  }
}

static plan plan_of(const csv_schema *schema, const csv_column *column) {
  if (column->skipped || (column->outs == 0 && !column->target)) return (plan){.kind = PASSED};
  if (column->target) return (plan){.kind = column->categorical ? TARGET_LEVEL : TARGET_NUMBER};
  const bool place = column->aside || schema->sparse;
  return (plan){.kind = column->categorical && place ? PLACE
                        : column->categorical        ? LEVEL
                        : column->date               ? DATE
                                                     : NUMBER,
                .out = column->place};
}

/* Adds up the unknown categories of all threads; the example is that of the first chunk, so that it
 * does not depend on the threads. */
static void add_unknown(csv_schema *schema, const plan *plans, size_t threads) {
  for (size_t j = 0; schema->unknown != NULL && j < schema->columns; j++) {
    csv_unknown *to = &schema->unknown[j];
    for (size_t w = 0; w < threads; w++) {
      const csv_unknown *from = &plans[w * schema->columns + j].unknown;
      if (from->count == 0) continue;
      if (to->count == 0 || from->place < to->place) {
        memcpy(to->example, from->example, sizeof to->example);
        to->place = from->place;
      }
      to->count += from->count;
    }
  }
}

/* Allocates the plans of all threads and the first row of each chunk. */
static scl_status prepare(parsing *job, size_t threads, scl_error *error) {
  const csv_schema *schema = job->schema;
  job->to = scl_allocate_array(job->count + 1, sizeof *job->to);
  job->plans = scl_allocate_array(threads * schema->columns, sizeof *job->plans);
  job->errors = scl_allocate_array(job->count + 1, sizeof *job->errors);
  if (job->to == NULL || job->plans == NULL || job->errors == NULL)
    return scl_fail_memory(error, job->count * sizeof *job->errors, "parsing");
  job->to[0] = 0;
  for (size_t k = 0; k < job->count; k++)
    job->to[k + 1] = job->to[k] + job->chunks[k].rows;
  for (size_t k = 0; k < threads * schema->columns; k++)
    job->plans[k] = plan_of(schema, &schema->column[k % schema->columns]);
  for (size_t k = 0; k < AHEAD; k++)
    prepare_rows(job, k);
  return SCL_STATUS_OK;
}

static scl_status run(parsing *job, size_t threads, scl_error *error) {
  scl_pool_run(job->count, parse_task, job);
  const size_t failed = atomic_load(&job->failed);
  add_unknown(job->schema, job->plans, threads);
  SCL_TRY(scl_interrupt_check(error));
  if (failed == SIZE_MAX) return SCL_STATUS_OK;
  if (error != NULL) *error = job->errors[failed];
  return job->errors[failed].status;
}

scl_status csv_parse(csv_schema *schema, const csv_chunk *chunks, size_t count, scl_matrix *x,
                     scl_matrix *y, scl_error *error) {
  const size_t threads = scl_pool_threads();
  parsing job = {.schema = schema, .chunks = chunks, .count = count, .x = x, .y = y};
  atomic_init(&job.failed, SIZE_MAX);
  scl_status status = prepare(&job, threads, error);
  if (status == SCL_STATUS_OK) status = run(&job, threads, error);
  SCL_RELEASE(job.to, job.plans, job.errors);
  return status;
}
