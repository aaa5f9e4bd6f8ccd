/* Rows of SQLite databases: of a query, of a table, or of the only table. The file is opened for
 * reading alone, and statements other than queries are refused before they run.
 *
 * The library is opened by its name when the first database is read, so that nothing else needs
 * it. */
#include "shared/reading.h"
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

/* ------------ the library */

#define FUNCTIONS(X) \
  X(open_v2) \
  X(close_v2) \
  X(prepare_v2) \
  X(finalize) \
  X(step) \
  X(errmsg) \
  X(exec) \
  X(set_authorizer) \
  X(progress_handler) \
  X(stmt_readonly) \
  X(column_count) \
  X(column_name) \
  X(column_type) \
  X(column_double) \
  X(column_int64) \
  X(column_text) \
  X(column_bytes)

typedef struct sqlite_functions {
#define DECLARE(name) __typeof__(sqlite3_##name) *name;
  FUNCTIONS(DECLARE)
} sqlite_functions;

static const char *const function_names[] = {
#define NAME(name) "sqlite3_" #name,
    FUNCTIONS(NAME) NULL};

/* ------------ opening */

typedef struct database {
  const scl_host *host;
  sqlite_functions sqlite;
  int32_t (*cancelled)(void);
  char *path, *sql;
  sqlite3 *connection;
  sqlite3_stmt *statement;
  scl_reader_column *names; /* own: those of SQLite go where it prepares the query anew */
  size_t columns, rows;     /* rows: read so far */
  bool ended;
  /* The block that was given last: BLOCK_ROWS cells of each column, and the bytes of texts. */
  scl_column_cells *cells;
  uint8_t *missing, *types;
  double *numbers;
  int64_t *integers;
  scl_cell_text *texts;
  size_t *places; /* of the texts in `bytes`; SIZE_MAX: none */
  scl_room bytes;
  size_t used;
} database;

enum { BLOCK_ROWS = 256 };

typedef struct sqlite_reader {
  scl_base base;
  const scl_value *query, *table;
} sqlite_reader;

/* The first 16 bytes of every database. */
static int32_t recognises(const unsigned char *first, size_t size) {
  static const char magic[] = "SQLite format 3"; /* and its zero byte */
  return size >= sizeof magic && memcmp(first, magic, sizeof magic) == 0;
}

static scl_status out_of_memory(const database *d, scl_error *error) {
  return d->host->fail(error, SCL_STATUS_NO_MEMORY, "%s: out of memory", d->path);
}

static scl_status refuse(const database *d, scl_error *error) {
  return d->host->fail(error, SCL_STATUS_BAD_DATA, "%s: SQLite says: %s", d->path,
                       d->connection == NULL ? "out of memory" : d->sqlite.errmsg(d->connection));
}

/* Ctrl-C ends a query. */
static int stop_at_interrupt(void *context) {
  return ((const database *)context)->cancelled() != 0;
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

/* A connection that reads alone, and that a query can neither change nor leave. */
static scl_status connect(database *d, scl_error *error) {
  enum { STEPS = 20000 };
  char path[4200];
  READ_TRY(scl_library_find(d->host, d->path, "a database of SQLite", "libsqlite3.so.0",
                            "libsqlite3-0", function_names, &d->sqlite, error));
  /* a path is a file, also one called ":memory:" */
  if ((size_t)snprintf(path, sizeof path, "%s%s", d->path[0] == '/' ? "" : "./", d->path) >=
      sizeof path)
    return d->host->fail(error, SCL_STATUS_IO, "%s: the path is too long", d->path);
  if (d->sqlite.open_v2(path, &d->connection, SQLITE_OPEN_READONLY | SQLITE_OPEN_PRIVATECACHE,
                        NULL) != SQLITE_OK)
    return refuse(d, error);
  if (d->sqlite.exec(d->connection, "pragma trusted_schema = off; pragma cell_size_check = on;",
                     NULL, NULL, NULL) != SQLITE_OK)
    return refuse(d, error);
  d->sqlite.progress_handler(d->connection, STEPS, stop_at_interrupt, d);
  (void)d->sqlite.set_authorizer(d->connection, allow_reading, NULL);
  return SCL_STATUS_OK;
}

/* ------------ what is read */

static scl_status prepare(database *d, const char *sql, sqlite3_stmt **out, const char **rest,
                          scl_error *error) {
  const int code = d->sqlite.prepare_v2(d->connection, sql, -1, out, rest);
  if (code == SQLITE_OK) return SCL_STATUS_OK;
  if (strcmp(d->sqlite.errmsg(d->connection), "not authorized") != 0) return refuse(d, error);
  return d->host->fail(
      error, SCL_STATUS_BAD_OPTION,
      "%s: option 'query' takes one that reads alone, select ..., and this does more", d->path);
}

/* select * from "table", with quotes in the name doubled; the caller releases it. */
static char *select_all(const scl_host *host, const char *table) {
  static const char begin[] = "select * from \"";
  char *sql = host->allocate(sizeof begin + 2 * strlen(table) + 2), *to = sql;
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
  READ_TRY(prepare(d,
                   "select name from sqlite_master where type in ('table', 'view') and name not "
                   "like 'sqlite\\_%' escape '\\' order by name",
                   &tables, NULL, error));
  int code;
  while ((code = d->sqlite.step(tables)) == SQLITE_ROW) {
    const char *name = (const char *)d->sqlite.column_text(tables, 0);
    if (name == NULL) continue;
    if (count == 0) d->sql = select_all(d->host, name);
    if (used < sizeof list)
      used +=
          (size_t)snprintf(list + used, sizeof list - used, "%s%s", count == 0 ? "" : ", ", name);
    count++;
  }
  const scl_status status = code == SQLITE_DONE ? SCL_STATUS_OK : refuse(d, error);
  (void)d->sqlite.finalize(tables);
  if (status != SCL_STATUS_OK) return status;
  if (count == 1 && d->sql != NULL) return SCL_STATUS_OK;
  return d->host->fail(error, SCL_STATUS_BAD_OPTION,
                       count == 0
                           ? "%s has no table%s"
                           : "%s has several tables: option 'table' names one of %s, or option "
                             "'query' selects rows",
                       d->path, list);
}

/* Whether a text has nothing but blanks, semicolons and comments. */
static bool is_blank(database *d, const char *rest) {
  while (*rest != 0) {
    sqlite3_stmt *more = NULL;
    const int code = d->sqlite.prepare_v2(d->connection, rest, -1, &more, &rest);
    if (more != NULL) (void)d->sqlite.finalize(more);
    if (code != SQLITE_OK || more != NULL) return false;
  }
  return true;
}

/* Columns of SQLite have no type: each cell has its own. */
static scl_status allocate_block(database *d, scl_error *error) {
  const size_t all = d->columns * BLOCK_ROWS;
  d->names = scl_host_zeros(d->host, d->columns, sizeof *d->names);
  d->cells = scl_host_zeros(d->host, d->columns, sizeof *d->cells);
  d->missing = scl_host_zeros(d->host, all, 1);
  d->types = scl_host_zeros(d->host, all, 1);
  d->numbers = scl_host_zeros(d->host, all, sizeof *d->numbers);
  d->integers = scl_host_zeros(d->host, all, sizeof *d->integers);
  d->texts = scl_host_zeros(d->host, all, sizeof *d->texts);
  d->places = scl_host_zeros(d->host, all, sizeof *d->places);
  if (d->names == NULL || d->cells == NULL || d->missing == NULL || d->types == NULL ||
      d->numbers == NULL || d->integers == NULL || d->texts == NULL || d->places == NULL)
    return out_of_memory(d, error);
  for (size_t j = 0; j < d->columns; j++) {
    const char *name = d->sqlite.column_name(d->statement, (int)j);
    const size_t at = j * BLOCK_ROWS;
    d->names[j].type = SCL_CELL_ANY;
    d->names[j].name = name == NULL ? NULL : scl_host_copy_text(d->host, name, strlen(name));
    if (d->names[j].name == NULL) return out_of_memory(d, error);
    d->cells[j] = (scl_column_cells){.missing = d->missing + at,
                                     .types = d->types + at,
                                     .numbers = d->numbers + at,
                                     .integers = d->integers + at,
                                     .texts = d->texts + at};
  }
  return SCL_STATUS_OK;
}

/* One statement that gives rows. */
static scl_status prepare_rows(database *d, scl_error *error) {
  const char *rest = "";
  READ_TRY(prepare(d, d->sql, &d->statement, &rest, error));
  if (d->statement == NULL || !is_blank(d, rest))
    return d->host->fail(error, SCL_STATUS_BAD_OPTION,
                         "%s: option 'query' takes one statement of SQL", d->path);
  d->columns = (size_t)d->sqlite.column_count(d->statement);
  if (d->columns == 0 || !d->sqlite.stmt_readonly(d->statement))
    return d->host->fail(error, SCL_STATUS_BAD_OPTION, "%s: the query gives no rows", d->path);
  return allocate_block(d, error);
}

static void close_database(void *file) {
  database *d = file;
  if (d->statement != NULL) (void)d->sqlite.finalize(d->statement);
  if (d->connection != NULL) (void)d->sqlite.close_v2(d->connection);
  for (size_t j = 0; d->names != NULL && j < d->columns; j++)
    d->host->release((char *)d->names[j].name);
  void *const memory[] = {d->path,    d->sql,   d->names,    d->cells,  d->missing,     d->types,
                          d->numbers, d->texts, d->integers, d->places, d->bytes.memory};
  for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
    d->host->release(memory[i]);
  d->host->release(d);
}

/* The statement, by the options. */
static scl_status choose_rows(database *d, const sqlite_reader *self, scl_error *error) {
  const char *query = self->query->word, *table = self->table->word;
  if (query != NULL && table != NULL)
    return d->host->fail(error, SCL_STATUS_BAD_OPTION,
                         "options 'query' and 'table' were both given: a query names its tables");
  if (query == NULL && table == NULL) return find_table(d, error);
  d->sql = query != NULL ? scl_host_copy_text(d->host, query, strlen(query))
                         : select_all(d->host, table);
  return d->sql == NULL ? out_of_memory(d, error) : SCL_STATUS_OK;
}

static scl_status open_database(const void *instance, const scl_reader_file *file, void **opened,
                                scl_error *error) {
  const sqlite_reader *self = instance;
  const scl_host *host = self->base.host;
  database *d = scl_host_zeros(host, 1, sizeof *d);
  if (d == NULL) return host->fail(error, SCL_STATUS_NO_MEMORY, "out of memory");
  d->host = host;
  d->cancelled = file->cancelled;
  d->path = scl_host_copy_text(host, file->path, strlen(file->path));
  scl_status status = d->path == NULL ? out_of_memory(d, error) : connect(d, error);
  if (status == SCL_STATUS_OK) status = choose_rows(d, self, error);
  if (status == SCL_STATUS_OK) status = prepare_rows(d, error);
  if (status == SCL_STATUS_OK)
    *opened = d;
  else
    close_database(d);
  return status;
}

/* ------------ rows */

static scl_status schema_of(void *opened, scl_reader_schema *out, scl_error *error) {
  const database *d = opened;
  (void)error;
  out->columns = d->columns;
  out->column = d->names;
  return SCL_STATUS_OK;
}

/* A text is copied: SQLite keeps it until the next row. Its place is noted, as the bytes may
 * move. */
static scl_status take_text(database *d, size_t j, size_t at, scl_error *error) {
  const char *text = (const char *)d->sqlite.column_text(d->statement, (int)j);
  const size_t length = (size_t)d->sqlite.column_bytes(d->statement, (int)j);
  if (text == NULL) return out_of_memory(d, error);
  if (memchr(text, 0, length) != NULL)
    return d->host->fail(error, SCL_STATUS_BAD_DATA,
                         "%s: row %zu has a text with a zero byte in column '%s': leave the column "
                         "out of the query, or select hex(...) of it",
                         d->path, d->rows, d->names[j].name);
  READ_TRY(scl_room_grow(d->host, &d->bytes, d->used + length, error));
  if (length > 0) memcpy((char *)d->bytes.memory + d->used, text, length);
  d->places[at] = d->used;
  d->texts[at].length = length;
  d->used += length;
  return SCL_STATUS_OK;
}

/* Cell i of column j in the block; texts get their place later (read_block). */
static scl_status read_cell(database *d, size_t j, size_t i, scl_error *error) {
  const size_t at = j * BLOCK_ROWS + i;
  const int type = d->sqlite.column_type(d->statement, (int)j);
  d->missing[at] = type == SQLITE_NULL;
  d->types[at] = type == SQLITE_INTEGER ? SCL_CELL_INT64
                 : type == SQLITE_TEXT  ? SCL_CELL_TEXT
                                        : SCL_CELL_FLOAT64;
  d->places[at] = SIZE_MAX;
  if (type == SQLITE_INTEGER) d->integers[at] = d->sqlite.column_int64(d->statement, (int)j);
  if (type == SQLITE_FLOAT) d->numbers[at] = d->sqlite.column_double(d->statement, (int)j);
  if (type == SQLITE_TEXT) return take_text(d, j, at, error);
  if (type != SQLITE_BLOB) return SCL_STATUS_OK;
  return d->host->fail(error, SCL_STATUS_BAD_DATA,
                       "%s: row %zu has bytes (a BLOB) in column '%s', where a number or a text "
                       "belongs: leave the column out of the query",
                       d->path, d->rows, d->names[j].name);
}

static scl_status read_row(database *d, size_t i, scl_error *error) {
  const int code = d->sqlite.step(d->statement);
  d->ended = code == SQLITE_DONE;
  if (d->ended) return SCL_STATUS_OK;
  if (code == SQLITE_INTERRUPT) return d->host->fail(error, SCL_STATUS_CANCELLED, "interrupted!");
  if (code != SQLITE_ROW) return refuse(d, error);
  d->rows++;
  for (size_t j = 0; j < d->columns; j++)
    READ_TRY(read_cell(d, j, i, error));
  return SCL_STATUS_OK;
}

/* The places of texts become pointers once the bytes of the block do not move any more. */
static scl_status read_block(void *opened, scl_row_block *out, scl_error *error) {
  database *d = opened;
  size_t count = 0;
  d->used = 0;
  while (count < BLOCK_ROWS && !d->ended) {
    READ_TRY(read_row(d, count, error));
    count += !d->ended;
  }
  for (size_t at = 0; at < d->columns * BLOCK_ROWS; at++)
    if (at % BLOCK_ROWS < count && d->places[at] != SIZE_MAX)
      d->texts[at].bytes = (const char *)d->bytes.memory + d->places[at];
  out->rows = count;
  out->columns = d->cells;
  return SCL_STATUS_OK;
}

/* ------------ an example */

static scl_status write_example(const void *instance, const char *path, scl_error *error) {
  static const char sql[] =
      "create table t (a, b text, n integer); with recursive c(i) as (select 1 union all "
      "select i + 1 from c where i < 600) insert into t select iif(i % 300 = 2, null, "
      /* whole numbers and fractions in one column */
      "iif(i % 2 = 1, (i + 1) / 2, (i + 1) / 2.0)), "
      "iif(i % 300 = 3, null, 'x' || i), i + 9007199254740992 from c";
  const sqlite_reader *self = instance;
  database d = {.host = self->base.host};
  READ_TRY(scl_library_find(d.host, path, "a database of SQLite", "libsqlite3.so.0", "libsqlite3-0",
                            function_names, &d.sqlite, error));
  int code =
      d.sqlite.open_v2(path, &d.connection, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
  if (code == SQLITE_OK) code = d.sqlite.exec(d.connection, sql, NULL, NULL, NULL);
  (void)d.sqlite.close_v2(d.connection);
  return code == SQLITE_OK ? SCL_STATUS_OK
                           : d.host->fail(error, SCL_STATUS_IO, "%s cannot be written", path);
}

/* ------------ the plugin */

static const scl_option options[] = {
    {.name = "query",
     .help = "a statement of SQL that gives the rows: \"select a, b from t where a > 0\"",
     .forms = SCL_FORM_WORD,
     SCL_AT(sqlite_reader, query)},
    {.name = "table",
     .help = "the name of a table or view, all of whose rows are read",
     .forms = SCL_FORM_WORD,
     SCL_AT(sqlite_reader, table)}};

const scl_plugin scullery_plugin = {
    .name = "sqlite",
    .summary = "databases of SQLite: the rows of a query or a table, for reading alone",
    .definition =
        "name(j) = ({ \"a\", \"b\", \"n\" })[j]\n"
        "cell(i, j) = when(i > 600, nil, j < 3 and i % 300 == j + 1, false, j == 1, (i + 1)/2, "
        "j == 2, \"x\"..i, i + 9007199254740992)",
    .doc =
        "sc.data.read(\"t.sqlite\", { select = { \"a\", \"b\" } }) reads such a file.\n"
        "The rows that a query gives (option query), those of a table or view (option table), or\n"
        "those of the only table. The database is opened for reading alone, and a query that does\n"
        "more than read is refused. NULL is a missing value. It needs libsqlite3, which is opened\n"
        "when the first database is read.",
    SCL_READER(.format = "a database of SQLite", .recognises = recognises, .open = open_database,
               .schema = schema_of, .rows = read_block, .close = close_database,
               .example = write_example),
    SCL_INSTANCE(sqlite_reader, options)};
