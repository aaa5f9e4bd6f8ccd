/* Lines of files, cut into chunks: a buffer at a time, which begins with a whole line, or all of
 * the files' texts. */
#include "data/csv/internal.h"
#include "data/files/input.h"
#include "data/shares.h"
#include "processes/processes.h"

enum {
  BUFFER_BYTES = CSV_BLOCK_BYTES + CSV_CHUNK_BYTES, /* a block, and the end of its last line */
  MOST_CHUNKS = CSV_BLOCK_BYTES / CSV_CHUNK_BYTES,
  FIRST_LINES = 64
};

/* ------------ a buffer at a time */

static scl_status open_file(csv_lines *l, scl_error *error) {
  l->room = BUFFER_BYTES;
  l->used = l->taken = l->begin = l->rows = 0;
  l->line = 1;
  l->ended = l->done = false;
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

static size_t place_of(const csv_lines *l, const char *at) {
  return l->begin + (size_t)(at - l->buffer);
}

/* Cuts the lines of a block from `at` on into chunks, and counts the rows of each. False, and nothing
 * is done: the last one does not end in the buffer. */
static bool cut(csv_lines *l, const char *at) {
  const char *end = l->buffer + l->used, *blank;
  const size_t block_end = (place_of(l, at) / CSV_BLOCK_BYTES + 1) * CSV_BLOCK_BYTES,
               stop = scl_min(block_end, l->stop);
  size_t rows = l->rows, line = l->line + csv_count_lines(l->buffer, at);
  l->count = 0;
  while (at < end && place_of(l, at) < stop) {
    const size_t next = (place_of(l, at) / CSV_CHUNK_BYTES + 1) * CSV_CHUNK_BYTES,
                 chunk_end = scl_min(next, stop);
    csv_chunk chunk = {.text = at, .first_row = rows, .first_line = line};
    while (at < end && place_of(l, at) < chunk_end) {
      const char *line_end = csv_line_end(at, end, l->separator);
      if (line_end == end && !l->ended) return false; /* perhaps cut off */
      chunk.rows += !csv_blank_line(at, end, l->separator, &blank);
      at = line_end;
    }
    chunk.end = at;
    rows += chunk.rows;
    line += csv_count_lines(chunk.text, at);
    l->chunks[l->count++] = chunk;
  }
  l->rows = rows;
  l->line = line;
  l->taken = (size_t)(at - l->buffer);
  l->done = (l->ended && at == end) || place_of(l, at) >= l->stop;
  return true;
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
  l->returns = csv_has_returns(l->buffer, known);
  SCL_TRY(csv_settle_lines(schema, l->buffer, known, l->returns, error));
  l->separator = schema->separator;
  SCL_TRY(look(l, error));
  return csv_schema_open(schema, l->buffer, l->buffer + l->used, &body, error);
}

/* Cuts the next block. A line that is longer than the buffer enlarges it. */
static scl_status cut_block(csv_lines *l, const csv_schema *schema, bool first, scl_error *error) {
  for (;;) {
    const char *body = l->buffer;
    if (first) SCL_TRY(csv_schema_skip_header(schema, 0, body, body + l->used, &body, error));
    if (cut(l, body)) return SCL_STATUS_OK;
    l->taken = 0;
    SCL_TRY(enlarge_buffer(l, error));
    SCL_TRY(fill_buffer(l, error));
  }
}

static scl_status next_lines(csv_lines *l, const csv_schema *schema, scl_error *error) {
  SCL_TRY(fill_buffer(l, error));
  return cut_block(l, schema, false, error);
}

/* ------------ all at once */

static scl_status add_chunk(csv_lines *l, csv_chunk chunk, scl_error *error) {
  csv_chunk *chunks = scl_grow(l->chunks, l->count, &l->chunk_room, sizeof *chunks);
  if (chunks == NULL) return scl_fail_memory(error, 2 * l->chunk_room * sizeof *chunks, "chunks");
  l->chunks = chunks;
  l->chunks[l->count++] = chunk;
  return SCL_STATUS_OK;
}

/* Cuts a whole text into chunks of about CSV_CHUNK_BYTES. Their rows are not counted here: csv_scan
 * does it on many threads. */
static scl_status cut_text(csv_lines *l, const char *at, const char *end, size_t file,
                           scl_error *error) {
  const scl_text *text = &l->texts[file];
  while (at < end) {
    const char *stop = at;
    if (!text->quotes) /* any line break ends a line */
      stop =
          end - at > CSV_CHUNK_BYTES ? csv_line_end(at + CSV_CHUNK_BYTES, end, l->separator) : end;
    while (stop < end && stop - at < CSV_CHUNK_BYTES)
      stop = csv_line_end(stop, end, l->separator);
    const csv_chunk chunk = {.text = at,
                             .end = stop,
                             .file = file,
                             .beginning = text->bytes,
                             .piece = l->apart ? l->pieces : l->count};
    SCL_TRY(add_chunk(l, chunk, error));
    at = stop;
  }
  return SCL_STATUS_OK;
}

/* The text of a file; *body: where its rows begin. The first file opens the schema, unless that is
 * open. */
static scl_status load_text(csv_lines *l, size_t file, csv_schema *schema, const char **body,
                            scl_error *error) {
  scl_text *text = &l->texts[file];
  text->packed = l->files == 1;
  SCL_TRY(scl_input_text(l->paths[file], l->unpacked,
                         l->files == 1 ? "; stream = true reads it in blocks" : "", text, error));
  char *first = text->bytes;
  const char *end = first + text->length;
  if (file == 0 && !l->apart) {
    schema->packed = text->packed;
    SCL_TRY(csv_settle_lines(schema, first, end, text->returns, error));
    l->separator = schema->separator;
    return csv_schema_open(schema, first, end, body, error);
  }
  first += csv_skip_mark(first, end) - first;
  if (text->returns) csv_end_lines(first, end, l->separator);
  return csv_schema_skip_header(schema, file, first, end, body, error);
}

/* ------------ the share of a process, of whole files */

/* Whether the first lines end within the text for a separator. copy: room for the text and a 0 where
 * lines may end in carriage returns, else NULL. */
static bool first_lines_end(const char *text, size_t used, char separator, char *copy) {
  if (copy != NULL) {
    memcpy(copy, text, used + 1);
    csv_end_lines(copy + (csv_skip_mark(text, text + used) - text), copy + used, separator);
    text = copy;
  }
  const char *end = text + used, *at = csv_first_line(text, end);
  for (size_t lines = 0; lines < FIRST_LINES; lines++)
    if ((at = csv_line_end(at, end, separator)) >= end) return false;
  return true;
}

/* For any separator that the reader may choose. */
static scl_status all_first_lines_end(const csv_lines *l, const csv_schema *schema,
                                      const char *text, size_t used, bool *found,
                                      scl_error *error) {
  const scl_csv_options *o = schema->options;
  const char usual = o->like == NULL ? 0 : o->like->separator;
  const char candidates[] = {o->separator != 0 ? o->separator : ',', ';', '\t', usual};
  char *copy = l->returns ? scl_allocate(used + 1) : NULL;
  if (l->returns && copy == NULL) return scl_fail_memory(error, used, "the first lines");
  *found = true;
  for (size_t k = 0; k < (o->separator != 0 ? 1 : sizeof candidates); k++)
    if (candidates[k] != 0) *found = *found && first_lines_end(text, used, candidates[k], copy);
  scl_release(copy);
  return SCL_STATUS_OK;
}

/* Reads the first lines of the first file, which every process looks at. *other: they need a look at the
 * whole text. */
static scl_status read_first_lines(csv_lines *l, const csv_schema *schema, char **text,
                                   size_t *used, bool *other, scl_error *error) {
  scl_input *input;
  size_t room = CSV_CHUNK_BYTES, got = 0;
  bool end = false;
  SCL_TRY(scl_input_open(l->paths[0], &input, error));
  scl_status status = SCL_STATUS_OK;
  do {
    char *more = scl_allocate(2 * room + 1);
    if (more == NULL) status = scl_fail_memory(error, 2 * room, "the first lines");
    if (more != NULL && *used > 0) memcpy(more, *text, *used);
    scl_release(*text);
    *text = more;
    room *= 2;
    if (status == SCL_STATUS_OK)
      status = scl_input_read(input, more + *used, room - *used, &got, error);
    *used += got;
    if (status != SCL_STATUS_OK) break;
    more[*used] = 0;
    l->returns = csv_has_returns(more, more + *used - (*used > 0));
    status = all_first_lines_end(l, schema, more, *used, &end, error);
  } while (status == SCL_STATUS_OK && *used == room && room < CSV_LONGEST_LINE && !end);
  scl_input_close(input);
  if (status == SCL_STATUS_OK) *other = room >= CSV_LONGEST_LINE || memchr(*text, 0, *used) != NULL;
  return status;
}

/* The chunks of a piece of a file, which this process has from byte `from` on. */
static scl_status load_piece(csv_lines *l, csv_schema *schema, size_t file, size_t from, size_t to,
                             scl_error *error) {
  scl_text *text = &l->texts[file];
  const size_t size = l->sizes[file];
  const char *body;
  scl_input *input;
  bool zero = false;
  if (from == to && from > 0) return SCL_STATUS_OK;
  if (from == 0 && to == size) {
    scl_release(text->bytes);
    SCL_TRY(load_text(l, file, schema, &body, error));
    return cut_text(l, body, text->bytes + text->length, file, error);
  }
  if (text->length < to) {
    SCL_TRY(scl_input_open(l->paths[file], &input, error));
    const scl_status status = scl_input_text_part(input, text->length - 1, to, text, &zero, error);
    scl_input_close(input);
    SCL_TRY(status);
  }
  if (zero) return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: its text", l->paths[file]);
  text->bytes[to] = 0;
  body = text->bytes + from;
  if (l->returns) {
    const size_t mark = from == 0 ? (size_t)(csv_skip_mark(body, text->bytes + to) - body) : 0;
    csv_end_lines(text->bytes + from + mark, text->bytes + to, l->separator);
  }
  if (from == 0)
    SCL_TRY(csv_schema_skip_header(schema, file, body, text->bytes + to, &body, error));
  return cut_text(l, body, text->bytes + to, file, error);
}

/* The chunks of the share of each process. */
static scl_status load_pieces(csv_lines *l, csv_schema *schema, scl_error *error) {
  const size_t rank = scl_processes_rank();
  for (size_t r = 0; r < scl_processes_count(); r++) {
    const csv_cut from = l->cuts[r], to = l->cuts[r + 1];
    if (r == rank) l->first = l->count;
    for (size_t k = from.file; k < to.file + (to.at > 0); k++, l->pieces++) {
      const size_t begin = k == from.file ? from.at : 0, end = k == to.file ? to.at : l->sizes[k];
      if (r == rank)
        SCL_TRY(load_piece(l, schema, k, begin, end, error));
      else
        SCL_TRY(add_chunk(l, (csv_chunk){.file = k, .piece = l->pieces}, error));
    }
    if (r == rank) l->end = l->count;
  }
  return SCL_STATUS_OK;
}

/* Opens the schema, and loads the share of this process. l->apart stays false where each process is to
 * read all. */
static scl_status load_share(csv_lines *l, csv_schema *schema, scl_error *error) {
  char *text = NULL;
  size_t used = 0;
  bool other = false, again;
  const char *body;
  scl_status status = read_first_lines(l, schema, &text, &used, &other, error);
  int64_t most[] = {0, other};
  status = scl_shares_end(status, most, 2, &again, error);
  if (status != SCL_STATUS_OK || again || most[1] != 0) {
    scl_release(text);
    return status;
  }
  status = csv_settle_lines(schema, text, text + used, l->returns, error);
  l->separator = schema->separator;
  if (status == SCL_STATUS_OK) status = csv_schema_open(schema, text, text + used, &body, error);
  scl_release(text);
  SCL_TRY(status);
  SCL_TRY(csv_cut_shares(l, &l->apart, error));
  if (l->apart) {
    status = load_pieces(l, schema, error);
    SCL_TRY(scl_shares_end(status, most, 1, &again, error));
    return again ? SCL_STATUS_BAD_DATA : SCL_STATUS_OK; /* the files are read once more */
  }
  csv_schema_close(schema);
  for (size_t k = 0; k < l->files; k++) {
    scl_release(l->texts[k].bytes);
    l->texts[k] = (scl_text){0};
  }
  return SCL_STATUS_OK;
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
  if (!l->apart) l->pieces = l->count;
  l->done = true;
  return SCL_STATUS_OK;
}

/* ------------ either */

scl_status csv_lines_open(csv_lines *l, const char *const *paths, size_t files, csv_schema *schema,
                          scl_error *error) {
  l->paths = paths;
  l->files = files;
  if (l->whole) return load_texts(l, schema, error);
  l->stop = SIZE_MAX;
  l->chunks = scl_allocate_array(MOST_CHUNKS, sizeof *l->chunks);
  if (l->chunks == NULL) return scl_fail_memory(error, MOST_CHUNKS * sizeof *l->chunks, "chunks");
  SCL_TRY(open_by_buffer(l, schema, error));
  if (!l->divided) return SCL_STATUS_OK;
  SCL_TRY(csv_cut_shares(l, &l->apart, error));
  if (!l->apart) return SCL_STATUS_OK;
  const csv_cut *own = &l->cuts[scl_processes_rank()];
  l->from = own[0].file > 0 ? SIZE_MAX : own[0].at;
  l->stop = own[1].file > 0 ? SIZE_MAX : own[1].at;
  return SCL_STATUS_OK;
}

void csv_lines_all(csv_lines *l) {
  l->divided = l->apart = false;
  l->from = 0;
  l->stop = SIZE_MAX;
}

/* Which of the chunks are this process's. */
static void deal(csv_lines *l) {
  const size_t count = scl_processes_count(), rank = scl_processes_rank(), block = l->blocks++;
  if (l->whole && l->apart) return;
  l->first = 0;
  l->end = l->count;
  if (!l->divided || l->apart) return;
  if (l->whole)
    scl_processes_part(rank, l->count, &l->first, &l->end);
  else if (block % count != rank)
    l->end = 0;
}

/* The first block of a share. */
static scl_status begin_share(csv_lines *l, const csv_schema *schema, scl_error *error) {
  const scl_mark begin = {.offset = l->from, .row = l->rows_before, .line = 1 + l->lines_before};
  close_file(l);
  l->count = 0;
  l->done = l->from >= l->stop;
  if (l->done) return SCL_STATUS_OK;
  SCL_TRY(csv_lines_go(l, &begin, error));
  return next_lines(l, schema, error);
}

static scl_status next_chunks(csv_lines *l, const csv_schema *schema, scl_error *error) {
  const bool first = !l->begun;
  l->begun = true;
  if (l->whole) return SCL_STATUS_OK;
  if (!first) return next_lines(l, schema, error);
  if (l->from > 0) return begin_share(l, schema, error);
  if (l->input == NULL) {
    SCL_TRY(open_file(l, error));
    SCL_TRY(look(l, error));
  }
  return cut_block(l, schema, true, error);
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
  SCL_RELEASE(l->texts, l->chunks, l->cuts, l->sizes);
  *l = (csv_lines){0};
}

size_t csv_lines_rows(const csv_lines *l) {
  size_t rows = 0;
  for (size_t k = 0; k < l->count; k++)
    rows += l->chunks[k].rows;
  return rows;
}
