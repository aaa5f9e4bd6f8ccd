/* Bytes of a file, gzip or plain, with sentences for what goes wrong. Every wait and every long
 * read ends at Ctrl-C (SCL_STATUS_CANCELLED). */
#ifndef SCULLERY_INPUT_H
#define SCULLERY_INPUT_H

#include "base/memory.h"

typedef struct scl_input scl_input;

/* Open for reading, "-" for the standard input; gzip is known by its first bytes. A missing file, a
 * folder or what cannot be read: SCL_STATUS_IO. */
scl_status scl_input_open(const char *path, scl_input **out, scl_error *error);
/* `size` bytes, fewer at the end alone. A truncated or damaged gzip file: SCL_STATUS_BAD_DATA. */
scl_status scl_input_read(scl_input *input, void *to, size_t size, size_t *got, scl_error *error);
/* After the first read, the most bytes that the file can hold: the size of a plain file, 1032 times
 * that of a packed one; SIZE_MAX where it is not known. */
size_t scl_input_most(const scl_input *input);
/* Whether the file is gzip, after the first read. */
bool scl_input_is_packed(const scl_input *input);

/* For readers that keep what they read: a bound on the bytes that a gzip file is unpacked to, as an
 * option "unpacked" of theirs sets it. 0: SCL_UNPACKED_RATIO times the file, and at least
 * SCL_UNPACKED_LEAST. Past it, scl_input_read fails with SCL_STATUS_BAD_DATA and names the option.
 * Without this call there is no bound. */
enum { SCL_UNPACKED_RATIO = 200, SCL_UNPACKED_LEAST = 1 << 27 };
void scl_input_set_bound(scl_input *input, size_t unpacked);
/* After the first read: refuse now what would be refused on the way to `bytes` in all. */
scl_status scl_input_admit(const scl_input *input, double bytes, scl_error *error);
/* Of a regular file, or of bytes that are made before their first read: the next byte is that at
 * `offset` of the text, where `row` (from 0, after a line of names) begins. A gzip file is unpacked
 * up to there. */
scl_status scl_input_seek(scl_input *input, size_t offset, size_t row, scl_error *error);
/* After the first read: whether a seek takes no longer for a place behind. */
bool scl_input_seeks(const scl_input *input);
/* Call it before the first read if the caller takes packed numbers (data/packed.h). Returns whether
 * there may be some; a file never has them. */
bool scl_input_pack(scl_input *input);
/* input may be NULL. */
void scl_input_close(scl_input *input);

/* Places in files at which rows begin, noted in one pass, so that later ones begin there. */
typedef struct scl_mark {
  size_t rows;         /* before it, of all files */
  size_t file, offset; /* of its text */
  size_t row, line;    /* of the file, as the reader of lines numbers them */
} scl_mark;
typedef struct scl_marks {
  scl_mark *list;
  size_t count, room;
} scl_marks;
scl_status scl_marks_add(scl_marks *marks, scl_mark mark, scl_error *error);
/* The last one with at most `rows` rows before it; NULL: none. */
const scl_mark *scl_marks_find(const scl_marks *marks, size_t rows);

/* A whole file as a text. */
typedef struct scl_text {
  char *bytes; /* `length` of them and a 0; released by the caller, NULL after an error */
  size_t length;
  bool quotes;  /* it holds a double quote */
  bool returns; /* it holds a carriage return without a line feed after it */
  bool packed;  /* set before: numbers may be packed; after: see scl_input_pack */
  size_t begin; /* of parts: the place in the file of bytes[0] */
} scl_text;

/* unpacked: see scl_input_set_bound. A zero byte in the text: SCL_STATUS_BAD_DATA with its line.
 * More than there is memory for: SCL_STATUS_NO_MEMORY with a sentence that ends in `advice`. */
scl_status scl_input_text(const char *path, size_t unpacked, const char *advice, scl_text *text,
                          scl_error *error);
/* Of a plain file: the bytes `from` to `end` - 1 into their places in text->bytes, which has room for
 * them and a 0. Notes what the text holds there; *zero: a zero byte too. Whether a return at
 * end - 1 stands alone is not looked at. */
scl_status scl_input_text_part(scl_input *input, size_t from, size_t end, scl_text *text,
                               bool *zero, scl_error *error);
/* Refuse the zero byte at `zero` of the text from `text`, whose first line is number `line`. */
scl_status scl_input_refuse_zero(const char *path, const char *text, const char *zero, size_t line,
                                 scl_error *error);

/* ------------ bytes that are made
 *
 * A path that was announced is no file: its bytes are made by these functions, from the first one
 * after each `open`, so that all readers of files read them. */
typedef struct scl_input_maker {
  scl_status (*open)(void *context, void **made, scl_error *error);
  /* As scl_input_read. */
  scl_status (*read)(void *made, void *to, size_t size, size_t *got, scl_error *error);
  /* Before the first read: the next byte is the first one of `row`, from 0. */
  scl_status (*seek)(void *made, size_t row, scl_error *error);
  void (*close)(void *made);
  /* See scl_input_pack; returns about how many bytes will come, 0 where that is not known. NULL: the
   * bytes have no packed numbers. */
  size_t (*pack)(void *made);
} scl_input_maker;
/* The maker and its context are borrowed until scl_input_withdraw of the same context. */
scl_status scl_input_announce(const char *path, const scl_input_maker *maker, void *context,
                              scl_error *error);
void scl_input_withdraw(const void *context);
/* Whether the path is announced: its lines are none of a file. */
bool scl_input_is_made(const char *path);

#endif
