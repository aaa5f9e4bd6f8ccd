/* Reads plain and gzip files through one buffer, with a bound on what a gzip file may unpack to. */
#include "data/files/input.h"
#include "base/interrupt.h"
#include "base/memory_left.h"
#include "base/pages.h"
#include "base/text.h"
#include "data/files/file.h"
#include "data/files/unpacker.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum {
  BUFFER = SCL_BUFFER(1 << 18),
  PIECE = SCL_BUFFER(1 << 20),
  DEFLATE_MOST = 1032
}; /* deflate packs 1032 to 1 */

struct scl_input {
  scl_file file;
  char *path;
  const scl_input_maker *maker; /* NULL: a file */
  void *made;
  size_t expected;       /* bytes, about, that the maker makes; 0: not known */
  unsigned char *buffer; /* bytes of the file that were not taken yet: [at, used) */
  size_t at, used;
  size_t before;          /* place in the file of the buffer's first byte */
  bool binary;            /* a byte 0 came out of it */
  size_t lines;           /* line ends that came out of it */
  size_t unpacked, bound; /* bytes that came out of it, and the most; see scl_input_set_bound */
  bool bounded;
  bool begun, ended;      /* ended: the file has no more bytes */
  bool packed, in_member; /* of gzip: in the middle of one of its parts */
  z_stream z;
};

/* ------------ announced paths */

typedef struct announced {
  struct announced *next;
  char *path;
  const scl_input_maker *maker;
  void *context;
} announced;

static announced *all_announced; /* the latest first; guarded by the lock */
static pthread_mutex_t announced_lock = PTHREAD_MUTEX_INITIALIZER;

scl_status scl_input_announce(const char *path, const scl_input_maker *maker, void *context,
                              scl_error *error) {
  announced *one = scl_allocate(sizeof *one);
  char *copy = scl_copy_text(path);
  if (one == NULL || copy == NULL) {
    SCL_RELEASE(one, copy);
    return scl_fail_memory(error, sizeof *one, "a path");
  }
  (void)pthread_mutex_lock(&announced_lock);
  *one = (announced){all_announced, copy, maker, context};
  all_announced = one;
  (void)pthread_mutex_unlock(&announced_lock);
  return SCL_STATUS_OK;
}

void scl_input_withdraw(const void *context) {
  (void)pthread_mutex_lock(&announced_lock);
  for (announced **at = &all_announced; *at != NULL;) {
    announced *one = *at;
    if (one->context != context) {
      at = &one->next;
      continue;
    }
    *at = one->next;
    SCL_RELEASE(one->path, one);
  }
  (void)pthread_mutex_unlock(&announced_lock);
}

bool scl_input_is_made(const char *path) {
  bool found = false;
  (void)pthread_mutex_lock(&announced_lock);
  for (const announced *one = all_announced; one != NULL && !found; one = one->next)
    found = strcmp(one->path, path) == 0;
  (void)pthread_mutex_unlock(&announced_lock);
  return found;
}

/* Open the maker of a path if one is announced: input->maker is NULL otherwise. */
static scl_status open_announced(scl_input *input, scl_error *error) {
  void *context = NULL;
  (void)pthread_mutex_lock(&announced_lock);
  for (const announced *one = all_announced; one != NULL && input->maker == NULL; one = one->next)
    if (strcmp(one->path, input->path) == 0) {
      input->maker = one->maker;
      context = one->context;
    }
  (void)pthread_mutex_unlock(&announced_lock);
  return input->maker == NULL ? SCL_STATUS_OK : input->maker->open(context, &input->made, error);
}

/* ------------ opening */

static scl_status open_file(scl_input *input, scl_error *error) {
  if (input->path == NULL || input->buffer == NULL) return scl_fail_memory(error, BUFFER, "a file");
  if (strcmp(input->path, "-") == 0) return scl_file_standard_input(&input->file, error);
  SCL_TRY(open_announced(input, error));
  return input->maker != NULL ? SCL_STATUS_OK : scl_file_open(input->path, &input->file, error);
}

scl_status scl_input_open(const char *path, scl_input **out, scl_error *error) {
  scl_input *input = scl_allocate_zero(sizeof *input);
  if (input == NULL) return scl_fail_memory(error, sizeof *input, "a file");
  input->file.descriptor = -1;
  input->path = scl_copy_text(path);
  input->buffer = scl_allocate(BUFFER);
  const scl_status status = open_file(input, error);
  if (status == SCL_STATUS_OK)
    *out = input;
  else
    scl_input_close(input);
  return status;
}

bool scl_input_pack(scl_input *input) {
  const bool packs = input->maker != NULL && input->maker->pack != NULL;
  if (packs) input->expected = input->maker->pack(input->made);
  return packs;
}

void scl_input_close(scl_input *input) {
  if (input == NULL) return;
  if (input->packed) (void)inflateEnd(&input->z);
  if (input->made != NULL) input->maker->close(input->made);
  scl_file_close(&input->file);
  SCL_RELEASE(input->path, input->buffer, input);
}

/* The next bytes of the file, or of its maker. */
static scl_status read_more(scl_input *input, void *to, size_t size, size_t *got,
                            scl_error *error) {
  return input->maker != NULL ? input->maker->read(input->made, to, size, got, error)
                              : scl_file_read(&input->file, to, size, got, error);
}

/* Moves the bytes that were not taken to the front and reads until there are at least `wanted`, or
 * the file ends. */
static scl_status look_ahead(scl_input *input, size_t wanted, scl_error *error) {
  memmove(input->buffer, input->buffer + input->at, input->used - input->at);
  input->before += input->at;
  input->used -= input->at;
  input->at = 0;
  while (input->used < wanted && !input->ended) {
    size_t got = 0;
    SCL_TRY(read_more(input, input->buffer + input->used, BUFFER - input->used, &got, error));
    input->used += got;
    input->ended = got == 0;
  }
  return SCL_STATUS_OK;
}

static bool gzip_begins(const scl_input *input) {
  return input->used - input->at >= 2 && input->buffer[input->at] == 0x1f &&
         input->buffer[input->at + 1] == 0x8b;
}

/* Before the first read: looks for gzip's first two bytes, and prepares zlib if they are there. */
static scl_status begin(scl_input *input, scl_error *error) {
  enum { GZIP = 16 + MAX_WBITS };
  if (input->begun) return SCL_STATUS_OK;
  SCL_TRY(look_ahead(input, 2, error));
  input->begun = true;
  if (!gzip_begins(input)) return SCL_STATUS_OK;
  input->z = scl_unpacker();
  if (inflateInit2(&input->z, GZIP) != Z_OK) return scl_fail_memory(error, BUFFER, input->path);
  input->packed = input->in_member = true;
  return SCL_STATUS_OK;
}

/* ------------ plain */

/* A large read with an empty buffer goes directly to `to`. */
static scl_status read_plain(scl_input *input, char *to, size_t size, size_t *got,
                             scl_error *error) {
  if (input->at == input->used && size >= BUFFER) {
    SCL_TRY(read_more(input, to, size, got, error));
    input->ended = *got == 0;
    return SCL_STATUS_OK;
  }
  if (input->at == input->used) SCL_TRY(look_ahead(input, 1, error));
  const size_t kept = scl_min(size, input->used - input->at);
  memcpy(to, input->buffer + input->at, kept);
  input->at += kept;
  *got = kept;
  return SCL_STATUS_OK;
}

/* ------------ gzip */

/* Refuse a file that cannot be unpacked further: `what` is wrong with it. Of a text the message
 * has the line that was reached. */
static scl_status refuse_at(const scl_input *input, const char *what, scl_error *error) {
  char line[40] = "";
  if (!input->binary) (void)snprintf(line, sizeof line, ", in line %zu", input->lines + 1);
  return scl_fail(error, SCL_STATUS_BAD_DATA, "%s: the gzip file %s, after %zu unpacked bytes%s",
                  input->path, what, input->unpacked, line);
}

static scl_status refuse_packed(const scl_input *input, int code, scl_error *error) {
  char what[120];
  if (code == Z_MEM_ERROR) return scl_fail_memory(error, BUFFER, input->path);
  (void)snprintf(what, sizeof what, "is damaged (%s)",
                 input->z.msg == NULL ? "it is not a gzip stream" : input->z.msg);
  return refuse_at(input, what, error);
}

/* Zeros up to the end of the file, with which tapes and some disks fill their blocks. Anything else
 * is a part whose beginning is damaged, or what somebody appended: rows that would be lost. */
static scl_status take_padding(scl_input *input, scl_error *error) {
  while (input->at < input->used) {
    while (input->at < input->used && input->buffer[input->at] == 0)
      input->at++;
    if (input->at < input->used)
      return scl_fail(error, SCL_STATUS_BAD_DATA,
                      "%s: the gzip file is damaged: after the end of one of its parts, the bytes "
                      "from offset %zu on are neither another part nor zeros up to the end",
                      input->path, input->before + input->at);
    SCL_TRY(look_ahead(input, 1, error));
  }
  return SCL_STATUS_OK;
}

/* After one part of a gzip file: another part follows, or zeros up to the end. */
static scl_status end_member(scl_input *input, scl_error *error) {
  SCL_TRY(look_ahead(input, 2, error));
  input->in_member = gzip_begins(input);
  if (!input->in_member) return take_padding(input, error);
  return inflateReset(&input->z) == Z_OK ? SCL_STATUS_OK
                                         : refuse_packed(input, Z_DATA_ERROR, error);
}

/* Line ends among these bytes. The inner sums take one byte each, so that compilers add many side by
 * side. */
static size_t count_lines(const char *text, size_t size) {
  size_t lines = 0;
  for (size_t at = 0; at < size; at += UINT8_MAX) {
    const size_t count = scl_min(UINT8_MAX, size - at);
    uint8_t some = 0;
    for (size_t i = 0; i < count; i++)
      some = (uint8_t)(some + (text[at + i] == '\n'));
    lines += some;
  }
  return lines;
}

/* Some bytes, perhaps none, from those in the buffer. */
static scl_status read_packed(scl_input *input, char *to, size_t size, size_t *got,
                              scl_error *error) {
  if (input->at == input->used) SCL_TRY(look_ahead(input, 1, error));
  if (input->used == 0) return refuse_at(input, "ends too early: it is truncated", error);
  const size_t most = scl_min(size, PIECE);
  input->z.next_in = input->buffer + input->at;
  input->z.avail_in = (unsigned)(input->used - input->at);
  input->z.next_out = (unsigned char *)to;
  input->z.avail_out = (unsigned)most;
  const int code = inflate(&input->z, Z_NO_FLUSH);
  input->at = input->used - input->z.avail_in;
  *got = most - input->z.avail_out;
  input->unpacked += *got;
  input->lines += count_lines(to, *got);
  input->binary = input->binary || memchr(to, 0, *got) != NULL;
  if (input->bounded) SCL_TRY(scl_input_admit(input, (double)input->unpacked, error));
  if (code == Z_STREAM_END) return end_member(input, error);
  return code == Z_OK || code == Z_BUF_ERROR ? scl_interrupt_check(error)
                                             : refuse_packed(input, code, error);
}

scl_status scl_input_read(scl_input *input, void *to, size_t size, size_t *got, scl_error *error) {
  *got = 0;
  SCL_TRY(begin(input, error));
  while (*got < size &&
         (input->packed ? input->in_member : !input->ended || input->at < input->used)) {
    size_t more = 0;
    SCL_TRY((input->packed ? read_packed : read_plain)(input, (char *)to + *got, size - *got, &more,
                                                       error));
    *got += more;
  }
  return SCL_STATUS_OK;
}

scl_status scl_input_seek(scl_input *input, size_t offset, size_t row, scl_error *error) {
  if (input->maker != NULL) {
    input->begun = true;
    return input->maker->seek(input->made, row, error);
  }
  SCL_TRY(begin(input, error));
  if (input->packed) {
    size_t got = 1;
    char *piece = scl_allocate(PIECE);
    scl_status status = piece == NULL ? scl_fail_memory(error, PIECE, "a file") : SCL_STATUS_OK;
    while (status == SCL_STATUS_OK && input->unpacked < offset && got > 0)
      status = scl_input_read(input, piece, scl_min(offset - input->unpacked, PIECE), &got, error);
    scl_release(piece);
    return status;
  }
  input->before = offset;
  input->at = input->used = 0;
  input->ended = false;
  return scl_file_seek(&input->file, offset, error);
}

bool scl_input_seeks(const scl_input *input) { return input->maker == NULL && !input->packed; }

scl_status scl_marks_add(scl_marks *marks, scl_mark mark, scl_error *error) {
  scl_mark *list = scl_grow(marks->list, marks->count, &marks->room, sizeof *list);
  if (list == NULL) return scl_fail_memory(error, 2 * marks->room * sizeof *list, "places of rows");
  marks->list = list;
  list[marks->count++] = mark;
  return SCL_STATUS_OK;
}

const scl_mark *scl_marks_find(const scl_marks *marks, size_t rows) {
  size_t low = 0, high = marks->count; /* those before low have at most so many rows before them */
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (marks->list[middle].rows <= rows)
      low = middle + 1;
    else
      high = middle;
  }
  return low == 0 ? NULL : &marks->list[low - 1];
}

size_t scl_input_most(const scl_input *input) {
  if (!input->file.regular) return SIZE_MAX;
  if (!input->packed) return input->file.size;
  return input->file.size > SIZE_MAX / DEFLATE_MOST ? SIZE_MAX : input->file.size * DEFLATE_MOST;
}

bool scl_input_is_packed(const scl_input *input) { return input->packed; }

/* ------------ the bound */

void scl_input_set_bound(scl_input *input, size_t unpacked) {
  input->bounded = true;
  input->bound = unpacked;
}

/* The bound in bytes. For a pipe, whose size is not known, the bytes taken so far count as its
 * size. */
static size_t bound_of(const scl_input *input) {
  if (!input->bounded) return SIZE_MAX;
  if (input->bound > 0) return input->bound;
  const size_t size = input->file.regular ? input->file.size : input->before + input->at;
  return scl_max(SCL_UNPACKED_LEAST, scl_min(size, SIZE_MAX / 1000) * SCL_UNPACKED_RATIO);
}

scl_status scl_input_admit(const scl_input *input, double bytes, scl_error *error) {
  char wanted[32], most[32];
  const size_t bound = bound_of(input);
  if (!input->packed || bytes <= (double)bound) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_BAD_DATA,
                  "%s: the gzip file unpacks to %s or more, and the bound is %s; option 'unpacked' "
                  "sets another, such as unpacked = %.0f",
                  input->path, scl_bytes_text(bytes, wanted), scl_bytes_text((double)bound, most),
                  2 * bytes);
}

/* ------------ a whole text */

scl_status scl_input_refuse_zero(const char *path, const char *text, const char *zero, size_t line,
                                 scl_error *error) {
  for (; text < zero; text++)
    line += *text == '\n' || (*text == '\r' && text[1] != '\n');
  return scl_fail(error, SCL_STATUS_BAD_DATA,
                  "%s: line %zu holds a zero byte: this is not text, or text in UTF-16", path,
                  line);
}

/* Unpacks the file once more, without keeping it, to see whether it exceeds the bound. */
static scl_status try_bound(const scl_input *input, scl_error *error) {
  scl_input *again;
  size_t got = PIECE;
  SCL_TRY(scl_input_open(input->path, &again, error));
  scl_input_set_bound(again, input->bound);
  char *piece = scl_allocate(PIECE);
  scl_status status =
      piece == NULL ? scl_fail_memory(error, PIECE, "a piece of a text") : SCL_STATUS_OK;
  while (status == SCL_STATUS_OK && got == PIECE)
    status = scl_input_read(again, piece, PIECE, &got, error);
  scl_release(piece);
  scl_input_close(again);
  return status;
}

/* A first guess at the size of the text: the last four bytes of a gzip file say the size of its
 * last part (modulo 4 GB). Those of a truncated file say anything: where they are above the bound,
 * the file is tried before memory is taken for it. */
static scl_status guess_size(const scl_input *input, size_t *guess, scl_error *error) {
  enum { ENDS = 4, FIRST = 1 << 16 };
  unsigned char ends[ENDS];
  const size_t size = input->file.size, bound = bound_of(input);
  *guess = input->file.regular ? size + 1
                               : scl_max(FIRST, scl_min(input->expected, scl_memory_left() / 2));
  if (!input->packed || !input->file.regular || size < ENDS) return SCL_STATUS_OK;
  SCL_TRY(scl_file_read_at(&input->file, size - ENDS, ENDS, ends, error));
  const size_t said =
      (size_t)ends[0] | (size_t)ends[1] << 8 | (size_t)ends[2] << 16 | (size_t)ends[3] << 24;
  *guess = scl_min(said <= scl_input_most(input) ? said : 4 * size, bound) + 1;
  return said > bound ? try_bound(input, error) : SCL_STATUS_OK;
}

static scl_status refuse_size(const scl_input *input, size_t read, const char *advice,
                              scl_error *error) {
  char have[32], left[32];
  return scl_fail(error, SCL_STATUS_NO_MEMORY,
                  "%s: the text%s does not fit in memory: %s were read, and %s are left%s",
                  input->path, input->packed ? ", unpacked," : "",
                  scl_bytes_text((double)read, have),
                  scl_bytes_text((double)scl_memory_left(), left), advice);
}

/* Moves the text to memory twice as large, or to as much as is left; fails if that is less than an
 * eighth more. */
static scl_status enlarge(const scl_input *input, const char *advice, scl_text *text, size_t *room,
                          scl_error *error) {
  const size_t larger = scl_min(2 * *room, scl_memory_left());
  char *more = larger > *room + *room / 8 ? scl_allocate(larger + 1) : NULL;
  if (more == NULL) return refuse_size(input, text->length, advice, error);
  memcpy(more, text->bytes, text->length);
  scl_release(text->bytes);
  text->bytes = more;
  *room = larger;
  return SCL_STATUS_OK;
}

/* Note the bytes at places `from` to `to` - 1, in one pass while they are in the cache; whether
 * there is a zero among them. The byte at `to` can be read. */
static bool note_bytes(scl_text *text, size_t from, size_t to) {
  enum { STEP = 1 << 12 }; /* of a known length, so that the compiler compares many at once */
  bool zero = false;
  while (from < to) {
    const char *at = text->bytes + from;
    unsigned char zeros = 0, quotes = 0, returns = 0;
    const size_t count = scl_min(to - from, STEP);
    for (size_t k = 0; k < count; k++) {
      zeros |= (unsigned char)(at[k] == 0);
      quotes |= (unsigned char)(at[k] == '"');
      returns |= (unsigned char)((at[k] == '\r') & (at[k + 1] != '\n'));
    }
    zero |= zeros != 0;
    text->quotes |= quotes != 0;
    text->returns |= returns != 0;
    from += count;
  }
  return zero;
}

/* A piece at a time, so that no bytes but text are ever kept. The last byte of a piece is noted
 * with the next one, whose first byte it wants to see. */
static scl_status read_text(scl_input *input, const char *advice, scl_text *text,
                            scl_error *error) {
  size_t room = 0, got = 0, noted = 0;
  SCL_TRY(begin(input, error));
  SCL_TRY(guess_size(input, &room, error));
  text->bytes = scl_allocate(room + 1);
  if (text->bytes == NULL) return refuse_size(input, 0, advice, error);
  for (size_t wanted = 0; got == wanted || wanted == 0;) {
    if (text->length == room) SCL_TRY(enlarge(input, advice, text, &room, error));
    wanted = scl_min(room - text->length, PIECE);
    scl_pages_prepare(text->bytes + text->length, wanted);
    SCL_TRY(scl_input_read(input, text->bytes + text->length, wanted, &got, error));
    text->length += got;
    if (got < wanted) text->bytes[text->length] = 0;
    const size_t to = text->length - (got == wanted);
    if (note_bytes(text, noted, to))
      return scl_input_refuse_zero(input->path, text->bytes, memchr(text->bytes, 0, to), 1, error);
    noted = to;
  }
  return SCL_STATUS_OK;
}

scl_status scl_input_text_part(scl_input *input, size_t from, size_t end, scl_text *text,
                               bool *zero, scl_error *error) {
  size_t got = 1;
  SCL_TRY(scl_input_seek(input, from, 0, error));
  from -= text->begin;
  end -= text->begin;
  size_t noted = from;
  for (size_t at = from; at < end && got > 0; at += got) {
    const size_t wanted = scl_min(end - at, PIECE);
    scl_pages_prepare(text->bytes + at, wanted);
    SCL_TRY(scl_input_read(input, text->bytes + at, wanted, &got, error));
    if (got < wanted)
      return scl_fail(error, SCL_STATUS_IO, "%s: the file changed while it was read", input->path);
    *zero = note_bytes(text, noted, at + got - 1) || *zero;
    noted = at + got - 1;
  }
  *zero = *zero || text->bytes[noted] == 0;
  text->quotes = text->quotes || text->bytes[noted] == '"';
  return SCL_STATUS_OK;
}

scl_status scl_input_text(const char *path, size_t unpacked, const char *advice, scl_text *text,
                          scl_error *error) {
  scl_input *input;
  const bool packed = text->packed;
  *text = (scl_text){0};
  SCL_TRY(scl_input_open(path, &input, error));
  text->packed = packed && scl_input_pack(input);
  scl_input_set_bound(input, unpacked);
  const scl_status status = read_text(input, advice, text, error);
  scl_input_close(input);
  if (status == SCL_STATUS_OK) return status;
  scl_release(text->bytes);
  *text = (scl_text){0};
  return status;
}
