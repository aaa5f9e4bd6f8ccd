/* CSV files of which each of several processes reads its share. A share is cut at a multiple of
 * CSV_CHUNK_BYTES, and has the lines that begin in it. Whether a line break (a line feed, or a carriage
 * return alone) ends a line depends on the quotes before it. So each process follows the quotes of its
 * share for both cases: that its first break is outside of quotes, or inside. One exchange of the results
 * tells all of them where lines begin.
 *
 * A quote opens where a field begins, behind blanks, and is text anywhere else: the bytes before it tell.
 * Outside of quotes there is therefore no more to know. */
#include "base/interrupt.h"
#include "data/csv/internal.h"
#include "data/files/input.h"
#include "data/shares.h"
#include "processes/processes.h"

/* ------------ quotes */

enum { OUTSIDE = 0, INSIDE, CASES };

/* One case: whether the text is inside of quotes, behind a quote that may be the first of two, behind a
 * carriage return that a line feed may follow, and where the first line begins (0: not yet). */
typedef struct following {
  bool inside, at_quote, at_return;
  size_t first;
} following;

static bool is_break(char byte) { return byte == '\n' || byte == '\r'; }

/* The first line feed or carriage return; NULL: there is none. */
static const char *find_break(const char *at, const char *end) {
  const char *feed = memchr(at, '\n', (size_t)(end - at)),
             *back = memchr(at, '\r', (size_t)((feed == NULL ? end : feed) - at));
  return back == NULL ? feed : back;
}

/* Whether the text before `at`, which begins with `text`, ends in a line break or separator and then
 * blanks; before: whether that before `text` does. No line feed is at `at`. */
static bool begins_field(const char *text, const char *at, char separator, bool before) {
  while (at > text && at[-1] != separator && (at[-1] == ' ' || at[-1] == '\t'))
    at--;
  return at == text ? before : at[-1] == separator || is_break(at[-1]);
}

/* Look for the first line break outside of quotes. */
static void find_line(following *f, const char *at, const char *to, const char *text,
                      size_t place) {
  while (at < to && f->first == 0) {
    if (f->at_return) {
      f->at_return = false;
      if (*at != '\n') f->first = place + (size_t)(at - text);
    } else if ((at = find_break(at, to)) == NULL) {
      return;
    } else if (*at++ == '\n') {
      f->first = place + (size_t)(at - text);
    } else {
      f->at_return = true;
    }
  }
}

/* Follow the quotes of a piece of text, whose first byte is at `place`. */
static void follow(following *f, const char *text, const char *end, size_t place, char separator,
                   bool before) {
  const char *at = text;
  if (f->at_quote && at < end) {
    f->at_quote = false;
    if (*at == '"')
      at++;
    else
      f->inside = false;
  }
  while (at < end) {
    const char *quote = memchr(at, '"', (size_t)(end - at));
    if (!f->inside && f->first == 0) find_line(f, at, quote == NULL ? end : quote + 1, text, place);
    if (quote == NULL) return;
    at = quote + 1;
    if (!f->inside) {
      f->inside = begins_field(text, quote, separator, before);
    } else if (at == end) {
      f->at_quote = true;
    } else if (*at == '"') {
      at++;
    } else {
      f->inside = false;
    }
  }
}

/* ------------ the bytes of a share */

typedef struct cutting {
  csv_lines *l;
  size_t *sizes;  /* of the files; 0: gzip, which is not cut */
  csv_cut *cuts;  /* where shares begin by their bytes, and the end */
  int64_t *found; /* FOUND numbers of each process */
  bool other;     /* something of the text can only be understood from its beginning */
  bool returns;   /* a carriage return ends a line */
  char *piece;    /* of a stream */
} cutting;

/* The first line of a share and the state behind it, in both cases. */
enum { FIRST = 0, STATE = CASES, FOUND = 2 * CASES };

static bool has_text(const char *text, const char *end) { return csv_first_line(text, end) < end; }

/* The bytes `at` to `end` - 1 of a file; of a text in memory to their places. One byte before them is
 * read again, as a carriage return is looked at together with the byte behind it. */
static scl_status read_piece(cutting *c, scl_input *input, scl_text *text, size_t at, size_t end,
                             const char **piece, scl_error *error) {
  const size_t from = at - (at > 0);
  if (c->piece != NULL) text->begin = from;
  SCL_TRY(scl_input_text_part(input, from, end, text, &c->other, error));
  *piece = text->bytes + (at - text->begin);
  return scl_interrupt_check(error);
}

/* Follow both cases through the bytes of a file from the first line break at or behind byte `from` - 1
 * (0: its beginning) to the first one at or behind `stop` - 1 (its size: the end). */
static scl_status follow_bytes(cutting *c, scl_input *input, scl_text *text, size_t file,
                               size_t from, size_t stop, following *cases, scl_error *error) {
  const size_t size = c->sizes[file];
  bool begun = from == 0, ended = false, before = true;
  for (size_t at = from - (from > 0), end; at < size && !ended; at = end) {
    const char *bytes, *line = NULL;
    end = scl_min(size, at + CSV_CHUNK_BYTES);
    SCL_TRY(read_piece(c, input, text, at, end, &bytes, error));
    if (at == 0) c->other = c->other || !has_text(bytes, bytes + end);
    if (stop < size && end >= stop) {
      const size_t passed = scl_max(stop - 1, at) - at;
      line = find_break(bytes + passed, bytes + (end - at));
      ended = line != NULL;
    }
    const char *to = ended ? line + 1 : bytes + (end - at), *begin = bytes;
    if (!begun && (line = find_break(bytes, to)) != NULL) {
      begun = before = true;
      begin = line + 1;
      cases[OUTSIDE].at_return = *line == '\r';
      if (*line == '\n') cases[OUTSIDE].first = at + (size_t)(begin - bytes);
    } else if (at == 0) {
      begin = csv_skip_mark(bytes, to);
    }
    for (size_t k = 0; begun && k < CASES; k++)
      follow(&cases[k], begin, to, at + (size_t)(begin - bytes), c->l->separator, before);
    before = begun && begins_field(begin, to, c->l->separator, before);
    if (c->l->whole) text->length = at + (size_t)(to - bytes); /* so far */
  }
  return SCL_STATUS_OK;
}

static scl_status follow_part(cutting *c, size_t file, size_t from, size_t stop, following *cases,
                              scl_error *error) {
  scl_text piece = {.bytes = c->piece}, *text = c->piece != NULL ? &piece : &c->l->texts[file];
  scl_input *input = NULL;
  if (text->bytes == NULL) text->bytes = scl_allocate(c->sizes[file] + 1);
  if (text->bytes == NULL) return scl_fail_memory(error, c->sizes[file], "a text");
  scl_status status = scl_input_open(c->l->paths[file], &input, error);
  if (status == SCL_STATUS_OK)
    status = follow_bytes(c, input, text, file, from, stop, cases, error);
  scl_input_close(input);
  if (c->l->whole && stop == c->sizes[file]) text->bytes[stop] = 0;
  c->returns = c->returns || text->returns;
  return status;
}

/* What this process finds in its share: where its first line begins, if the share begins in a file, and
 * the state in which it ends, if it ends in one. */
static scl_status follow_share(cutting *c, scl_error *error) {
  const csv_cut from = c->cuts[scl_processes_rank()], to = c->cuts[scl_processes_rank() + 1];
  int64_t *found = c->found + FOUND * scl_processes_rank();
  following cases[CASES] = {[INSIDE] = {.inside = true}};
  const bool one_file = from.file == to.file;
  found[STATE + INSIDE] = INSIDE;
  if (one_file && from.at == to.at) return SCL_STATUS_OK;
  if (from.at > 0) {
    const size_t stop = one_file ? to.at : c->sizes[from.file];
    SCL_TRY(follow_part(c, from.file, from.at, stop, cases, error));
    for (size_t k = 0; k < CASES; k++) {
      found[FIRST + k] = cases[k].first < stop ? (int64_t)cases[k].first : 0;
      found[STATE + k] = cases[k].inside;
    }
  }
  if (to.at > 0 && (from.at == 0 || !one_file)) {
    cases[INSIDE] = cases[OUTSIDE] = (following){.first = 1};
    SCL_TRY(follow_part(c, to.file, 0, to.at, cases, error));
    found[STATE + OUTSIDE] = found[STATE + INSIDE] = cases[OUTSIDE].inside;
  }
  return SCL_STATUS_OK;
}

/* ------------ shares */

/* Units of CSV_CHUNK_BYTES; gzip, which is not cut, is taken to be a quarter of its text. */
static size_t units_of(const char *path, size_t *size) {
  const size_t packed = scl_shares_bytes(path, true);
  *size = scl_shares_bytes(path, false);
  return (*size > 0 ? *size : packed / 256) / CSV_CHUNK_BYTES + 1;
}

static void cut_by_bytes(cutting *c, const size_t *units, size_t all) {
  const csv_lines *l = c->l;
  for (size_t r = 0; r < scl_processes_count(); r++) {
    size_t first, end, file = 0;
    scl_processes_part(r, all, &first, &end);
    while (first >= units[file])
      first -= units[file++];
    if (first > 0 && c->sizes[file] == 0) {
      first = 0;
      file++;
    }
    /* The last unit of a file may be empty. */
    c->cuts[r] = (csv_cut){file, scl_min(first * CSV_CHUNK_BYTES, c->sizes[file])};
  }
  c->cuts[scl_processes_count()] = (csv_cut){l->files, 0};
}

/* The shares by their bytes become those of lines. */
static void cut_at_lines(cutting *c) {
  const size_t count = scl_processes_count();
  int64_t state = OUTSIDE;
  for (size_t r = 0; r < count; r++) {
    const int64_t *found = c->found + FOUND * r;
    if (c->cuts[r].at == 0) {
      state = OUTSIDE;
      c->l->cuts[r] = c->cuts[r];
    } else {
      c->l->cuts[r] = (csv_cut){c->cuts[r].file, (size_t)found[FIRST + state]};
    }
    state = found[STATE + state];
  }
  c->l->cuts[count] = c->cuts[count];
  for (size_t r = count; r-- > 0;)
    if (c->cuts[r].at > 0 && c->l->cuts[r].at == 0) /* no line begins in it */
      c->l->cuts[r] = c->cuts[r + 1].file == c->cuts[r].file ? c->l->cuts[r + 1]
                                                             : (csv_cut){c->cuts[r].file + 1, 0};
}

static scl_status open_cutting(cutting *c, size_t **units, scl_error *error) {
  const size_t files = c->l->files, p = scl_processes_count();
  c->sizes = scl_allocate_zero((files + 1) * sizeof *c->sizes);
  *units = scl_allocate_array(files + 1, sizeof **units);
  c->cuts = scl_allocate_array(p + 1, sizeof *c->cuts);
  c->l->cuts = scl_allocate_array(p + 1, sizeof *c->cuts);
  c->found = scl_allocate_zero(FOUND * p * sizeof *c->found);
  if (!c->l->whole) c->piece = scl_allocate(CSV_CHUNK_BYTES + 2);
  return c->sizes == NULL || *units == NULL || c->cuts == NULL || c->l->cuts == NULL ||
                 c->found == NULL || (!c->l->whole && c->piece == NULL)
             ? scl_fail_memory(error, files * sizeof *c->sizes, "shares of files")
             : SCL_STATUS_OK;
}

static scl_status make_cuts(cutting *c, size_t **units, bool *apart, scl_error *error) {
  size_t all = 0;
  uint64_t hash = 0;
  bool again;
  scl_status status = open_cutting(c, units, error);
  for (size_t k = 0; status == SCL_STATUS_OK && k < c->l->files; k++) {
    all += (*units)[k] = units_of(c->l->paths[k], &c->sizes[k]);
    hash = (hash ^ c->sizes[k] ^ (*units)[k]) * 0x9e3779b97f4a7c15u;
  }
  const bool few = all < scl_processes_count() || (c->l->files == 1 && c->sizes[0] == 0);
  int64_t most[] = {0, few, (int64_t)(hash >> 2), -(int64_t)(hash >> 2)};
  SCL_TRY(scl_shares_end(status, most, 4, &again, error));
  if (again || most[1] != 0 || most[2] != -most[3]) return SCL_STATUS_OK; /* or a file grows */
  cut_by_bytes(c, *units, all);
  status = follow_share(c, error);
  most[1] = c->other || (c->returns && !c->l->returns);
  SCL_TRY(scl_shares_end(status, most, 2, &again, error));
  if (again || most[1] != 0) return SCL_STATUS_OK;
  SCL_TRY(scl_processes_sum(c->found, FOUND * scl_processes_count(), error));
  cut_at_lines(c);
  c->l->sizes = c->sizes;
  c->sizes = NULL;
  *apart = true;
  return SCL_STATUS_OK;
}

scl_status csv_cut_shares(csv_lines *l, bool *apart, scl_error *error) {
  cutting c = {.l = l};
  size_t *units = NULL;
  *apart = false;
  const scl_status status = make_cuts(&c, &units, apart, error);
  SCL_RELEASE(c.sizes, units, c.cuts, c.found, c.piece);
  return status;
}
