/* Errors as a status and a sentence of limited length. */
#include "base/error.h"

#include "base/numbers.h"
#include "base/text.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

scl_status scl_fail(scl_error *error, scl_status status, const char *format, ...) {
  if (error == NULL) return status;
  va_list arguments;
  va_start(arguments, format);
  error->status = status;
  (void)vsnprintf(error->message, sizeof error->message, format, arguments);
  va_end(arguments);
  return status;
}

scl_status scl_prefix(scl_error *error, const char *format, ...) {
  if (error == NULL) return SCL_STATUS_INTERNAL;
  char sentence[sizeof error->message];
  memcpy(sentence, error->message, sizeof sentence);
  va_list arguments;
  va_start(arguments, format);
  int used = vsnprintf(error->message, sizeof error->message, format, arguments);
  va_end(arguments);
  if (used < 0) return error->status;
  /* Long prefixes and sentences are cut off; there is always room for ": " and the final 0. */
  const size_t room = sizeof error->message, start = scl_min((size_t)used, room - 3);
  memcpy(error->message + start, ": ", 3);
  const size_t length = scl_min(strlen(sentence), room - start - 3);
  memcpy(error->message + start + 2, sentence, length);
  error->message[start + 2 + length] = 0;
  return error->status;
}

scl_status scl_fail_memory(scl_error *error, size_t bytes, const char *what) {
  char text[32];
  return scl_fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for %s (%s)", what,
                  scl_bytes_text((double)bytes, text));
}
