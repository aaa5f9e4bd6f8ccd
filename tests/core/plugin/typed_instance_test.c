/* Components read from a text as a user types them: numbers of any size, lists up to the limit. */
#include "plugin/instance.h"
#include <stdio.h>
#include <string.h>

static int failures;

/* Reads the text and compares the status, and the message where it fails. */
static void expect(const char *text, scl_status wanted, const char *said) {
  scl_instance *instance = NULL;
  scl_error error = {0};
  const scl_status status = scl_instance_from_text("sampler", text, &instance, &error);
  if (status == SCL_STATUS_OK) scl_instance_release(instance);
  if (status == wanted && (said == NULL || strstr(error.message, said) != NULL)) return;
  failures++;
  (void)fprintf(stderr, "typed_instance_test: %s: status %d, %s\n", text, (int)status,
                status == SCL_STATUS_OK ? "read" : error.message);
}

/* Reads gaussian with a list of so many numbers as sigma. */
static void list(size_t count, scl_status wanted) {
  char text[256] = "gaussian{sigma = {";
  for (size_t i = 0; i < count; i++)
    strncat(text, i == 0 ? "1" : ", 1", sizeof text - strlen(text) - 1);
  strncat(text, "}}", sizeof text - strlen(text) - 1);
  expect(text, wanted, NULL);
}

int main(void) {
  expect("sparse{degree = 3}", SCL_STATUS_OK, NULL);
  expect("sparse{degree = 3.5}", SCL_STATUS_BAD_OPTION, "degree");
  expect("sparse{degree = 1e300}", SCL_STATUS_BAD_OPTION, "degree");
  expect("sparse{degree = -1e300}", SCL_STATUS_BAD_OPTION, "degree");
  expect("sparse{degree = inf}", SCL_STATUS_BAD_OPTION, "degree");
  expect("sparse{degree = nan}", SCL_STATUS_BAD_OPTION, "degree");
  expect("gaussian{sigma = }", SCL_STATUS_INTERNAL, "not a component as one would type it");
  list(1, SCL_STATUS_OK);
  list(16, SCL_STATUS_OK);
  list(17, SCL_STATUS_INTERNAL);
  (void)printf("typed_instance_test: %d failures\n", failures);
  return failures != 0;
}
