/* Rows of Arrow streams: types of columns, batches, what is borrowed, and refusals. */
#include <scullery/scullery.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

#define expect(condition) \
  do { \
    if (!(condition)) { \
      (void)fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
      failures++; \
    } \
  } while (0)

/* ------------ a stream */

enum { MOST = 4 };

/* Columns with formats and names, and batches of arrays; counts what was released. */
typedef struct source {
  const char *formats[MOST], *names[MOST];
  struct ArrowArray arrays[MOST][MOST]; /* [batch][column] */
  const void *buffers[MOST][MOST][4];
  const char *words[MOST]; /* formats of dictionaries */
  struct ArrowSchema word_fields[MOST];
  struct ArrowArray items[MOST][MOST]; /* of lists */
  int64_t offsets[MOST];               /* of the batches */
  int64_t lengths[MOST];
  int columns, batches, next, failing;
  struct ArrowSchema fields[MOST], item;
  struct ArrowSchema *field_list[MOST], *item_list[1];
  struct ArrowArray *array_list[MOST][MOST], *child_list[MOST][MOST][1];
  const void *no_nulls[1];
  int released_schema, released_batches, released_stream;
} source;

static void release_schema(struct ArrowSchema *schema) {
  ((source *)schema->private_data)->released_schema++;
  schema->release = NULL;
}
static void release_batch(struct ArrowArray *array) {
  ((source *)array->private_data)->released_batches++;
  array->release = NULL;
}
static void release_stream(struct ArrowArrayStream *stream) {
  ((source *)stream->private_data)->released_stream++;
  stream->release = NULL;
}
static const char *last_error(struct ArrowArrayStream *stream) {
  (void)stream;
  return "the disk is gone";
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
  source *s = stream->private_data;
  for (int j = 0; j < s->columns; j++) {
    s->field_list[j] = &s->fields[j];
    s->fields[j] = (struct ArrowSchema){.format = s->formats[j], .name = s->names[j]};
    s->word_fields[j] = (struct ArrowSchema){.format = s->words[j]};
    if (s->words[j] != NULL) s->fields[j].dictionary = &s->word_fields[j];
    if (s->formats[j][0] != '+') continue;
    s->item = (struct ArrowSchema){.format = "g", .name = "item"};
    s->item_list[0] = &s->item;
    s->fields[j].children = s->item_list;
    s->fields[j].n_children = 1;
  }
  *out = (struct ArrowSchema){.format = "+s",
                              .name = "",
                              .n_children = s->columns,
                              .children = s->field_list,
                              .release = release_schema,
                              .private_data = s};
  return 0;
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
  source *s = stream->private_data;
  const int b = s->next++;
  *out = (struct ArrowArray){0};
  if (b == s->failing - 1) return EIO;
  if (b >= s->batches) return 0;
  *out = (struct ArrowArray){.length = s->lengths[b],
                             .offset = s->offsets[b],
                             .n_buffers = 1,
                             .buffers = s->no_nulls,
                             .n_children = s->columns,
                             .children = s->array_list[b],
                             .release = release_batch,
                             .private_data = s};
  return 0;
}

/* Column j of batch b: `count` numbers from `offset` on. */
static void put(source *s, int b, int j, int64_t count, int64_t offset, const void *nulls,
                const void *values) {
  const void **buffers = s->buffers[b][j];
  buffers[0] = nulls;
  buffers[1] = values;
  s->arrays[b][j] = (struct ArrowArray){.length = count,
                                        .offset = offset,
                                        .null_count = nulls == NULL ? 0 : -1,
                                        .n_buffers = 2,
                                        .buffers = buffers};
  s->array_list[b][j] = &s->arrays[b][j];
}

/* The same of a list of `width` numbers of float64. */
static void put_list(source *s, int b, int j, int64_t count, int64_t width, const double *values) {
  put(s, b, j, count * width, 0, NULL, values);
  s->items[b][j] = s->arrays[b][j];
  s->child_list[b][j][0] = &s->items[b][j];
  s->arrays[b][j] = (struct ArrowArray){.length = count,
                                        .n_buffers = 1,
                                        .buffers = s->no_nulls,
                                        .n_children = 1,
                                        .children = s->child_list[b][j]};
}

static scl_status read_source_as(source *s, const char *const *names, size_t count,
                                 scl_arrow_rows **rows, scl_error *error) {
  struct ArrowArrayStream stream = {.get_schema = get_schema,
                                    .get_next = get_next,
                                    .get_last_error = last_error,
                                    .release = release_stream,
                                    .private_data = s};
  s->next = 0;
  s->released_schema = 0;
  const scl_status status = scl_arrow_read_as(&stream, names, count, rows, error);
  expect(stream.release == NULL && s->released_schema == 1);
  return status;
}

static scl_status read_source(source *s, scl_arrow_rows **rows, scl_error *error) {
  return read_source_as(s, NULL, 0, rows, error);
}

/* ------------ tests */

/* Every type, with offsets, in two batches. */
static void every_type(void) {
  static const int8_t c[] = {0, -128, 127};
  static const uint64_t large[] = {1, 9007199254740992u, 3};
  static const float f[] = {0.5f, -2.5f, 7};
  static const uint8_t bits[] = {0x0a};
  source s = {.formats = {"c", "L", "f", "b"},
              .names = {"a", "b", "c", "d"},
              .columns = 4,
              .batches = 2,
              .lengths = {2, 1},
              .offsets = {0, 2}};
  for (int b = 0; b < 2; b++) {
    put(&s, b, 0, 3, 0, NULL, c);
    put(&s, b, 1, 3, 0, NULL, large);
    put(&s, b, 2, 3, 0, NULL, f);
    put(&s, b, 3, 3, 1, NULL, bits);
  }
  const double wanted[] = {0, 1, 0.5, 1, -128, 9007199254740992.0, -2.5, 0, 127, 3, 7, 1};
  scl_arrow_rows *rows;
  expect(read_source(&s, &rows, NULL) == SCL_STATUS_OK);
  expect(rows->rows == 3 && rows->columns == 4 && rows->dtype == SCL_DTYPE_FLOAT64);
  expect(memcmp(rows->values, wanted, sizeof wanted) == 0);
  expect(strcmp(rows->names[0], "a") == 0 && strcmp(rows->names[3], "d") == 0);
  expect(s.released_batches == 2);
  scl_arrow_free(rows);
}

/* One batch with one list of float64 stays where it is; two are copied. */
static void lists(void) {
  static const double values[] = {1, 2, 3, 4, 5, 6};
  for (int batches = 1; batches <= 2; batches++) {
    source s = {
        .formats = {"+w:3"}, .names = {"v"}, .columns = 1, .batches = batches, .lengths = {2, 2}};
    for (int b = 0; b < batches; b++)
      put_list(&s, b, 0, 2, 3, values);
    scl_arrow_rows *rows;
    expect(read_source(&s, &rows, NULL) == SCL_STATUS_OK);
    expect(rows->rows == 2 * (size_t)batches && rows->columns == 3);
    expect((rows->values == values) == (batches == 1));
    expect(memcmp(rows->values, values, sizeof values) == 0);
    expect(strcmp(rows->names[2], "v_3") == 0);
    expect(s.released_batches == (batches == 1 ? 0 : 2));
    scl_arrow_free(rows);
    expect(s.released_batches == batches);
  }
  const char *const names[] = {"v_1", "v_2"}; /* of three */
  source s = {.formats = {"+w:3"}, .names = {"v"}, .columns = 1, .batches = 1, .lengths = {2}};
  put_list(&s, 0, 0, 2, 3, values);
  scl_arrow_rows *rows;
  scl_error error;
  expect(read_source_as(&s, names, 2, &rows, &error) == SCL_STATUS_BAD_DATA);
  expect(strstr(error.message, "the 2 that are wanted, with all numbers of its lists") != NULL);
}

static void expect_rows(const scl_arrow_rows *rows, size_t columns, const char *const *names,
                        size_t count, const double *wanted) {
  expect(rows->rows == count && rows->columns == columns && rows->dtype == SCL_DTYPE_FLOAT64);
  expect(memcmp(rows->values, wanted, count * columns * sizeof *wanted) == 0);
  for (size_t j = 0; j < columns; j++)
    expect(strcmp(rows->names[j], names[j]) == 0);
}

/* Texts of each layout: "a long, long text", "b", null, "b"; the same columns for other rows. */
static void put_texts(source *s, const char *first) {
  static int32_t narrow[] = {0, 17, 18, 18, 19};
  static int64_t wide[] = {0, 17, 18, 18, 19};
  static const uint8_t nulls[] = {0x0b};
  static const int8_t codes[] = {0, 1, 1, 1};
  static char bytes[32], views[64];
  (void)snprintf(bytes, sizeof bytes, "%.17sbb", first);
  const int32_t long_view[] = {17, 0, 0, 0}, short_view[] = {1, 'b', 0, 0};
  for (size_t i = 0; i < 4; i++)
    memcpy(views + 16 * i, i == 0 ? long_view : short_view, 16);
  for (int j = 0; j < 3; j++) {
    put(s, 0, j, 4, 0, nulls, j == 0 ? (void *)narrow : j == 1 ? (void *)wide : (void *)views);
    s->buffers[0][j][2] = bytes;
    s->arrays[0][j].n_buffers = j == 2 ? 4 : 3;
  }
  put(s, 0, 3, 4, 0, nulls, codes);
  s->items[0][3] = s->arrays[0][0]; /* the dictionary: its first two texts */
  s->items[0][3].length = 2;
  s->arrays[0][3].dictionary = &s->items[0][3];
}

static void texts(void) {
  const char *const names[] = {
      "u=a long, long text", "u=b", "u=?", "U=a long, long text", "U=b", "U=?",
      "v=a long, long text", "v=b", "v=?", "d=a long, long text", "d=b", "d=?"};
  source s = {.formats = {"u", "U", "vu", "c"},
              .names = {"u", "U", "v", "d"},
              .words = {NULL, NULL, NULL, "u"},
              .columns = 4,
              .batches = 1,
              .lengths = {4, 4}};
  put_texts(&s, "a long, long text");
  double wanted[4 * 12] = {0};
  for (size_t i = 0; i < 4; i++)
    for (size_t j = 0; j < 4; j++)
      wanted[12 * i + 3 * j + (i == 0 ? 0 : i == 2 ? 2 : 1)] = 1;
  scl_arrow_rows *rows;
  expect(read_source(&s, &rows, NULL) == SCL_STATUS_OK && rows->unknown == 0);
  expect(rows->texts == 12);
  expect_rows(rows, 12, names, 4, wanted);
  scl_arrow_free(rows);
  /* the columns in another order, and a text that is none of them */
  const char *turned[12];
  for (size_t j = 0; j < 12; j++)
    turned[j] = names[11 - j];
  put_texts(&s, "another long text");
  for (size_t i = 0; i < 4; i++)
    for (size_t j = 0; j < 12; j++)
      wanted[12 * i + j] = i > 0 && 11 - j == (11 - j) / 3 * 3 + (i == 2 ? 2 : 1);
  expect(read_source_as(&s, turned, 12, &rows, NULL) == SCL_STATUS_OK && rows->unknown == 4);
  expect_rows(rows, 12, turned, 4, wanted);
  scl_arrow_free(rows);
  scl_error error;
  expect(read_source_as(&s, turned, 9, &rows, &error) == SCL_STATUS_BAD_DATA);
  expect(strstr(error.message, "column 'u' of the Arrow stream is not among the 9") != NULL);
  turned[0] = "w=b";
  expect(read_source_as(&s, turned, 12, &rows, &error) == SCL_STATUS_BAD_DATA);
  expect(strstr(error.message, "the Arrow stream has no column 'w=b'") != NULL);
}

/* A sentence with column and row, and nothing is left. */
static void refuses(source *s, const char *words) {
  scl_error error = {0};
  scl_arrow_rows *rows = (scl_arrow_rows *)&error;
  expect(read_source(s, &rows, &error) != SCL_STATUS_OK && rows == NULL);
  if (strstr(error.message, words) == NULL) printf("%s\n", error.message);
  expect(strstr(error.message, words) != NULL);
  expect(s->released_stream == 1);
}

static void refusals(void) {
  static const int64_t large[] = {1, 9007199254740993};
  static const double values[] = {1, 2};
  static const uint8_t nulls[] = {0x01};
  static const int32_t ends[] = {0, 1, 3}, back[] = {0, 2, 1};
  static const int8_t beyond[] = {1, 2}, below[] = {-1, 0};
  const source plain = {
      .formats = {"g"}, .names = {"x"}, .columns = 1, .batches = 1, .lengths = {2}};
  source s = plain;
  s.formats[0] = "z";
  refuses(&s, "column 'x' of the Arrow stream is of another type (format \"z\")");
  s = plain;
  s.words[0] = "g";
  refuses(&s, "column 'x' of the Arrow stream has categories that are not texts");
  s = plain;
  s.formats[0] = "u";
  put(&s, 0, 0, 2, 0, NULL, values); /* two buffers */
  refuses(&s, "does not have the arrays");
  for (int i = 0; i < 4; i++) { /* ends that descend; no bytes; codes of no text */
    s = plain;
    put(&s, 0, 1, 2, 0, NULL, i == 0 ? back : ends);
    s.buffers[0][1][2] = i == 1 ? NULL : "abc";
    s.arrays[0][1].n_buffers = 3;
    s.formats[0] = i < 2 ? "u" : "c";
    s.words[0] = i < 2 ? NULL : "u";
    if (i > 1) put(&s, 0, 0, 2, 0, NULL, i == 2 ? beyond : below);
    s.items[0][0] = s.arrays[0][1];
    if (i > 1) s.arrays[0][0].dictionary = &s.items[0][0];
    if (i < 2) s.array_list[0][0] = &s.items[0][0];
    refuses(&s, i == 1 || i == 3 ? "row 1, column 'x' of the Arrow stream: it has no text"
                                 : "row 2, column 'x' of the Arrow stream: it has no text");
  }
  s = plain;
  s.formats[0] = "+w:0";
  refuses(&s, "column 'x'");
  s = plain;
  put(&s, 0, 0, 2, 0, nulls, values);
  refuses(&s, "row 2, column 'x' of the Arrow stream is null");
  s = plain;
  s.formats[0] = "l";
  put(&s, 0, 0, 2, 0, NULL, large);
  refuses(&s, "row 2, column 'x' of the Arrow stream: a whole number beyond 2^53");
  s = plain;
  put(&s, 0, 0, 1, 0, NULL, values); /* shorter than the batch */
  refuses(&s, "does not have the arrays");
  s = plain;
  s.failing = 1;
  refuses(&s, "the Arrow stream did not give its rows: the disk is gone");
  s = plain;
  s.columns = 0;
  refuses(&s, "not a table of columns");
  scl_error error;
  scl_arrow_rows *rows;
  expect(scl_arrow_read(NULL, &rows, &error) == SCL_STATUS_BAD_OPTION);
  scl_arrow_free(NULL);
}

/* No batch: no rows of the columns. */
static void empty(void) {
  source s = {.formats = {"f", "f"}, .names = {"a", NULL}, .columns = 2};
  scl_arrow_rows *rows;
  expect(read_source(&s, &rows, NULL) == SCL_STATUS_OK);
  expect(rows->rows == 0 && rows->columns == 2 && rows->dtype == SCL_DTYPE_FLOAT32);
  expect(strcmp(rows->names[1], "") == 0);
  scl_arrow_free(rows);
}

int main(void) {
  every_type();
  lists();
  texts();
  refusals();
  empty();
  return failures > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
