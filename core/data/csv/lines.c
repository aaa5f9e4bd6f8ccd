/* Lines of files, cut into chunks: a buffer at a time, which begins with a whole line, or all of
 * the files' texts. */
#include "data/csv/internal.h"
#include "data/files/input.h"
#include "data/shares.h"
#include "processes/processes.h"

enum {
  BUFFER_BYTES = SCL_BUFFER(1 << 21),
  CHUNK_BYTES = SCL_BUFFER(1 << 18),
  FIRST_LINES = 64,
  FIRST_BYTES = SCL_BUFFER(1 << 18) /* that hold them, where each process reads its share */
};

/* ------------ a buffer at a time */

static scl_status open_file(csv_lines *l, scl_error *error) {
  l->room = BUFFER_BYTES;
  l->used = l->taken = l->begin = l->rows = 0;
  l->line = 1;
  l->ended = false;
  l->buffer = scl_allocate(BUFFER_BYTES + 1);
  if (l->buffer == NULL) return scl_fail_memory(error, BUFFER_BYTES, "a file");
  SCL_TRY(scl_input_open(l->paths[0], &l->input, error));
  l->packed = scl_input_pack(l->input);
  return SCL_STATUS_OK;
}

static void close_file(csv_lines *l) {
  scl_input_close(l->input);
  scl_release(l->buffer);
  l->input = NULL;
  l->buffer = NULL;
}

/* Ends the lines of the bytes from place `from` on, which are new, where they end in carriage
 * returns. Before the separator is known it does nothing. A carriage return at the end of the
 * buffer waits for the byte after it. */
static void end_lines(csv_lines *l, size_t from) {
  const char *end = l->buffer + l->used - (!l->ended && l->used > 0);
  if (l->separator == 0 || !csv_has_returns(l->buffer + from, end)) return;
  const char *text = l->line == 1 ? csv_skip_mark(l->buffer, end) : l->buffer;
  csv_end_lines(l->buffer + (text - l->buffer), end, l->separator);
}

/* Moves the bytes that no chunk covered to the front and reads on, until the buffer is full or the
 * file ends. The buffer is always followed by a 0 byte. */
static scl_status fill_buffer(csv_lines *l, scl_error *error) {
  size_t got = 0;
  memmove(l->buffer, l->buffer + l->taken, l->used - l->taken);
  l->used -= l->taken;
  l->begin += l->taken;
  l->taken = 0;
  SCL_TRY(scl_input_read(l->input, l->buffer + l->used, l->room - l->used, &got, error));
  const char *zero = memchr(l->buffer + l->used, 0, got);
  if (zero != NULL) return scl_input_refuse_zero(l->paths[0], l->buffer, zero, l->line, error);
  const size_t from = l->used - (l->used > 0);
  l->used += got;
  l->ended = l->used < l->room;
  l->buffer[l->used] = 0;
  end_lines(l, from);
  return SCL_STATUS_OK;
}

/* Doubles the buffer for a line that does not fit, up to CSV_LONGEST_LINE. */
static scl_status enlarge_buffer(csv_lines *l, scl_error *error) {
  if (l->room >= CSV_LONGEST_LINE)
    return scl_fail(error, SCL_STATUS_BAD_DATA,
                    "%s: line %zu is longer than %zu bytes; is a quote left open?", l->paths[0],
                    l->line, l->room);
  char *more = scl_allocate(2 * l->room + 1);
  if (more == NULL) return scl_fail_memory(error, 2 * l->room, "a long line");
  memcpy(more, l->buffer, l->used);
  scl_release(l->buffer);
  l->buffer = more;
  l->room *= 2;
  return SCL_STATUS_OK;
}

/* Cuts the whole lines from `at` on into chunks, and counts the rows of each. */
static void cut(csv_lines *l, const char *at) {
  const char *end = l->buffer + l->used, *blank;
  /* All chunks but the last have `least` bytes or more, and the last has one. So k of them mean
   * (k - 1) least < used <= (CSV_MOST_CHUNKS - 1) least, as the quotient is rounded up: k is below
   * CSV_MOST_CHUNKS, whatever the sizes of the buffer and of the lines. */
  const size_t share = (l->used + CSV_MOST_CHUNKS - 2) / (CSV_MOST_CHUNKS - 1);
  const ptrdiff_t least = (ptrdiff_t)scl_max(CHUNK_BYTES, share);
  l->count = 0;
  l->line += csv_count_lines(l->buffer, at);
  while (at < end) {
    csv_chunk chunk = {.text = at, .first_row = l->rows, .first_line = l->line};
    while (at < end && at - chunk.text < least) {
      const char *stop = csv_line_end(at, end, l->separator);
      if (stop == end && !l->ended) break; /* perhaps cut off: it comes again with what follows */
      chunk.rows += !csv_blank_line(at, end, l->separator, &blank);
      at = stop;
    }
    if (at == chunk.text) break;
    chunk.end = at;
    l->rows += chunk.rows;
    l->line += csv_count_lines(chunk.text, at);
    l->chunks[l->count++] = chunk;
  }
  l->taken = (size_t)(at - l->buffer);
}

/* Whether the buffer has the `wanted` first lines, or all that there are. The first line must be
 * whole, with line breaks inside quotes; that can only be checked once the separator is known. */
static bool have_first_lines(const csv_lines *l, size_t wanted) {
  const char *end = l->buffer + l->used, *at = csv_first_line(l->buffer, end);
  if (l->ended) return true;
  if (l->separator != 0 && csv_line_end(at, end, l->separator) == end) return false;
  for (; at < end && wanted > 0; at++)
    wanted -= *at == '\n' || (*at == '\r' && at[1] != '\n');
  return wanted == 0;
}

/* Fills the buffer with as many lines as the schema looks at, however long they are. */
static scl_status look(csv_lines *l, scl_error *error) {
  SCL_TRY(fill_buffer(l, error));
  while (!have_first_lines(l, FIRST_LINES) && l->room < CSV_LONGEST_LINE) {
    SCL_TRY(enlarge_buffer(l, error));
    SCL_TRY(fill_buffer(l, error));
  }
  if (have_first_lines(l, 1)) return SCL_STATUS_OK;
  return scl_fail(
      error, SCL_STATUS_BAD_DATA,
      "%s: its first line does not end within the first %d bytes; is a quote left open?",
      l->paths[0], CSV_LONGEST_LINE);
}

/* The first look only counts line breaks; the separator is then found, and the second look makes
 * sure that the header is whole. */
static scl_status open_by_buffer(csv_lines *l, csv_schema *schema, scl_error *error) {
  const char *body;
  SCL_TRY(open_file(l, error));
  schema->packed = l->packed;
  SCL_TRY(look(l, error));
  const char *known = l->buffer + l->used - (!l->ended && l->used > 0);
  SCL_TRY(csv_settle_lines(schema, l->buffer, known, csv_has_returns(l->buffer, known), error));
  l->separator = schema->separator;
  SCL_TRY(look(l, error));
  return csv_schema_open(schema, l->buffer, l->buffer + l->used, &body, error);
}

/* The first chunks, past the header. */
static scl_status first_lines(csv_lines *l, const csv_schema *schema, scl_error *error) {
  const char *body;
  SCL_TRY(csv_schema_skip_header(schema, 0, l->buffer, l->buffer + l->used, &body, error));
  for (cut(l, body); l->count == 0 && !l->ended; cut(l, body)) {
    l->taken = 0; /* the header or the first row is longer than the buffer */
    l->line = 1;
    SCL_TRY(enlarge_buffer(l, error));
    SCL_TRY(fill_buffer(l, error));
    SCL_TRY(csv_schema_skip_header(schema, 0, l->buffer, l->buffer + l->used, &body, error));
  }
  return SCL_STATUS_OK;
}

static scl_status next_lines(csv_lines *l, scl_error *error) {
  SCL_TRY(fill_buffer(l, error));
  for (cut(l, l->buffer); l->count == 0 && !l->ended; cut(l, l->buffer)) {
    SCL_TRY(enlarge_buffer(l, error));
    SCL_TRY(fill_buffer(l, error));
  }
  return SCL_STATUS_OK;
}

/* ------------ all at once */

static scl_status add_chunk(csv_lines *l, csv_chunk chunk, scl_error *error) {
  csv_chunk *chunks = scl_grow(l->chunks, l->count, &l->chunk_room, sizeof *chunks);
  if (chunks == NULL) return scl_fail_memory(error, 2 * l->chunk_room * sizeof *chunks, "chunks");
  l->chunks = chunks;
  l->chunks[l->count++] = chunk;
  return SCL_STATUS_OK;
}

/* Cuts a whole text into chunks of about CHUNK_BYTES. Their rows are not counted here: csv_scan
 * does it on many threads. */
static scl_status cut_text(csv_lines *l, const char *at, const char *end, size_t file,
                           scl_error *error) {
  const scl_text *text = &l->texts[file];
  while (at < end) {
    const char *stop = at;
    if (!text->quotes) /* any line break ends a line */
      stop = end - at > CHUNK_BYTES ? csv_line_end(at + CHUNK_BYTES, end, l->separator) : end;
    while (stop < end && stop - at < CHUNK_BYTES)
      stop = csv_line_end(stop, end, l->separator);
    const csv_chunk chunk = {.text = at, .end = stop, .file = file, .beginning = text->bytes};
    SCL_TRY(add_chunk(l, chunk, error));
    at = stop;
  }
  return SCL_STATUS_OK;
}

/* The text of a file; *body: where its rows begin. The first file opens the schema. */
static scl_status load_text(csv_lines *l, size_t file, csv_schema *schema, const char **body,
                            scl_error *error) {
  scl_text *text = &l->texts[file];
  text->packed = l->files == 1;
  SCL_TRY(scl_input_text(l->paths[file], l->unpacked,
                         l->files == 1 ? "; stream = true reads it in blocks" : "", text, error));
  char *first = text->bytes;
  const char *end = first + text->length;
  if (file == 0) {
    schema->packed = text->packed;
    SCL_TRY(csv_settle_lines(schema, first, end, text->returns, error));
    l->separator = schema->separator;
    return csv_schema_open(schema, first, end, body, error);
  }
  first += csv_skip_mark(first, end) - first;
  if (text->returns) csv_end_lines(first, end, l->separator);
  return csv_schema_skip_header(schema, file, first, end, body, error);
}

/* Reads the first lines of a plain file of `size` bytes, which every process looks at, and the lines
 * that begin in its share: *from .. *to. *other: they need a look at the whole text. */
static scl_status read_share(scl_input *input, size_t size, scl_text *text, size_t *from,
                             size_t *to, bool *other, scl_error *error) {
  size_t stop;
  const char *line;
  scl_processes_part(scl_processes_rank(), size, from, &stop);
  SCL_TRY(scl_input_text_part(input, 0, FIRST_BYTES, text, other, error));
  line = csv_first_line(text->bytes, text->bytes + FIRST_BYTES);
  *other = *other || csv_count_lines(line, text->bytes + FIRST_BYTES) < FIRST_LINES;
  *other = *other || text->quotes;
  if (*other) return SCL_STATUS_OK;
  const size_t begin = *from > 0 ? *from - 1 : 0;
  SCL_TRY(scl_input_text_part(input, begin, stop, text, other, error));
  for (*to = stop; *to < size && text->bytes[*to - 1] != '\n';) {
    const size_t more = scl_min(size - *to, (size_t)CHUNK_BYTES);
    SCL_TRY(scl_input_text_part(input, *to, *to + more, text, other, error));
    line = memchr(text->bytes + *to, '\n', more);
    *to = line == NULL ? *to + more : (size_t)(line + 1 - text->bytes);
  }
  line = *from == 0 ? NULL : memchr(text->bytes + begin, '\n', *to - begin);
  *from = *from == 0 ? 0 : line == NULL ? *to : (size_t)(line + 1 - text->bytes);
  text->bytes[size] = 0;
  *other = *other || text->quotes || text->returns;
  return SCL_STATUS_OK;
}

/* The chunks of a share, and one for each other process. */
static scl_status cut_share(csv_lines *l, const char *at, const char *end, scl_error *error) {
  for (size_t r = 0; r < scl_processes_count(); r++)
    if (r != scl_processes_rank())
      SCL_TRY(add_chunk(l, (csv_chunk){.beginning = l->texts[0].bytes}, error));
    else
      SCL_TRY(cut_text(l, at, end, 0, error));
  l->apart = l->ended = true;
  return SCL_STATUS_OK;
}

/* A large file without quotes, of which each process reads its share. Otherwise l->apart stays false:
 * all are to read all of it. */
static scl_status load_share(csv_lines *l, csv_schema *schema, scl_error *error) {
  const size_t size = scl_shares_bytes(l->paths[0], false);
  scl_text *text = &l->texts[0];
  scl_input *input = NULL;
  int64_t most[] = {0, 0, (int64_t)size, -(int64_t)size};
  bool again = false, other = false;
  const char *body;
  size_t from = 0, to = 0;
  if (l->files > 1 || size / scl_processes_count() < FIRST_BYTES) return SCL_STATUS_OK;
  text->bytes = scl_allocate(size + 1);
  text->length = size;
  scl_status status = text->bytes == NULL ? scl_fail_memory(error, size, "a text")
                                          : scl_input_open(l->paths[0], &input, error);
  if (status == SCL_STATUS_OK) status = read_share(input, size, text, &from, &to, &other, error);
  scl_input_close(input);
  most[1] = other;
  SCL_TRY(scl_shares_end(status, most, 4, &again, error));
  if (again || most[1] != 0 || most[2] != -most[3]) { /* or it has grown in between */
    scl_release(text->bytes);
    *text = (scl_text){0};
    return SCL_STATUS_OK;
  }
  const char *first = text->bytes, *end = first + FIRST_BYTES;
  SCL_TRY(csv_settle_lines(schema, text->bytes, end, false, error));
  l->separator = schema->separator;
  SCL_TRY(csv_schema_open(schema, first, end, &body, error));
  return cut_share(l, from == 0 ? body : first + from, first + to, error);
}

static scl_status load_texts(csv_lines *l, csv_schema *schema, scl_error *error) {
  l->texts = scl_allocate_zero((l->files + 1) * sizeof *l->texts);
  if (l->texts == NULL) return scl_fail_memory(error, l->files * sizeof *l->texts, "files");
  if (l->divided) SCL_TRY(load_share(l, schema, error));
  for (size_t k = 0; !l->apart && k < l->files; k++) {
    const char *body;
    SCL_TRY(load_text(l, k, schema, &body, error));
    SCL_TRY(cut_text(l, body, l->texts[k].bytes + l->texts[k].length, k, error));
  }
  l->ended = true;
  return SCL_STATUS_OK;
}

/* ------------ either */

scl_status csv_lines_open(csv_lines *l, const char *const *paths, size_t files, csv_schema *schema,
                          scl_error *error) {
  l->paths = paths;
  l->files = files;
  if (l->whole) return load_texts(l, schema, error);
  l->chunks = scl_allocate_array(CSV_MOST_CHUNKS, sizeof *l->chunks);
  if (l->chunks == NULL)
    return scl_fail_memory(error, CSV_MOST_CHUNKS * sizeof *l->chunks, "chunks");
  return open_by_buffer(l, schema, error);
}

/* Which of the chunks are this process's. */
static void deal(csv_lines *l) {
  const size_t count = scl_processes_count(), rank = scl_processes_rank(), block = l->blocks++;
  l->first = 0;
  l->end = l->count;
  if (!l->divided) return;
  if (l->apart) {
    l->first = rank;
    l->end = l->count - (count - 1 - rank);
    return;
  }
  if (!l->whole && block % count == 0)
    l->split = scl_input_most(l->input) < l->begin + count * l->room;
  if (l->whole || l->split)
    scl_processes_part((rank + block) % count, l->count, &l->first, &l->end);
  else if (block % count != rank)
    l->end = 0;
}

static scl_status next_chunks(csv_lines *l, const csv_schema *schema, scl_error *error) {
  const bool first = !l->begun;
  l->begun = true;
  if (l->whole) return SCL_STATUS_OK;
  if (!first) return next_lines(l, error);
  if (l->input == NULL) {
    SCL_TRY(open_file(l, error));
    SCL_TRY(look(l, error));
  }
  return first_lines(l, schema, error);
}

scl_status csv_lines_next(csv_lines *l, const csv_schema *schema, scl_error *error) {
  SCL_TRY(next_chunks(l, schema, error));
  deal(l);
  return SCL_STATUS_OK;
}

csv_lines csv_lines_own(const csv_lines *l) {
  csv_lines own = *l;
  own.count = l->end - l->first;
  if (own.count > 0) own.chunks += l->first;
  return own;
}

void csv_lines_rewind(csv_lines *l) {
  l->begun = false;
  l->blocks = 0;
  if (!l->whole) close_file(l);
}

scl_mark csv_lines_mark(const csv_lines *l, size_t rows) {
  return (scl_mark){rows, 0, l->begin + l->taken, l->rows, l->line};
}

scl_status csv_lines_go(csv_lines *l, const scl_mark *mark, scl_error *error) {
  SCL_TRY(open_file(l, error));
  l->begun = true;
  l->begin = mark->offset;
  l->rows = mark->row;
  l->line = mark->line;
  return scl_input_seek(l->input, mark->offset, mark->row, error);
}

void csv_lines_close(csv_lines *l) {
  for (size_t k = 0; l->texts != NULL && k < l->files; k++)
    scl_release(l->texts[k].bytes);
  close_file(l);
  SCL_RELEASE(l->texts, l->chunks);
  *l = (csv_lines){0};
}

size_t csv_lines_rows(const csv_lines *l) {
  size_t rows = 0;
  for (size_t k = 0; k < l->count; k++)
    rows += l->chunks[k].rows;
  return rows;
}
