/* CSV files that several processes read together. A whole file without quotes is read by shares of its
 * bytes; otherwise each process finds the ends of all lines. Then it looks into its share of the chunks,
 * and what all have found in them is exchanged: sorts of fields, levels, rows, numbers. Sums of streams are added in the order of one process. A share that cannot be read
 * has no sentence: the files are then read by each process, as by one alone. */
#include "data/csv/internal.h"
#include "data/files/input.h"
#include "data/shares.h"
#include "processes/processes.h"

/* ------------ sums of streams */

static double sum_of_chunks(const csv_schema *schema, size_t j, size_t first, size_t end) {
  double sum = 0;
  for (size_t k = first; k < end; k++)
    sum += schema->chunk_sums[k * schema->columns + j];
  return sum;
}

/* A new element of sums_kept: whether a block ends with it, and zeros for the sums of columns. */
static int64_t *keep_sums(csv_schema *schema, bool ends, scl_error *error) {
  const size_t size = schema->columns + 1;
  int64_t *list =
      scl_grow(schema->sums_kept, schema->sums_count, &schema->sums_room, size * sizeof *list);
  if (list == NULL) {
    (void)scl_fail_memory(error, schema->sums_count * size * sizeof *list, "sums");
    return NULL;
  }
  schema->sums_kept = list;
  int64_t *sums = list + size * schema->sums_count++;
  memset(sums, 0, size * sizeof *sums);
  sums[0] = ends && scl_processes_rank() == 0;
  return sums + 1;
}

scl_status csv_add_sums(csv_schema *schema, const csv_lines *l, scl_error *error) {
  const size_t own = l->end - l->first, elements = l->split ? l->count : 1;
  for (size_t j = 0; !l->divided && own > 0 && j < schema->columns; j++)
    schema->column[j].sum += sum_of_chunks(schema, j, 0, own);
  for (size_t k = 0; l->divided && l->count > 0 && k < elements; k++) {
    const bool mine = l->split ? k >= l->first && k < l->end : own > 0;
    const size_t from = l->split ? k - l->first : 0, to = l->split ? from + 1 : own;
    int64_t *sums = keep_sums(schema, k + 1 == elements, error);
    if (sums == NULL) return SCL_STATUS_NO_MEMORY;
    for (size_t j = 0; mine && j < schema->columns; j++) {
      const double sum = sum_of_chunks(schema, j, from, to);
      memcpy(&sums[j], &sum, sizeof sum);
    }
  }
  return SCL_STATUS_OK;
}

/* The bits of each sum are one process's, and the others have zeros. */
static scl_status join_sums(csv_schema *schema, scl_error *error) {
  const size_t size = schema->columns + 1;
  SCL_TRY(scl_processes_meet(SCL_STATUS_OK, error, "%zu sums of %zu columns", schema->sums_count,
                             schema->columns));
  SCL_TRY(scl_processes_sum(schema->sums_kept, schema->sums_count * size, error));
  for (size_t j = 0; j < schema->columns; j++) {
    double block = 0;
    for (size_t k = 0; k < schema->sums_count; k++) {
      double sum;
      memcpy(&sum, &schema->sums_kept[k * size + j + 1], sizeof sum);
      block += sum;
      if (schema->sums_kept[k * size] == 0) continue;
      schema->column[j].sum += block;
      block = 0;
    }
  }
  return SCL_STATUS_OK;
}

/* ------------ columns */

/* For each column numbers that are added over all processes, and then words that are those of the
 * process with the smallest place (SIZE_MAX: it has none). */
typedef struct exchange {
  size_t columns, sums, words;
  int64_t *places, *numbers;
} exchange;

static scl_status open_exchange(exchange *e, scl_error *error) {
  const size_t size = e->sums + e->words + 1;
  e->places = scl_allocate_zero((e->columns * size + 1) * sizeof *e->places);
  if (e->places == NULL) return scl_fail_memory(error, e->columns * size * 8, "columns");
  e->numbers = e->places + e->columns;
  return SCL_STATUS_OK;
}

static int64_t *numbers_of(const exchange *e, size_t j) {
  return e->numbers + j * (e->sums + e->words);
}

/* Largest are the places, negated. */
static void set_place(const exchange *e, size_t j, bool any, size_t place) {
  e->places[j] = any ? -(int64_t)place : -INT64_MAX;
}

/* mine: the status of open_exchange. */
static scl_status run_exchange(const exchange *e, scl_status mine, scl_error *error) {
  int64_t *own = scl_allocate_array(e->columns + 1, sizeof *own);
  if (mine == SCL_STATUS_OK && own == NULL)
    mine = scl_fail_memory(error, e->columns * 8, "columns");
  if (mine == SCL_STATUS_OK) memcpy(own, e->places, e->columns * sizeof *own);
  scl_status status = scl_processes_meet(mine, error, "the shares of %zu columns", e->columns);
  if (status == SCL_STATUS_OK) status = scl_processes_maximum(e->places, e->columns, error);
  for (size_t j = 0; status == SCL_STATUS_OK && j < e->columns; j++)
    if (own[j] != e->places[j] || own[j] == -INT64_MAX)
      memset(numbers_of(e, j) + e->sums, 0, e->words * sizeof *e->numbers);
  if (status == SCL_STATUS_OK)
    status = scl_processes_sum(e->numbers, e->columns * (e->sums + e->words), error);
  scl_release(own);
  return status;
}

enum { COUNTS = 6 + SCL_DATE_ORDERS, SAMPLE = 6 /* words of a sample */ };
_Static_assert(sizeof((csv_column *)0)->sample <= SAMPLE * sizeof(int64_t), "room for a sample");

static void list_counts(csv_column *column, size_t *counts[COUNTS]) {
  size_t *const all[] = {&column->numbers, &column->texts,     &column->missing,
                         &column->dates,   &column->formatted, &column->large};
  memcpy(counts, all, sizeof all);
  for (size_t k = 0; k < SCL_DATE_ORDERS; k++)
    counts[6 + k] = &column->orders[k];
}

static void put_column(const exchange *e, const csv_lines *l, csv_column *column, size_t j) {
  size_t *counts[COUNTS];
  int64_t *numbers = numbers_of(e, j), *words = numbers + COUNTS;
  const csv_chunk *first = l->whole && l->end > l->first ? &l->chunks[l->first] : NULL;
  const bool moves = first != NULL && column->text_file == first->file;
  list_counts(column, counts);
  for (size_t k = 0; k < COUNTS; k++)
    numbers[k] = (int64_t)*counts[k];
  set_place(e, j, column->texts > 0,
            csv_row_place(column->text_file, column->text_row + (moves ? first->first_row : 0)));
  words[0] = (int64_t)column->text_line;
  words[1] = column->text_from == NULL ? -1 : column->text_to - column->text_from;
  memcpy(words + 2, column->sample, sizeof column->sample);
}

static void take_column(const exchange *e, const csv_lines *l, csv_column *column, size_t j) {
  size_t *counts[COUNTS];
  const int64_t *numbers = numbers_of(e, j), *words = numbers + COUNTS;
  const size_t place = (size_t)-e->places[j];
  list_counts(column, counts);
  for (size_t k = 0; k < COUNTS; k++)
    *counts[k] = (size_t)numbers[k];
  if (column->texts == 0) return;
  column->text_file = place >> 40;
  column->text_row = place - csv_row_place(column->text_file, 0);
  column->text_line = (size_t)words[0];
  column->text_from = words[1] < 0 ? NULL : l->texts[column->text_file].bytes;
  column->text_to = words[1] < 0 ? NULL : column->text_from + words[1];
  memcpy(column->sample, words + 2, sizeof column->sample);
}

static scl_status join_columns(csv_schema *schema, const csv_lines *l, scl_error *error) {
  exchange e = {.columns = schema->columns, .sums = COUNTS, .words = 2 + SAMPLE};
  scl_status status = open_exchange(&e, error);
  for (size_t j = 0; status == SCL_STATUS_OK && j < e.columns; j++)
    put_column(&e, l, &schema->column[j], j);
  status = run_exchange(&e, status, error);
  for (size_t j = 0; status == SCL_STATUS_OK && j < e.columns; j++)
    take_column(&e, l, &schema->column[j], j);
  scl_release(e.places);
  return status;
}

scl_status csv_join_unknown(csv_schema *schema, scl_error *error) {
  exchange e = {.columns = schema->columns, .sums = 1, .words = SAMPLE};
  if (schema->unknown == NULL) return SCL_STATUS_OK;
  scl_status status = open_exchange(&e, error);
  for (size_t j = 0; status == SCL_STATUS_OK && j < e.columns; j++) {
    const csv_unknown *unknown = &schema->unknown[j];
    *numbers_of(&e, j) = (int64_t)unknown->count;
    memcpy(numbers_of(&e, j) + 1, unknown->example, sizeof unknown->example);
    set_place(&e, j, unknown->count > 0, unknown->place);
  }
  status = run_exchange(&e, status, error);
  for (size_t j = 0; status == SCL_STATUS_OK && j < e.columns; j++) {
    csv_unknown *unknown = &schema->unknown[j];
    unknown->count = (size_t)*numbers_of(&e, j);
    unknown->place = (size_t)-e.places[j];
    memcpy(unknown->example, numbers_of(&e, j) + 1, sizeof unknown->example);
  }
  scl_release(e.places);
  return status;
}

/* ------------ levels */

/* The levels of all columns as texts, each with its 0; before those of a column is a byte that says
 * whether there were too many, behind them an empty text, which no level is. */
static scl_status write_levels(const csv_schema *schema, char **bytes, size_t *size,
                               scl_error *error) {
  *size = 2 * schema->columns;
  for (size_t j = 0; j < schema->columns; j++)
    for (size_t i = 0; i < schema->column[j].levels.count; i++)
      *size += schema->column[j].levels.list[i].length + 1;
  char *at = *bytes = scl_allocate(*size + 1);
  if (at == NULL) return scl_fail_memory(error, *size, "the levels of categories");
  for (size_t j = 0; j < schema->columns; j++) {
    const csv_levels *levels = &schema->column[j].levels;
    *at++ = levels->overflow;
    for (size_t i = 0; i < levels->count; i++) {
      memcpy(at, levels->list[i].text, levels->list[i].length + 1);
      at += levels->list[i].length + 1;
    }
    *at++ = 0;
  }
  return SCL_STATUS_OK;
}

/* The levels of all processes: `size` bytes. */
static bool read_levels(csv_schema *schema, const char *at, size_t size) {
  const char *end = at + size;
  for (size_t j = 0; at < end; j = (j + 1) % schema->columns) {
    csv_levels *levels = &schema->column[j].levels;
    const bool overflow = *at++ != 0;
    for (size_t length = strlen(at); length > 0; length = strlen(at)) {
      if (!csv_levels_add(levels, at, length)) return false;
      at += length + 1;
    }
    at++;
    levels->overflow = levels->overflow || overflow;
  }
  return true;
}

static scl_status join_levels(csv_schema *schema, scl_error *error) {
  char *own = NULL;
  void *all = NULL;
  size_t size = 0, count;
  scl_status status = write_levels(schema, &own, &size, error);
  status = scl_shares_gather(status, size, own, 1, &all, &count, error);
  if (status == SCL_STATUS_OK && !read_levels(schema, all, count))
    status = scl_fail_memory(error, count, "the levels of categories");
  SCL_RELEASE(own, all);
  return status;
}

/* ------------ rows of chunks */

/* Of whole files: until now only the chunks of this process have rows. Where processes have the texts of
 * their shares alone, the chunks of each count as one. */
static scl_status join_rows(csv_lines *l, scl_error *error) {
  const size_t own = l->end - l->first, count = l->apart ? scl_processes_count() : l->count;
  int64_t *rows = scl_allocate_zero((count + l->count + 1) * sizeof *rows);
  scl_status status =
      rows == NULL ? scl_fail_memory(error, l->count * sizeof *rows, "chunks") : SCL_STATUS_OK;
  status = scl_processes_meet(status, error, "the rows of %zu chunks", count);
  for (size_t k = l->first; status == SCL_STATUS_OK && k < l->end; k++)
    rows[l->apart ? l->first : k] += (int64_t)l->chunks[k].rows;
  if (status == SCL_STATUS_OK) status = scl_processes_sum(rows, count, error);
  if (status == SCL_STATUS_OK && l->apart) {
    memmove(rows + l->end, rows + l->first + 1, (count - l->first - 1) * sizeof *rows);
    for (size_t k = 0; k < own; k++)
      rows[l->first + k] = (int64_t)l->chunks[l->first + k].rows;
  }
  for (size_t k = 0; status == SCL_STATUS_OK && k < l->count; k++) {
    const csv_chunk *last =
        k == 0 || l->chunks[k - 1].file != l->chunks[k].file ? NULL : &l->chunks[k - 1];
    l->chunks[k].rows = (size_t)rows[k];
    l->chunks[k].first_row = last == NULL ? 0 : last->first_row + last->rows;
  }
  scl_release(rows);
  return status;
}

scl_status csv_join_pass(csv_schema *schema, csv_lines *l, bool collect, scl_status mine,
                         bool *again, scl_error *error) {
  int64_t most[1];
  SCL_TRY(scl_shares_end(mine, most, 1, again, error));
  if (*again) return SCL_STATUS_OK;
  if (!collect) {
    if (l->whole) SCL_TRY(join_rows(l, error));
    SCL_TRY(join_columns(schema, l, error));
    if (schema->sums) SCL_TRY(join_sums(schema, error));
  }
  return join_levels(schema, error);
}

/* ------------ numbers */

/* Parses the chunks of this process into the rows of all, and fills them. */
static scl_status fill_share(csv_schema *schema, const csv_lines *l, scl_matrix *x, scl_matrix *y,
                             bool *again, scl_error *error) {
  const csv_lines own = csv_lines_own(l);
  int64_t most[1];
  size_t first = 0;
  for (size_t k = 0; k < l->first; k++)
    first += l->chunks[k].rows;
  scl_matrix rows = scl_matrix_slice(x, first, csv_lines_rows(&own), 0, x->cols), labels = {0};
  if (schema->target >= 0) labels = scl_matrix_slice(y, first, rows.rows, 0, 1);
  scl_status status = own.count == 0
                          ? SCL_STATUS_OK
                          : csv_parse(schema, own.chunks, own.count, &rows, &labels, error);
  status = scl_shares_end(status, most, 1, again, error);
  if (status == SCL_STATUS_OK && !*again) status = csv_join_unknown(schema, error);
  if (status == SCL_STATUS_OK && !*again && schema->options->fill != SCL_MISSING_ROW) {
    status = scl_shares_end(csv_find_medians(schema, l, x, error), most, 1, again, error);
    if (status == SCL_STATUS_OK && !*again)
      status = scl_shares_end(csv_fill(schema, &own, NULL, &rows, error), most, 1, again, error);
  }
  scl_matrix_release(&rows);
  scl_matrix_release(&labels);
  return status;
}

/* A matrix of a block, which it does not own. */
static scl_status view(void *block, size_t rows, size_t cols, scl_dtype dtype, scl_matrix *out,
                       scl_error *error) {
  return scl_matrix_borrow(block, rows, cols, (ptrdiff_t)cols, dtype, out, error);
}

scl_status csv_parse_shares(csv_schema *schema, const csv_lines *l, scl_matrix *x, scl_matrix *y,
                            bool *again, scl_error *error) {
  const size_t rows = csv_lines_rows(l), cols = schema->parsed;
  const scl_dtype dtype = schema->options->dtype;
  const bool target = schema->target >= 0;
  void *blocks[2] = {0};
  scl_matrix shared_x = {0}, shared_y = {0};
  SCL_TRY(scl_processes_share(SCL_STATUS_OK, scl_max(rows * cols, 1) * scl_dtype_size(dtype),
                              &blocks[0], error));
  scl_status status = SCL_STATUS_OK;
  if (target && blocks[0] != NULL)
    status = scl_processes_share(status, rows * sizeof(double), &blocks[1], error);
  *again = status == SCL_STATUS_OK && (blocks[0] == NULL || (target && blocks[1] == NULL));
  if (status == SCL_STATUS_OK && !*again) {
    status = view(blocks[0], rows, cols, dtype, &shared_x, error);
    if (status == SCL_STATUS_OK && target)
      status = view(blocks[1], rows, 1, SCL_DTYPE_FLOAT64, &shared_y, error);
    status = scl_processes_meet(status, error, "%zu rows of %zu numbers", rows, cols);
  }
  if (status == SCL_STATUS_OK && !*again)
    status = fill_share(schema, l, &shared_x, &shared_y, again, error);
  scl_matrix_release(&shared_x);
  scl_matrix_release(&shared_y);
  if (status == SCL_STATUS_OK && !*again)
    status = scl_processes_part_memory(status, blocks, 2, error);
  if (status == SCL_STATUS_OK && !*again) {
    void *of_x = blocks[0], *of_y = blocks[1];
    blocks[0] = blocks[1] = NULL;
    status = scl_matrix_adopt(of_x, rows, cols, dtype, x, error);
    if (target && status == SCL_STATUS_OK)
      status = scl_matrix_adopt(of_y, rows, 1, SCL_DTYPE_FLOAT64, y, error);
    else
      scl_release(of_y);
  }
  scl_release_each(2, blocks);
  return status;
}
