/* Types of columns and levels of categories. */
#include "csv_internal.h"
#include "engine/pool.h"
#include "number.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- the first lines */

static char find_separator(const char *text, const char *end) {
  static const char candidates[] = ",;\t";
  size_t best = 0;
  char chosen = ',';
  const char *stop = csv_cut(text, end, text);
  for (const char *c = candidates; *c != 0; c++) {
    size_t count = 0;
    for (const char *at = text; at < stop; at++) count += *at == *c;
    if (count > best) {
      best = count;
      chosen = *c;
    }
  }
  return chosen;
}

static bool first_line_is_header(const csv_schema *schema, const char *text, const char *end) {
  const char *at = text, *next = end;
  double number;
  size_t fields = 0;
  while (at != NULL) {
    const csv_field field = csv_next_field(&at, end, schema->separator, &next);
    fields++;
    if (!csv_is_missing(schema, field) && scl_parse_number(field.text, field.length, &number)) return false;
  }
  return fields > 0;
}

static char *text_of(const char *text, size_t length) {
  char *copy = scl_allocate(length + 1);
  if (copy == NULL) return NULL;
  memcpy(copy, text, length);
  copy[length] = 0;
  return copy;
}

static bool listed(const char *const *list, const char *name) {
  for (; list != NULL && *list != NULL; list++)
    if (strcmp(*list, name) == 0) return true;
  return false;
}

static scl_status name_columns(csv_schema *schema, const char *text, const char *end, const char **body, scl_error *error) {
  const char *at = text, *next = end;
  const char *const *given = schema->options->names;
  for (size_t j = 0; j < schema->columns; j++) {
    char scratch[256], made[32];
    csv_field field = csv_next_field(&at, end, schema->separator, &next);
    if (field.length < sizeof scratch) field = csv_unescape(field, scratch);
    (void)snprintf(made, sizeof made, "x%zu", j + 1);
    if (given != NULL && *given != NULL)
      schema->column[j].name = scl_copy_text(*given++);
    else
      schema->column[j].name = schema->header && field.length > 0 ? text_of(field.text, field.length) : scl_copy_text(made);
    if (schema->column[j].name == NULL) return scl_fail_memory(error, 64, "column names");
    schema->column[j].skipped = listed(schema->options->skip, schema->column[j].name);
    schema->column[j].forced = listed(schema->options->levels, schema->column[j].name);
  }
  *body = schema->header ? next : text;
  return SCL_OK;
}

static scl_status check_listed(const csv_schema *schema, const char *const *list, const char *what, scl_error *error) {
  for (; list != NULL && *list != NULL; list++) {
    bool found = false;
    for (size_t j = 0; j < schema->columns; j++) found = found || strcmp(schema->column[j].name, *list) == 0;
    if (!found) return scl_fail(error, SCL_BAD_OPTION, "%s: option '%s' names column '%s', which is not there", schema->paths[0], what, *list);
  }
  return SCL_OK;
}

static scl_status find_target(csv_schema *schema, scl_error *error) {
  const scl_csv_options *o = schema->options;
  schema->target = -1;
  if (o->target != NULL) {
    for (size_t j = 0; j < schema->columns; j++)
      if (strcmp(schema->column[j].name, o->target) == 0) schema->target = (long)j;
    if (schema->target < 0)
      return scl_fail(error, SCL_BAD_OPTION, "%s: there is no column '%s' to be the target; the columns are %s, %s%s", schema->paths[0], o->target,
                      schema->column[0].name, schema->columns > 1 ? schema->column[1].name : "", schema->columns > 2 ? ", ..." : "");
  } else if (o->target_place != 0) {
    schema->target = o->target_place > 0 ? o->target_place - 1 : (long)schema->columns + o->target_place;
    if (schema->target < 0 || schema->target >= (long)schema->columns)
      return scl_fail(error, SCL_BAD_OPTION, "%s: target %ld is outside its %zu columns", schema->paths[0], o->target_place, schema->columns);
  }
  if (schema->target >= 0) schema->column[schema->target].target = true;
  return SCL_OK;
}

scl_status csv_schema_open(csv_schema *schema, const char *text, const char *end, const char **body, scl_error *error) {
  const char *next = end;
  for (const char *const *word = schema->options->missing; *word != NULL; word++) schema->missing_first[(unsigned char)**word] = true;
  if (end - text >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) text += 3;
  while (text < end && csv_blank_line(text, end, &next)) text = next;
  if (text >= end) return scl_fail(error, SCL_BAD_DATA, "%s: the file is empty", schema->paths[0]);
  schema->separator = schema->options->separator != 0 ? schema->options->separator : find_separator(text, end);
  schema->header = schema->options->header == SCL_AUTO ? first_line_is_header(schema, text, end) : schema->options->header == SCL_YES;
  for (const char *at = text; at != NULL; schema->columns++) (void)csv_next_field(&at, end, schema->separator, &next);
  schema->column = scl_allocate_zero(schema->columns * sizeof *schema->column);
  if (schema->column == NULL) return scl_fail_memory(error, schema->columns * sizeof *schema->column, "columns");
  SCL_TRY(name_columns(schema, text, end, body, error));
  SCL_TRY(check_listed(schema, schema->options->skip, "skip", error));
  SCL_TRY(check_listed(schema, schema->options->levels, "levels", error));
  return find_target(schema, error);
}

static void release_levels(csv_levels *levels) {
  for (size_t i = 0; i < levels->count; i++) scl_release(levels->list[i]);
  scl_release(levels->list);
  *levels = (csv_levels){0};
}

void csv_schema_close(csv_schema *schema) {
  for (size_t j = 0; schema->column != NULL && j < schema->columns; j++) {
    scl_release(schema->column[j].name);
    release_levels(&schema->column[j].levels);
  }
  scl_release(schema->column);
  schema->column = NULL;
}

/* ---------------------------------------------------------------- counting, a task a chunk */

typedef struct tally {
  size_t numbers, texts, missing, text_row;
  double sum;
  char sample[40];
} tally;

typedef struct counting {
  csv_schema *schema;
  csv_chunk *chunks;
  tally *tallies;   /* chunks x columns */
  scl_error *errors; /* one a chunk; the row in it is the chunk's own and comes in `place` */
  scl_status *statuses;
  size_t *found; /* fields of a ragged line */
} counting;

static void count_field(const csv_schema *schema, csv_field field, size_t row, tally *t) {
  double number;
  if (csv_is_missing(schema, field)) {
    t->missing++;
  } else if (scl_parse_number(field.text, field.length, &number)) {
    t->numbers++;
    t->sum += number;
  } else if (t->texts++ == 0) {
    t->text_row = row;
    (void)snprintf(t->sample, sizeof t->sample, "%.*s", (int)scl_min(field.length, 39), field.text);
  }
}

static void count_chunk(void *context, size_t index) {
  const counting *job = context;
  csv_chunk *chunk = &job->chunks[index];
  const csv_schema *schema = job->schema;
  tally *tallies = job->tallies + index * schema->columns;
  const char *at = chunk->text, *next = at;
  chunk->rows = 0;
  while (at < chunk->end) {
    if (csv_blank_line(at, chunk->end, &next)) {
      at = next;
      continue;
    }
    size_t fields = 0;
    while (at != NULL) {
      const csv_field field = csv_next_field(&at, chunk->end, schema->separator, &next);
      if (fields < schema->columns && !schema->column[fields].skipped) count_field(schema, field, chunk->rows, &tallies[fields]);
      fields++;
    }
    if (fields != schema->columns) {
      job->statuses[index] = SCL_BAD_DATA;
      job->found[index] = fields;
      return;
    }
    chunk->rows++;
    at = next;
  }
}

static void merge(csv_column *column, const tally *t, const csv_chunk *chunk) {
  if (t->texts > 0 && column->texts == 0) {
    column->text_file = chunk->file;
    column->text_row = chunk->first_row + t->text_row;
    memcpy(column->sample, t->sample, sizeof column->sample);
  }
  column->numbers += t->numbers;
  column->texts += t->texts;
  column->missing += t->missing;
  column->sum += t->sum;
}

/* Chunks come in the order of the files; a stream continues where the last set of chunks of its file ended (first_row of chunk 0). */
static scl_status merge_all(const counting *job, size_t count, scl_error *error) {
  for (size_t k = 0; k < count; k++) {
    csv_chunk *chunk = &job->chunks[k];
    if (k > 0) chunk->first_row = chunk->file == chunk[-1].file ? chunk[-1].first_row + chunk[-1].rows : 0;
    for (size_t j = 0; j < job->schema->columns; j++) merge(&job->schema->column[j], &job->tallies[k * job->schema->columns + j], chunk);
    if (job->statuses[k] != SCL_OK)
      return scl_fail(error, SCL_BAD_DATA, "%s: row %zu has %zu fields where the first line has %zu", job->schema->paths[chunk->file],
                      chunk->first_row + chunk->rows + 1, job->found[k], job->schema->columns);
  }
  return SCL_OK;
}

scl_status csv_schema_count(csv_schema *schema, csv_chunk *chunks, size_t count, scl_error *error) {
  counting job = {.schema = schema, .chunks = chunks};
  job.tallies = scl_allocate_zero((count * schema->columns + 1) * sizeof *job.tallies);
  job.statuses = scl_allocate_zero((count + 1) * sizeof *job.statuses);
  job.found = scl_allocate_zero((count + 1) * sizeof *job.found);
  scl_status status = SCL_OK;
  if (job.tallies == NULL || job.statuses == NULL || job.found == NULL) status = scl_fail_memory(error, count * schema->columns * sizeof(tally), "a scan");
  if (status == SCL_OK) {
    scl_pool_run(count, count_chunk, &job);
    status = merge_all(&job, count, error);
  }
  scl_release(job.tallies);
  scl_release(job.statuses);
  scl_release(job.found);
  return status;
}

/* ---------------------------------------------------------------- deciding */

/* A few texts among many numbers are mistakes, not categories. */
static scl_status decide_column(const csv_schema *schema, csv_column *column, size_t place, scl_error *error) {
  column->categorical = column->forced || column->texts > 0;
  if (column->texts > 0 && !column->forced && column->texts * 20 <= column->numbers)
    return scl_fail(error, SCL_BAD_DATA,
                    "%s: row %zu, column %zu (%s): '%s' is not a number, and %zu others there are; levels = {\"%s\"} takes the column as categories",
                    schema->paths[column->text_file], column->text_row + 1, place + 1, column->name, column->sample, column->numbers, column->name);
  return SCL_OK;
}

static scl_status decide_target(const csv_schema *schema, csv_column *column, scl_error *error) {
  const scl_choice asked = schema->options->classification;
  if (column->missing > 0)
    return scl_fail(error, SCL_BAD_DATA, "%s: the target '%s' is missing in %zu rows", schema->paths[0], column->name, column->missing);
  if (asked == SCL_NO && column->categorical)
    return scl_fail(error, SCL_BAD_DATA, "%s: row %zu, column '%s': the target of a regression must be a number, and this is '%s'",
                    schema->paths[column->text_file], column->text_row + 1, column->name, column->sample);
  return SCL_OK;
}

scl_status csv_schema_decide(csv_schema *schema, scl_error *error) {
  for (size_t j = 0; j < schema->columns; j++) {
    csv_column *column = &schema->column[j];
    if (column->skipped) continue;
    SCL_TRY(decide_column(schema, column, j, error));
    if (column->target) SCL_TRY(decide_target(schema, column, error));
    if (!column->categorical && column->missing > 0 && schema->options->fill == SCL_MISSING_ERROR)
      return scl_fail(error, SCL_BAD_DATA, "%s: column %zu (%s) has %zu missing values", schema->paths[0], j + 1, column->name, column->missing);
    if (!column->categorical && !column->target && column->numbers == 0)
      return scl_fail(error, SCL_BAD_DATA, "%s: column %zu (%s) has no values at all; skip = {\"%s\"} leaves it out", schema->paths[0], j + 1,
                      column->name, column->name);
  }
  return SCL_OK;
}

/* ---------------------------------------------------------------- levels */

static int compare(const char *a, const char *b, size_t length) {
  const int order = strncmp(a, b, length);
  return order != 0 ? order : a[length] == 0 ? 0 : 1;
}

/* Binary search: the place of the text, or -(where it would stand) - 1. */
static long search(const csv_levels *levels, const char *text, size_t length) {
  size_t low = 0, high = levels->count;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    const int order = compare(levels->list[middle], text, length);
    if (order == 0) return (long)middle;
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return -(long)low - 1;
}

long csv_level_place(const csv_levels *levels, csv_field field) {
  const long place = search(levels, field.text, field.length);
  return place < 0 ? -1 : place;
}

static bool insert(csv_levels *levels, const char *text, size_t length) {
  const long place = search(levels, text, length);
  if (place >= 0) return true;
  const size_t at = (size_t)(-place - 1);
  if ((levels->count & (levels->count - 1)) == 0) { /* room doubles at powers of two */
    char **more = scl_allocate_array(scl_max(2 * levels->count, 8), sizeof *more);
    if (more == NULL) return false;
    if (levels->count > 0) memcpy(more, levels->list, levels->count * sizeof *more);
    scl_release(levels->list);
    levels->list = more;
  }
  char *copy = text_of(text, length);
  if (copy == NULL) return false;
  memmove(levels->list + at + 1, levels->list + at, (levels->count - at) * sizeof *levels->list);
  levels->list[at] = copy;
  levels->count++;
  return true;
}

typedef struct collecting {
  const csv_schema *schema;
  const csv_chunk *chunks;
  csv_levels *levels; /* chunks x columns */
  atomic_bool failed;
} collecting;

static bool collect_line(const csv_schema *schema, csv_levels *levels, const char **at, const char *end, const char **next) {
  for (size_t j = 0; *at != NULL && j < schema->columns; j++) {
    csv_field field = csv_next_field(at, end, schema->separator, next);
    if (!schema->column[j].categorical || schema->column[j].skipped || csv_is_missing(schema, field)) continue;
    if (field.escaped) {
      char *scratch = scl_allocate(field.length + 1);
      if (scratch == NULL) return false;
      field = csv_unescape(field, scratch);
      const bool done = insert(&levels[j], field.text, field.length);
      scl_release(scratch);
      if (!done) return false;
    } else if (!insert(&levels[j], field.text, field.length)) {
      return false;
    }
  }
  return true;
}

static void collect_chunk(void *context, size_t index) {
  collecting *job = context;
  const csv_chunk *chunk = &job->chunks[index];
  const char *at = chunk->text, *next = at;
  while (at < chunk->end) {
    if (csv_blank_line(at, chunk->end, &next)) {
      at = next;
      continue;
    }
    if (!collect_line(job->schema, job->levels + index * job->schema->columns, &at, chunk->end, &next)) {
      atomic_store(&job->failed, true);
      return;
    }
    at = next;
  }
}

scl_status csv_schema_levels(csv_schema *schema, const csv_chunk *chunks, size_t count, scl_error *error) {
  bool any = false, enough = true;
  for (size_t j = 0; j < schema->columns; j++) any = any || (schema->column[j].categorical && !schema->column[j].skipped);
  if (!any) return SCL_OK;
  collecting job = {.schema = schema, .chunks = chunks, .levels = scl_allocate_zero((count * schema->columns + 1) * sizeof(csv_levels))};
  if (job.levels == NULL) return scl_fail_memory(error, count * schema->columns * sizeof(csv_levels), "levels");
  atomic_init(&job.failed, false);
  scl_pool_run(count, collect_chunk, &job);
  enough = !atomic_load(&job.failed);
  for (size_t k = 0; k < count * schema->columns; k++) {
    csv_column *column = &schema->column[k % schema->columns];
    for (size_t i = 0; enough && i < job.levels[k].count; i++)
      enough = insert(&column->levels, job.levels[k].list[i], strlen(job.levels[k].list[i]));
    release_levels(&job.levels[k]);
  }
  scl_release(job.levels);
  return enough ? SCL_OK : scl_fail_memory(error, count * schema->columns, "levels");
}

void csv_schema_lay_out(csv_schema *schema) {
  schema->cols_out = 0;
  for (size_t j = 0; j < schema->columns; j++) {
    csv_column *column = &schema->column[j];
    if (column->skipped || column->target || (column->categorical && schema->options->drop_categorical)) continue;
    column->has_missing_level = column->categorical && column->missing > 0;
    column->first_out = schema->cols_out;
    column->outs = column->categorical ? column->levels.count + column->has_missing_level : 1;
    schema->cols_out += column->outs;
  }
}
