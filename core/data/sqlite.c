/* Rows of SQLite databases: of a query, of a table, or of the only table. The file is opened for
 * reading alone, and statements other than queries are refused before they run.
 *
 * The library is opened by its name when the first database is read, so that nothing else needs
 * it. */
#include "data/reader.h"

#ifdef SCULLERY_SQLITE
#include "base/interrupt.h"
#include "base/text.h"
#include <dlfcn.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------- the library */

#define LIBRARY "libsqlite3.so.0"
#define FUNCTIONS(X)                                                                               \
  X(open_v2)                                                                                       \
  X(close_v2)                                                                                      \
  X(prepare_v2)                                                                                    \
  X(finalize)                                                                                      \
  X(step)                                                                                          \
  X(errmsg)                                                                                        \
  X(errstr)                                                                                        \
  X(exec)                                                                                          \
  X(set_authorizer)                                                                                \
  X(progress_handler)                                                                              \
  X(stmt_readonly)                                                                                 \
  X(column_count)                                                                                  \
  X(column_name)                                                                                   \
  X(column_type)                                                                                   \
  X(column_double)                                                                                 \
  X(column_int64)                                                                                  \
  X(column_text)                                                                                   \
  X(column_bytes)

static struct {
#define DECLARE(name) __typeof__(sqlite3_##name) *name;
  FUNCTIONS(DECLARE)
} sqlite;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *missing; /* what was not found; NULL: all is there */

static void find_functions(void) {
  void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
  missing = library == NULL ? LIBRARY : NULL;
#define FIND(name)                                                                                 \
  if (missing == NULL) {                                                                           \
    *(void **)&sqlite.name = dlsym(library, "sqlite3_" #name);                                     \
    if (sqlite.name == NULL) missing = LIBRARY ": sqlite3_" #name;                                 \
  }
  FUNCTIONS(FIND)
}

/* ---------------------------------------------------------------- opening */

typedef struct database {
  char *path, *sql;
  sqlite3 *connection;
  sqlite3_stmt *statement;
  char **names;         /* own: those of SQLite go where it prepares the query anew */
  size_t columns, rows; /* rows: read so far */
} database;

static bool recognises(const unsigned char *first, size_t size) {
  static const char magic[] = "SQLite format 3"; /* and its zero byte */
  return size >= sizeof magic && memcmp(first, magic, sizeof magic) == 0;
}

static scl_status refuse(const database *d, scl_error *error) {
  return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: SQLite says: %s", d->path,
                  d->connection == NULL ? "out of memory" : sqlite.errmsg(d->connection));
}

/* Ctrl-C ends a query. */
static int stop_at_interrupt(void *context) {
  (void)context;
  return scl_interrupted();
}

/* Queries may read tables and call functions, but for those that reach beyond the database. */
static int allow_reading(void *context, int action, const char *first, const char *second,
                         const char *database_name, const char *trigger) {
  (void)context, (void)first, (void)database_name, (void)trigger;
  if (action == SQLITE_FUNCTION && second != NULL && strcmp(second, "load_extension") == 0)
    return SQLITE_DENY;
  return action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_FUNCTION ||
                 action == SQLITE_RECURSIVE
             ? SQLITE_OK
             : SQLITE_DENY;
}

static scl_status connect(database *d, scl_error *error) {
  enum { STEPS = 20000 };
  char path[4200];
  (void)pthread_once(&once, find_functions);
  if (missing != NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "%s is a database of SQLite, and %s is not there: install SQLite's library",
                    d->path, missing);
  /* a path is a file, also one called ":memory:" */
  if ((size_t)snprintf(path, sizeof path, "%s%s", d->path[0] == '/' ? "" : "./", d->path) >=
      sizeof path)
    return scl_fail(error, SCL_STATUS_IO, "%s: the path is too long", d->path);
  if (sqlite.open_v2(path, &d->connection, SQLITE_OPEN_READONLY | SQLITE_OPEN_PRIVATECACHE, NULL) !=
      SQLITE_OK)
    return refuse(d, error);
  if (sqlite.exec(d->connection, "pragma trusted_schema = off; pragma cell_size_check = on;", NULL,
                  NULL, NULL) != SQLITE_OK)
    return refuse(d, error);
  sqlite.progress_handler(d->connection, STEPS, stop_at_interrupt, NULL);
  (void)sqlite.set_authorizer(d->connection, allow_reading, NULL);
  return SCL_STATUS_OK;
}

/* ---------------------------------------------------------------- what is read */

static scl_status prepare(database *d, const char *sql, sqlite3_stmt **out, const char **rest,
                          scl_error *error) {
  const int code = sqlite.prepare_v2(d->connection, sql, -1, out, rest);
  if (code == SQLITE_OK) return SCL_STATUS_OK;
  if (strcmp(sqlite.errmsg(d->connection), "not authorized") != 0) return refuse(d, error);
  return scl_fail(error, SCL_STATUS_BAD_OPTION,
                  "%s: option 'query' takes one that reads alone, select ..., and this does more",
                  d->path);
}

/* select * from "table", with quotes in the name doubled; the caller releases it. */
static char *select_all(const char *table) {
  static const char begin[] = "select * from \"";
  char *sql = scl_allocate(sizeof begin + 2 * strlen(table) + 2), *to = sql;
  if (sql == NULL) return NULL;
  memcpy(to, begin, sizeof begin - 1);
  to += sizeof begin - 1;
  for (; *table != 0; table++) {
    if (*table == '"') *to++ = '"';
    *to++ = *table;
  }
  *to++ = '"';
  *to = 0;
  return sql;
}

/* The query of the only table or view; SCL_STATUS_BAD_OPTION with their names if there are
 * several. */
static scl_status find_table(database *d, scl_error *error) {
  sqlite3_stmt *tables = NULL;
  char list[200] = "";
  size_t count = 0, used = 0;
  SCL_TRY(prepare(d,
                  "select name from sqlite_master where type in ('table', 'view') and name not "
                  "like 'sqlite\\_%' escape '\\' order by name",
                  &tables, NULL, error));
  int code;
  while ((code = sqlite.step(tables)) == SQLITE_ROW) {
    const char *name = (const char *)sqlite.column_text(tables, 0);
    if (name == NULL) continue;
    if (count == 0) d->sql = select_all(name);
    used = scl_append(list, sizeof list, used, count == 0 ? "" : ", ");
    used = scl_append(list, sizeof list, used, name);
    count++;
  }
  const scl_status status = code == SQLITE_DONE ? SCL_STATUS_OK : refuse(d, error);
  (void)sqlite.finalize(tables);
  if (status != SCL_STATUS_OK) return status;
  if (count == 1 && d->sql != NULL) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_BAD_OPTION,
                  count == 0 ? "%s has no table%s"
                             : "%s has several tables: option 'table' names one of %s, or option "
                               "'query' selects rows",
                  d->path, list);
}

/* Whether a text has nothing but blanks, semicolons and comments. */
static bool is_blank(database *d, const char *rest) {
  while (*rest != 0) {
    sqlite3_stmt *more = NULL;
    const int code = sqlite.prepare_v2(d->connection, rest, -1, &more, &rest);
    if (more != NULL) (void)sqlite.finalize(more);
    if (code != SQLITE_OK || more != NULL) return false;
  }
  return true;
}

static scl_status prepare_rows(database *d, scl_error *error) {
  const char *rest = "";
  SCL_TRY(prepare(d, d->sql, &d->statement, &rest, error));
  if (d->statement == NULL || !is_blank(d, rest))
    return scl_fail(error, SCL_STATUS_BAD_OPTION, "%s: option 'query' takes one statement of SQL",
                    d->path);
  d->columns = (size_t)sqlite.column_count(d->statement);
  if (d->columns == 0 || !sqlite.stmt_readonly(d->statement))
    return scl_fail(error, SCL_STATUS_BAD_OPTION, "%s: the query gives no rows", d->path);
  d->names = scl_allocate_zero((d->columns + 1) * sizeof *d->names);
  if (d->names == NULL) return scl_fail_memory(error, d->columns * sizeof *d->names, "names");
  for (size_t j = 0; j < d->columns; j++) {
    const char *name = sqlite.column_name(d->statement, (int)j);
    d->names[j] = name == NULL ? NULL : scl_copy_text(name);
    if (d->names[j] == NULL) return scl_fail_memory(error, d->columns, "names");
  }
  return SCL_STATUS_OK;
}

static void close_database(void *file) {
  database *d = file;
  if (d->statement != NULL) (void)sqlite.finalize(d->statement);
  if (d->connection != NULL) (void)sqlite.close_v2(d->connection);
  for (size_t j = 0; d->names != NULL && j < d->columns; j++)
    scl_release(d->names[j]);
  SCL_RELEASE(d->path, d->sql, d->names, d);
}

static scl_status open_database(const char *path, const scl_reader_options *options, void **file,
                                scl_error *error) {
  database *d = scl_allocate_zero(sizeof *d);
  if (d == NULL) return scl_fail_memory(error, sizeof *d, "a database");
  d->path = scl_copy_text(path);
  scl_status status =
      d->path == NULL ? scl_fail_memory(error, sizeof *d, "a path") : connect(d, error);
  const bool chosen = options->query != NULL || options->table != NULL;
  if (status == SCL_STATUS_OK && chosen) {
    d->sql = options->query != NULL ? scl_copy_text(options->query) : select_all(options->table);
    if (d->sql == NULL) status = scl_fail_memory(error, 1, "a query");
  }
  if (status == SCL_STATUS_OK && !chosen) status = find_table(d, error);
  if (status == SCL_STATUS_OK) status = prepare_rows(d, error);
  if (status == SCL_STATUS_OK)
    *file = d;
  else
    close_database(d);
  return status;
}

/* ---------------------------------------------------------------- rows */

static scl_status columns_of(void *file, const char *const **names, size_t *count,
                             scl_error *error) {
  const database *d = file;
  (void)error;
  *names = (const char *const *)d->names;
  *count = d->columns;
  return SCL_STATUS_OK;
}

/* A text with a zero byte would end there for the readers of text. */
static scl_status take_text(database *d, size_t j, scl_cell *cell, scl_error *error) {
  cell->kind = SCL_CELL_TEXT;
  cell->text = (const char *)sqlite.column_text(d->statement, (int)j);
  cell->length = (size_t)sqlite.column_bytes(d->statement, (int)j);
  if (cell->text == NULL) return scl_fail_memory(error, cell->length, "a text");
  if (memchr(cell->text, 0, cell->length) == NULL) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_BAD_DATA,
                  "%s: row %zu has a text with a zero byte in column '%s': leave the column out of "
                  "the query, or select hex(...) of it",
                  d->path, d->rows, d->names[j]);
}

static scl_status read_cell(database *d, size_t j, scl_cell *cell, scl_error *error) {
  sqlite3_stmt *row = d->statement;
  const int at = (int)j;
  switch (sqlite.column_type(row, at)) {
  case SQLITE_NULL:
    *cell = (scl_cell){.kind = SCL_CELL_MISSING};
    return SCL_STATUS_OK;
  case SQLITE_INTEGER:
    *cell = (scl_cell){.kind = SCL_CELL_INTEGER, .integer = sqlite.column_int64(row, at)};
    return SCL_STATUS_OK;
  case SQLITE_FLOAT:
    *cell = (scl_cell){.kind = SCL_CELL_NUMBER, .number = sqlite.column_double(row, at)};
    return SCL_STATUS_OK;
  case SQLITE_TEXT:
    return take_text(d, j, cell, error);
  default:
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "%s: row %zu has bytes (a BLOB) in column '%s', where a number or a text "
                    "belongs: leave the column out of the query",
                    d->path, d->rows, d->names[j]);
  }
}

static scl_status read_row(void *file, scl_cell *cells, bool *more, scl_error *error) {
  database *d = file;
  const int code = sqlite.step(d->statement);
  *more = code == SQLITE_ROW;
  if (code == SQLITE_DONE) return SCL_STATUS_OK;
  if (code == SQLITE_INTERRUPT) SCL_TRY(scl_interrupt_check(error));
  if (code != SQLITE_ROW) return refuse(d, error);
  d->rows++;
  for (size_t j = 0; j < d->columns; j++)
    SCL_TRY(read_cell(d, j, &cells[j], error));
  return SCL_STATUS_OK;
}

const scl_reader scl_reader_sqlite = {.name = "sqlite",
                                      .recognises = recognises,
                                      .open = open_database,
                                      .columns = columns_of,
                                      .row = read_row,
                                      .close = close_database};
#endif
