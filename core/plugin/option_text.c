/* Options as texts: what one takes, for help and error messages, and values as one would type
 * them. */
#include "base/text.h"
#include "plugin/instance.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* `what` ("a number") with the declared range: "a number above 0". */
static void range_text(const scl_option *option, const char *what, char text[120]) {
  const bool any = option->low == 0 && option->high == 0; /* any finite number */
  const bool low = !any && isfinite(option->low), high = !any && isfinite(option->high);
  const bool above = option->range & SCL_RANGE_LOW_OPEN,
             below = option->range & SCL_RANGE_HIGH_OPEN;
  if (low && high && !above && !below)
    (void)snprintf(text, 120, "%s from %.10g to %.10g", what, option->low, option->high);
  else if (low && high)
    (void)snprintf(text, 120, "%s %s %.10g and %s %.10g", what, above ? "above" : "of at least",
                   option->low, below ? "below" : "at most", option->high);
  else if (low)
    (void)snprintf(text, 120, "%s %s %.10g", what, above ? "above" : "of at least", option->low);
  else if (high)
    (void)snprintf(text, 120, "%s %s %.10g", what, below ? "below" : "of at most", option->high);
  else
    (void)snprintf(text, 120, "%s", what);
}

/* What follows lists in the text. */
enum { AFTER_LISTS = SCL_FORM_WORD | SCL_FORM_NAMED | SCL_FORM_PARTS | SCL_FORM_OPAQUE };

/* A text that is too long is cut (scl_append). */
const char *scl_option_takes(const scl_option *option, char *text, size_t size) {
  size_t used = 0;
  char part[120];
  text[0] = 0;
  if (option->forms & (SCL_FORM_NUMBER | SCL_FORM_INTEGER)) {
    range_text(option, option->forms & SCL_FORM_NUMBER ? "a number" : "a whole number", part);
    used = scl_append(text, size, used, part);
  }
  if (option->forms & SCL_FORM_BOOLEAN)
    used = scl_append(text, size, used, used ? ", true or false" : "true or false");
  if (option->forms & SCL_FORM_LIST) {
    range_text(option, "numbers", part);
    const bool last = !(option->forms & AFTER_LISTS) && option->width == SCL_WIDTH_NONE;
    if (used > 0) used = scl_append(text, size, used, last ? ", or " : ", ");
    used = scl_append(text, size, used, "a list of ");
    used = scl_append(text, size, used, part);
  }
  if (option->forms & SCL_FORM_WORD && option->words != NULL) {
    used = scl_append(text, size, used, used ? ", one of " : "one of ");
    for (const char *at = option->words; *at != 0; at++) {
      const char letter[2] = {*at, 0};
      used = scl_append(text, size, used, *at == '|' ? ", " : letter);
    }
  } else if (option->forms & SCL_FORM_WORD) {
    used = scl_append(text, size, used, used ? ", a text" : "a text");
  }
  if (option->forms & SCL_FORM_NAMED) {
    used = scl_append(text, size, used,
                      used ? ", {name = number} with one of " : "{name = number} with one of ");
    used = scl_append(text, size, used, option->words == NULL ? "any name" : option->words);
  }
  if (option->forms & SCL_FORM_PARTS) {
    used = scl_append(text, size, used, used ? ", sc." : "sc.");
    used = scl_append(text, size, used, option->words);
    used =
        scl_append(text, size, used,
                   option->store == SCL_STORE_PART ? ".NAME{...}" : ".NAME{...} or a list of such");
  }
  if (option->forms & SCL_FORM_OPAQUE && option->words != NULL) {
    used = scl_append(text, size, used, used ? ", " : "");
    used = scl_append(text, size, used, option->words);
  }
  if (option->width != SCL_WIDTH_NONE)
    (void)scl_append(text, size, used, ", \"scale\" or \"median\"");
  return text;
}

/* The shortest decimal number that reads back as the same double. */
static void shortest_number(double number, char text[40]) {
  if (isnan(number)) number = fabs(number); /* "nan", whatever its sign */
  for (int digits = 6; digits <= 17; digits++) {
    (void)snprintf(text, 40, "%.*g", digits, number);
    if (strtod(text, NULL) == number) return;
  }
}

/* Append the numbers of a list, separated by commas, as many as there is room for, then "...".
 * Returns the new length, as scl_append does. */
static size_t append_list(const scl_value *value, char *text, size_t size, size_t used) {
  char number[40];
  for (size_t i = 0; i < value->length; i++) {
    if (i > 0) used = scl_append(text, size, used, ", ");
    if (used + sizeof number > size) return scl_append(text, size, used, "...");
    shortest_number(value->list[i], number);
    used = scl_append(text, size, used, number);
  }
  return used;
}

const char *scl_value_text(const scl_value *value, char *text, size_t size) {
  char number[40];
  size_t used = 0;
  text[0] = 0;
  if (value->form & SCL_FORM_BOOLEAN) {
    (void)scl_append(text, size, used, value->number != 0 ? "true" : "false");
  } else if (value->form & SCL_FORM_LIST) {
    used = scl_append(text, size, used, "{");
    (void)scl_append(text, size, append_list(value, text, size, used), "}");
  } else if (value->form & SCL_FORM_NAMED) {
    used = scl_append(text, size, used, "{");
    used = scl_append(text, size, used, value->word);
    used = scl_append(text, size, used, value->length > 1 ? " = {" : " = ");
    used = append_list(value, text, size, used);
    (void)scl_append(text, size, used, value->length > 1 ? "}}" : "}");
  } else if (value->form & SCL_FORM_WORD) {
    used = scl_append(text, size, used, "\"");
    used = scl_append(text, size, used, value->word);
    (void)scl_append(text, size, used, "\"");
  } else if (value->form & (SCL_FORM_NUMBER | SCL_FORM_INTEGER)) {
    shortest_number(value->number, number);
    (void)scl_append(text, size, used, number);
  } else if (value->form & SCL_FORM_PARTS) {
    (void)scl_append(text, size, used, value->length == 1 ? "a component" : "a list of components");
  } else if (value->form & SCL_FORM_OPAQUE) {
    (void)scl_append(text, size, used, value->word == NULL ? "a value" : value->word);
  } else {
    (void)scl_append(text, size, used, "nil");
  }
  return text;
}

const char *scl_settings_text(const scl_settings *settings, char *text, size_t size) {
  char value[300];
  size_t used = 0;
  text[0] = 0;
  for (size_t i = 0; i < settings->count; i++) {
    if (settings->values[i].form == 0) continue;
    if (used > 0) used = scl_append(text, size, used, ", ");
    used = scl_append(text, size, used, settings->options[i].name);
    used = scl_append(text, size, used, " = ");
    used = scl_append(text, size, used, scl_setting_text(settings, i, value, sizeof value));
  }
  return text;
}

/* Append a component with its settings: "kernel.gaussian{width = 2}". */
static size_t append_part(const scl_instance *part, char *text, size_t size, size_t used) {
  char settings[300];
  used = scl_append(text, size, used, scl_kind_name(part->component->plugin.kind));
  used = scl_append(text, size, used, ".");
  used = scl_append(text, size, used, scl_instance_name(part));
  used = scl_append(text, size, used, "{");
  used =
      scl_append(text, size, used, scl_settings_text(&part->settings, settings, sizeof settings));
  return scl_append(text, size, used, "}");
}

const char *scl_setting_text(const scl_settings *settings, size_t i, char *text, size_t size) {
  const scl_value *value = &settings->values[i];
  if (!(value->form & SCL_FORM_PARTS) || settings->parts[i] == NULL)
    return scl_value_text(value, text, size);
  size_t used = scl_append(text, size, 0, value->length == 1 ? "" : "{");
  for (size_t k = 0; k < value->length; k++) {
    if (k > 0) used = scl_append(text, size, used, ", ");
    used = append_part(settings->parts[i][k], text, size, used);
  }
  if (value->length != 1) (void)scl_append(text, size, used, "}");
  return text;
}
