/* An object with an entry (scullery/plugin/entry.h): the list is made at run time, and `init` and
 * `deinit` say that they ran. SCULLERY_TEST_ENTRY: "refuse": init fails; "bad id": a component is
 * refused after init; "empty": there is no list. */
#include <scullery/plugin.h>
#include <stdio.h>
#include <stdlib.h>

static const scl_host *host;
static char names[2][32];
static const char *asked = "";

static void loop(const void *self, size_t count, const double *z, double *out) {
  (void)self;
  for (size_t j = 0; j < count; j++)
    out[j] = 2 * z[j];
}

/* A slot without a status, which fails on negative numbers. */
static void careful(const void *self, size_t count, const double *z, double *out) {
  (void)self;
  for (size_t j = 0; j < count; j++) {
    if (z[j] < 0) {
      host->fail_call(SCL_STATUS_BAD_DATA, "it takes no number below 0, and got %g", z[j]);
      return;
    }
    out[j] = sqrt(z[j]);
  }
}

static scl_plugin made[2] = {
    {SCL_NONLINEARITY(.spaces = SCL_SPACES_RIDGE, .loop = loop), .id = "org.example.doubled"},
    {SCL_NONLINEARITY(.spaces = SCL_SPACES_RIDGE, .loop = careful), .id = "org.example.root"}};
static const scl_plugin *const list[2] = {&made[0], &made[1]};
static scl_plugin_list plugins = {SCL_HEAD(scl_plugin_list), 2, 0, list};

static scl_status init(const scl_host *offered, const char *path, scl_error *error) {
  const char *word = getenv("SCULLERY_TEST_ENTRY");
  host = offered;
  asked = word == NULL ? "" : word;
  (void)printf("init of %s by %s\n", strrchr(path, '/') + 1, host->name);
  if (strcmp(asked, "refuse") == 0)
    return host->fail(error, SCL_STATUS_UNSUPPORTED, "there is no device");
  if (strcmp(asked, "bad id") == 0) made[1].id = "no_domain";
  return SCL_STATUS_OK;
}

static void deinit(void) { (void)puts("deinit"); }

static const scl_plugin_list *get(void) {
  static const char *const words[2] = {"doubled", "root"};
  for (int i = 0; i < 2; i++) {
    (void)snprintf(names[i], sizeof names[i], "%s_%s", words[i], "here");
    made[i].name = names[i];
    made[i].summary = "made at run time";
    made[i].doc = "For tests of scullery_entry.";
  }
  return strcmp(asked, "empty") == 0 ? NULL : &plugins;
}

const scl_entry scullery_entry = {SCL_HEAD(scl_entry), init, deinit, get};
