/* Files of text: each file or each line is a text. */
#include "data/text_files.h"
#include "data/files/input.h"

#include <string.h>

/* Append the lines of a text. */
static scl_status add_lines(const scl_text *text, scl_texts_builder *builder, scl_error *error) {
  const char *at = text->bytes, *end = at + text->length;
  while (at < end) {
    const char *newline = memchr(at, '\n', (size_t)(end - at)),
               *stop = newline == NULL ? end : newline;
    const size_t length = (size_t)(stop - at), returns = length > 0 && stop[-1] == '\r';
    SCL_TRY(scl_texts_add(builder, at, length - returns, error));
    SCL_TRY(scl_texts_end(builder, error));
    at = newline == NULL ? end : newline + 1;
  }
  return SCL_STATUS_OK;
}

static scl_status add_file(const char *path, bool lines, size_t unpacked,
                           scl_texts_builder *builder, scl_error *error) {
  scl_text text = {0};
  SCL_TRY(scl_input_text(path, unpacked, "give fewer files", &text, error));
  scl_status status = SCL_STATUS_OK;
  if (lines) {
    status = add_lines(&text, builder, error);
  } else {
    status = scl_texts_add(builder, text.bytes, text.length, error);
    if (status == SCL_STATUS_OK) status = scl_texts_end(builder, error);
  }
  scl_release(text.bytes);
  return status;
}

scl_status scl_text_files_read(const char *const *paths, size_t n_paths, bool lines,
                               size_t unpacked, scl_texts *out, size_t *counts, scl_error *error) {
  scl_texts_builder builder = {0};
  memset(out, 0, sizeof *out);
  for (size_t k = 0; k < n_paths; k++) {
    const size_t before = builder.count;
    const scl_status status = add_file(paths[k], lines, unpacked, &builder, error);
    if (status != SCL_STATUS_OK) {
      scl_texts_builder_release(&builder);
      return status;
    }
    counts[k] = builder.count - before;
  }
  return scl_texts_finish(&builder, out, error);
}
