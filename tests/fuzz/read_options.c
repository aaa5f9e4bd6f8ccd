/* Options: values as they come, their texts, and components as one would type them. */
#include "plugin/instance.h"
#include "reader.h"

#include <stdlib.h>
#include <string.h>

static const scl_option options[] = {
    {.name = "number", .forms = SCL_FORM_NUMBER, .fallback = "1", SCL_POSITIVE},
    {.name = "count", .forms = SCL_FORM_INTEGER, .fallback = "2", SCL_WITHIN(1, 1e9)},
    {.name = "word", .forms = SCL_FORM_WORD, .words = "none|uniform|gaussian", .fallback = "none"},
    {.name = "flag", .forms = SCL_FORM_BOOLEAN, .fallback = "true"},
    {.name = "list", .forms = SCL_FORM_LIST, .fallback = "{-1, 1}"},
    {.name = "named", .forms = SCL_FORM_NAMED, .words = "gaussian|uniform"},
    {.name = "width", .forms = SCL_FORM_NUMBER, .width = SCL_WIDTH_GAMMA, SCL_POSITIVE},
    {.name = "any", .forms = SCL_FORM_OPAQUE | SCL_FORM_REQUIRED, .words = "anything"}};
enum { OPTIONS = sizeof options / sizeof *options, MOST = 12 };

typedef struct taking {
  const uint8_t *at;
  size_t left;
} taking;

static unsigned take(taking *t) {
  if (t->left == 0) return 0;
  t->left--;
  return *t->at++;
}

static double take_number(taking *t) {
  double number = 0;
  if (t->left < sizeof number) return (double)take(t);
  memcpy(&number, t->at, sizeof number);
  t->at += sizeof number;
  t->left -= sizeof number;
  return number;
}

/* The bytes up to the next 0; to be freed. */
static char *take_text(taking *t) {
  const uint8_t *end = t->left == 0 ? NULL : memchr(t->at, 0, t->left);
  const size_t length = end == NULL ? t->left : (size_t)(end - t->at);
  char *text = fuzz_text(t->at, length);
  t->at += length;
  t->left -= length;
  (void)take(t);
  return text;
}

static char *copy_name(unsigned choice) {
  const char *name = options[choice % OPTIONS].name;
  return fuzz_text((const uint8_t *)name, strlen(name));
}

static void read_given(taking *t) {
  static const uint32_t forms[] = {SCL_FORM_NUMBER, SCL_FORM_NUMBER | SCL_FORM_INTEGER,
                                   SCL_FORM_WORD,   SCL_FORM_BOOLEAN,
                                   SCL_FORM_LIST,   SCL_FORM_NAMED,
                                   SCL_FORM_OPAQUE};
  scl_given given[MOST] = {{0}};
  char *names[MOST], *words[MOST];
  double lists[MOST][3];
  size_t count = 0;
  for (; count < MOST && t->left > 0; count++) {
    const unsigned choice = take(t);
    names[count] = choice & 128 ? take_text(t) : copy_name(choice);
    words[count] = take_text(t);
    for (size_t k = 0; k < 3; k++)
      lists[count][k] = take_number(t);
    given[count] = (scl_given){.name = names[count],
                               .value = {.form = forms[take(t) % 7],
                                         .number = lists[count][0],
                                         .word = words[count],
                                         .list = lists[count],
                                         .length = 1 + choice % 3}};
  }
  char text[200];
  scl_settings settings;
  scl_error error = {0};
  const scl_status status =
      scl_settings_create("title", options, OPTIONS, given, count, &settings, &error);
  fuzz_check(status, &error);
  if (status == SCL_STATUS_OK) {
    for (size_t room = 1; room <= sizeof text; room += 33)
      if (strlen(scl_settings_text(&settings, text, room)) >= room) fuzz_fail("a text too long");
    scl_settings_set_widths(&settings, 1, 2, 3);
    scl_settings_destroy(&settings);
  }
  for (size_t i = 0; i < count; i++) {
    free(names[i]);
    free(words[i]);
  }
}

static void read_component(const uint8_t *data, size_t size) {
  char *text = fuzz_text(data, size);
  scl_instance *instance;
  scl_error error = {0};
  const scl_status status =
      scl_instance_from_text("kernel|nonlinearity|sampler", text, &instance, &error);
  if (status != SCL_STATUS_INTERNAL) fuzz_check(status, &error); /* INTERNAL: no such text */
  if (status == SCL_STATUS_OK) scl_instance_release(instance);
  free(text);
}

void fuzz_read(const uint8_t *data, size_t size) {
  taking t = {data, size};
  fuzz_may_keep = true;
  if (fuzz_choice(data, size, 0) == 1)
    read_given(&t);
  else
    read_component(data, size);
}
