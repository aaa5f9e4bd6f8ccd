/* Fitting in other programs (scullery/fit.h): what rows and targets in their forms give, the same as
 * each other; progress, stops and turns; wrong arguments. */
#define _POSIX_C_SOURCE 200809L
#include <scullery/fit.h>
#include <scullery/scullery.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROWS = 200, COLUMNS = 3 };

static int failures;

static void fail(int line, const char *what, const char *more) {
  (void)fprintf(stderr, "line %d: %s: %s\n", line, what, more);
  failures++;
}
#define CHECK(condition) \
  do { \
    if (!(condition)) fail(__LINE__, #condition, "is false"); \
  } while (0)
#define WELL(call) \
  do { \
    scl_error error = {0}; \
    if ((call) != SCL_STATUS_OK) fail(__LINE__, #call, error.message); \
  } while (0)
/* A call that fails with this status, and a sentence with these words. */
#define FAILS(expected, words, call) \
  do { \
    scl_error error = {0}; \
    const scl_status status = (call); \
    if (status != (expected) || status != error.status || strstr(error.message, (words)) == NULL) \
      fail(__LINE__, #call, error.message); \
  } while (0)

static double rows[ROWS][COLUMNS], values[ROWS], labels[ROWS];
static const char *texts[ROWS];

static const char REGRESSION[] =
    "sc.pipeline{ sc.features{ p = sc.sampler.gaussian{ gamma = 0.3 }, "
    "phi = sc.nonlinearity.fourier(), T = 150, seed = 1 }, sc.solver.ridge{ lambda = 1e-6 } }";
static const char LINEAR[] = "return sc.pipeline{ sc.solver.ridge{ lambda = 1e-4 } }";

static void make_rows(void) {
  unsigned state = 1;
  for (size_t i = 0; i < ROWS; i++) {
    for (size_t j = 0; j < COLUMNS; j++) {
      state = state * 1664525u + 1013904223u;
      rows[i][j] = (double)(state >> 8) / (1 << 24) * 4 - 2;
    }
    values[i] = sin(rows[i][0]) + 0.5 * rows[i][1];
    labels[i] = values[i] > 0 ? 7 : -2;
    texts[i] = values[i] > 0 ? "above" : "below";
  }
}

static scl_table dense(void) {
  return (scl_table){.rows = ROWS, .columns = COLUMNS, .values = rows};
}
static scl_targets numbers(void) {
  return (scl_targets){.kind = SCL_TARGETS_VALUES, .values = values, .columns = 1};
}

/* What a model predicts for the rows, `width` numbers each; nothing where it was not made. */
static void predict(const void *model, size_t size, int what, double *out) {
  scl_predictor *predictor = NULL;
  int64_t starts[ROWS + 1];
  int32_t places[ROWS * COLUMNS];
  for (size_t i = 0; i <= ROWS; i++)
    starts[i] = (int64_t)(i * COLUMNS);
  for (size_t k = 0; k < sizeof places / sizeof *places; k++)
    places[k] = (int32_t)(k % COLUMNS);
  WELL(scl_predictor_load_memory(model, size, &predictor, &error));
  WELL(scl_predictor_sparse(predictor, what, SCL_DTYPE_FLOAT64, starts, places, rows, ROWS, out, 0,
                            &error));
  scl_predictor_close(predictor);
}

/* Fit, predict, release. */
static void learn(scl_session *session, const char *recipe, const scl_table *table,
                  const scl_targets *targets, double out[ROWS]) {
  void *model = NULL;
  size_t size = 0;
  WELL(scl_session_fit(session, recipe, table, targets, 0, &model, &size, &error));
  memset(out, 0, ROWS * sizeof *out);
  if (model != NULL) predict(model, size, SCL_OUTPUT_SCORES, out);
  scl_free(model);
}

static double gap(const double *a, const double *b, size_t count) {
  double most = 0;
  for (size_t i = 0; i < count; i++)
    most = fmax(most, fabs(a[i] - b[i]));
  return most;
}

static void test_a_regression_is_learnt(scl_session *session) {
  double said[ROWS];
  scl_table table = dense();
  scl_targets targets = numbers();
  learn(session, REGRESSION, &table, &targets, said);
  CHECK(gap(said, values, ROWS) < 0.05);
}

/* Rows with gaps, as sparse rows, and as float32: the same model. */
static void test_forms_of_rows(scl_session *session) {
  static double wide[ROWS][COLUMNS + 2];
  static float narrow[ROWS][COLUMNS];
  static double packed[ROWS * COLUMNS];
  int64_t starts[ROWS + 1] = {0};
  int32_t places[ROWS * COLUMNS];
  double said[ROWS], other[ROWS];
  size_t count = 0;
  for (size_t i = 0; i < ROWS; i++) {
    if (i % 3 == 0) rows[i][1] = 0;
    for (size_t j = 0; j < COLUMNS; j++) {
      wide[i][j] = rows[i][j];
      narrow[i][j] = (float)rows[i][j];
      if (rows[i][j] == 0) continue;
      places[count] = (int32_t)j;
      packed[count++] = rows[i][j];
    }
    starts[i + 1] = (int64_t)count;
  }
  scl_targets targets = numbers();
  scl_table table = dense();
  learn(session, LINEAR, &table, &targets, said);
  table.values = wide;
  table.stride = COLUMNS + 2;
  learn(session, LINEAR, &table, &targets, other);
  CHECK(gap(said, other, ROWS) == 0);
  const scl_table sparse = {
      .rows = ROWS, .columns = COLUMNS, .values = packed, .starts = starts, .places = places};
  learn(session, LINEAR, &sparse, &targets, other);
  CHECK(gap(said, other, ROWS) < 1e-10);
  const scl_table single = {
      .rows = ROWS, .columns = COLUMNS, .dtype = SCL_DTYPE_FLOAT32, .values = narrow};
  learn(session, LINEAR, &single, &targets, other);
  CHECK(gap(said, other, ROWS) < 1e-5);
  make_rows();
}

/* Labels as numbers and as texts: the same scores. A row of weight 2 is two rows. */
static void test_targets(scl_session *session) {
  static double twice[2 * ROWS][COLUMNS], both[2 * ROWS], weights[ROWS];
  double said[ROWS], other[ROWS];
  scl_table table = dense();
  scl_targets targets = {.kind = SCL_TARGETS_LABELS, .values = labels};
  learn(session, LINEAR, &table, &targets, said);
  /* The second class is that of positive scores: 7 of -2 and 7, and "below" of the texts. */
  targets = (scl_targets){.kind = SCL_TARGETS_TEXTS, .texts = texts};
  learn(session, LINEAR, &table, &targets, other);
  for (size_t i = 0; i < ROWS; i++)
    other[i] = -other[i];
  CHECK(gap(said, other, ROWS) < 1e-12);
  for (size_t i = 0; i < 2 * ROWS; i++) {
    const size_t from = i < ROWS ? i : i % 50;
    memcpy(twice[i], rows[from], sizeof twice[i]);
    both[i] = values[from];
  }
  for (size_t i = 0; i < ROWS; i++)
    weights[i] = i < 50 ? 5 : 1;
  targets =
      (scl_targets){.kind = SCL_TARGETS_VALUES, .values = values, .columns = 1, .weights = weights};
  learn(session, LINEAR, &table, &targets, said);
  table = (scl_table){.rows = 2 * ROWS, .columns = COLUMNS, .values = twice};
  targets = (scl_targets){.kind = SCL_TARGETS_VALUES, .values = both, .columns = 1};
  learn(session, LINEAR, &table, &targets, other);
  CHECK(gap(said, other, ROWS) < 1e-10);
}

/* Features, standard deviations and importances of a loaded model. */
static void test_a_loaded_pipeline(scl_session *session) {
  scl_table table = dense();
  scl_targets targets = numbers();
  void *model = NULL, *out = NULL;
  char *text = NULL;
  size_t size, n, d;
  scl_dtype dtype;
  scl_pipeline *pipeline = NULL;
  WELL(scl_session_fit(session, REGRESSION, &table, &targets, SCL_KEEP_POSTERIOR, &model, &size,
                       &error));
  WELL(scl_session_load(session, model, size, &pipeline, &error));
  scl_free(model);
  WELL(scl_pipeline_apply(pipeline, SCL_APPLY_TRANSFORM, &table, NULL, &out, &n, &d, &dtype,
                          &error));
  CHECK(n == ROWS && d == 150 && dtype == SCL_DTYPE_FLOAT64);
  for (size_t k = 0; out != NULL && k < n * d; k++)
    CHECK(fabs(((const double *)out)[k]) <= 1);
  scl_free(out);
  WELL(scl_pipeline_apply(pipeline, SCL_APPLY_DEVIATIONS, &table, NULL, &out, &n, &d, &dtype,
                          &error));
  CHECK(n == ROWS && d == 1);
  for (size_t i = 0; out != NULL && i < n; i++)
    CHECK(((const double *)out)[i] > 0 && ((const double *)out)[i] < 0.1);
  scl_free(out);
  WELL(scl_pipeline_apply(pipeline, SCL_APPLY_IMPORTANCE, &table, &targets, &out, &n, &d, &dtype,
                          &error));
  CHECK(n == COLUMNS && d == 2);
  /* the last column has no part in the values */
  CHECK(out != NULL && ((const double *)out)[4] < 0.01 && ((const double *)out)[0] > 0.3);
  scl_free(out);
  WELL(scl_pipeline_describe(pipeline, &text, &error));
  CHECK(text != NULL && strstr(text, "fitted on 200 x 3") != NULL);
  scl_free(text);
  scl_pipeline_close(pipeline);
  WELL(scl_session_help(session, "solver.ridge", &text, &error));
  CHECK(text != NULL && strstr(text, "ridge") != NULL);
  scl_free(text);
}

/* ------------ listeners */

typedef struct heard {
  scl_session *session;
  int reports, end_at;
  char line[200];
  scl_status within;
} heard;

static int on_report(void *context, const char *stage, double done, double total, double loss) {
  heard *h = context;
  scl_table table = dense();
  scl_targets targets = numbers();
  void *model;
  size_t size;
  (void)done, (void)total, (void)loss;
  CHECK(stage[0] != 0);
  if (h->reports == 0)
    h->within = scl_session_fit(h->session, LINEAR, &table, &targets, 0, &model, &size, NULL);
  return ++h->reports != h->end_at;
}

static void on_warning(void *context, const char *line) {
  heard *h = context;
  (void)snprintf(h->line, sizeof h->line, "%s", line);
}

static void test_listeners(scl_session *session) {
  double said[ROWS];
  heard h = {.session = session};
  const scl_listener listener = {&h, on_report, on_warning};
  scl_table table = dense();
  scl_targets targets = numbers();
  void *model = NULL;
  size_t size;
  WELL(scl_session_listen(session, &listener, &error));
  learn(session, REGRESSION, &table, &targets, said);
  CHECK(h.reports > 0 && h.within == SCL_STATUS_UNSUPPORTED);
  CHECK(gap(said, values, ROWS) < 0.05);
  h.end_at = h.reports + 1;
  FAILS(SCL_STATUS_CANCELLED, "stopped",
        scl_session_fit(session, REGRESSION, &table, &targets, 0, &model, &size, &error));
  CHECK(model == NULL);
  learn(session,
        "(function() io.stderr:write('scullery: ', 'a word', '\\n') return "
        "sc.pipeline{ sc.solver.ridge{ lambda = 1 } } end)()",
        &table, &targets, said);
  CHECK(strcmp(h.line, "a word") == 0);
  WELL(scl_session_listen(session, NULL, &error));
}

static atomic_bool ended;

static void *stop_soon(void *session) {
  while (!atomic_load(&ended)) {
    const struct timespec pause = {0, 5000000};
    (void)nanosleep(&pause, NULL);
    scl_session_stop(session);
  }
  return NULL;
}

static void test_a_stop(scl_session *session) {
  scl_table table = dense();
  scl_targets targets = numbers();
  void *model;
  size_t size;
  double said[ROWS];
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, stop_soon, session) == 0);
  FAILS(SCL_STATUS_CANCELLED, "interrupted",
        scl_session_fit(session, "while true do end", &table, &targets, 0, &model, &size, &error));
  atomic_store(&ended, true);
  (void)pthread_join(thread, NULL);
  learn(session, REGRESSION, &table, &targets, said);
  CHECK(gap(said, values, ROWS) < 0.05);
}

static void *stop_always(void *session) {
  while (!atomic_load(&ended))
    scl_session_stop(session);
  return NULL;
}

/* Stops that come as the call of their session ends do not reach the call of another. */
static void test_stops_of_another_session(scl_session *session) {
  scl_session *other = NULL;
  pthread_t thread;
  WELL(scl_session_open(&other, &error));
  atomic_store(&ended, false);
  CHECK(pthread_create(&thread, NULL, stop_always, other) == 0);
  for (int i = 0; i < 20; i++) {
    char *text = NULL;
    if (scl_session_help(other, "solver.ridge", &text, NULL) == SCL_STATUS_OK) scl_free(text);
    WELL(scl_session_help(session, "solver.ridge", &text, &error));
    scl_free(text);
  }
  atomic_store(&ended, true);
  (void)pthread_join(thread, NULL);
  scl_session_close(other);
}

typedef struct saved {
  void *model;
  size_t size;
} saved;

/* Loads and predicts while a call is to end and does not, as it catches what ends it. */
static void *predict_beside(void *bytes) {
  const saved *of = bytes;
  double said[ROWS];
  while (!atomic_load(&ended))
    predict(of->model, of->size, SCL_OUTPUT_SCORES, said);
  return NULL;
}

static void test_predictions_beside_a_stop(scl_session *session) {
  static const char deaf[] = "local from = os.clock()\n"
                             "while os.clock() - from < 0.2 do\n"
                             "  pcall(function() while os.clock() - from < 0.2 do end end)\n"
                             "end";
  saved of = {NULL, 0};
  scl_table table = dense();
  scl_targets targets = numbers();
  void *none;
  size_t size;
  pthread_t stopping, predicting;
  WELL(scl_session_fit(session, REGRESSION, &table, &targets, 0, &of.model, &of.size, &error));
  atomic_store(&ended, false);
  CHECK(pthread_create(&stopping, NULL, stop_soon, session) == 0);
  CHECK(pthread_create(&predicting, NULL, predict_beside, &of) == 0);
  CHECK(scl_session_fit(session, deaf, &table, &targets, 0, &none, &size, NULL) ==
        SCL_STATUS_CANCELLED);
  atomic_store(&ended, true);
  (void)pthread_join(stopping, NULL);
  (void)pthread_join(predicting, NULL);
  scl_free(of.model);
}

/* ------------ threads */

static void *fit_elsewhere(void *unused) {
  scl_session *session = NULL;
  static _Thread_local double said[ROWS];
  scl_table table = dense();
  scl_targets targets = numbers();
  (void)unused;
  WELL(scl_session_open(&session, &error));
  for (int i = 0; i < 3; i++) {
    learn(session, REGRESSION, &table, &targets, said);
    CHECK(gap(said, values, ROWS) < 0.05);
  }
  scl_session_close(session);
  return NULL;
}

static void test_sessions_of_threads(void) {
  pthread_t threads[3];
  for (size_t k = 0; k < 3; k++)
    CHECK(pthread_create(&threads[k], NULL, fit_elsewhere, NULL) == 0);
  for (size_t k = 0; k < 3; k++)
    (void)pthread_join(threads[k], NULL);
}

/* ------------ wrong arguments */

static void test_wrong_rows(scl_session *session) {
  void *model;
  size_t size;
  scl_targets targets = numbers();
  scl_table table = dense();
#define REFUSED(words) \
  FAILS(SCL_STATUS_BAD_DATA, words, \
        scl_session_fit(session, LINEAR, &table, &targets, 0, &model, &size, &error))
  rows[4][2] = NAN;
  REFUSED("row 5, column 3");
  make_rows();
  table.dtype = 9;
  REFUSED("float64 or float32");
  table = dense();
  table.stride = 2;
  REFUSED("do not fit");
  table = dense();
  table.values = NULL;
  REFUSED("has no numbers");
  table = dense();
  int64_t starts[ROWS + 1] = {0};
  int32_t places[2] = {2, 1};
  table.starts = starts;
  table.places = places;
  for (size_t i = 1; i <= ROWS; i++)
    starts[i] = 2;
  REFUSED("row 1");
  places[1] = 3;
  REFUSED("row 1 has column 4 of 3 columns");
  starts[1] = 9;
  places[1] = 2;
  REFUSED("row");
  starts[0] = 1;
  REFUSED("begin with 0");
  table = dense();
  targets.kind = 9;
  REFUSED("no kind 9");
  targets = numbers();
  targets.values = NULL;
  REFUSED("has no numbers");
  targets = numbers();
  targets.weights = rows[0];
  REFUSED("weight");
  targets = (scl_targets){.kind = SCL_TARGETS_TEXTS, .texts = texts};
  texts[6] = NULL;
  REFUSED("row 7 of the targets has no text");
  make_rows();
  table.names = (const char *const[]){"a", NULL, "c"};
  REFUSED("column 2 has no name");
#undef REFUSED
}

static void test_wrong_arguments(scl_session *session) {
  scl_table table = dense();
  scl_targets targets = numbers();
  void *model, *out;
  size_t size, n, d;
  scl_dtype dtype;
  scl_pipeline *pipeline;
#define FIT(recipe, keep) \
  scl_session_fit(session, recipe, &table, &targets, keep, &model, &size, &error)
  FAILS(SCL_STATUS_BAD_OPTION, "no recipe", FIT(NULL, 0));
  FAILS(SCL_STATUS_BAD_OPTION, "no bit 0x4", FIT(LINEAR, 4));
  FAILS(SCL_STATUS_BAD_DATA, "recipe:1:", FIT("sc.pipeline{", 0));
  FAILS(SCL_STATUS_BAD_DATA, "the recipe gives 3", FIT("3", 0));
  FAILS(SCL_STATUS_BAD_DATA, "did you mean 'ridge'", FIT("sc.pipeline{ sc.solver.rigde{} }", 0));
  FAILS(SCL_STATUS_BAD_DATA, "it takes a ridge regression",
        FIT("sc.pipeline{ sc.solver.lasso{ lambda = 1e-3 } }", SCL_KEEP_POSTERIOR));
#undef FIT
  FAILS(SCL_STATUS_BAD_DATA, "no table",
        scl_session_fit(session, LINEAR, NULL, &targets, 0, &model, &size, &error));
  FAILS(SCL_STATUS_BAD_DATA, "no y",
        scl_session_fit(session, LINEAR, &table, NULL, 0, &model, &size, &error));
  FAILS(SCL_STATUS_BAD_OPTION, "no session",
        scl_session_fit(NULL, LINEAR, &table, &targets, 0, &model, &size, &error));
  FAILS(SCL_STATUS_BAD_DATA, "no bytes", scl_session_load(session, NULL, 3, &pipeline, &error));
  FAILS(SCL_STATUS_BAD_DATA, "the model",
        scl_session_load(session, "no model", 8, &pipeline, &error));
  WELL(scl_session_fit(session, LINEAR, &table, &targets, 0, &model, &size, &error));
  WELL(scl_session_load(session, model, size, &pipeline, &error));
  scl_free(model);
  FAILS(SCL_STATUS_BAD_OPTION, "does not apply 7",
        scl_pipeline_apply(pipeline, 7, &table, NULL, &out, &n, &d, &dtype, &error));
  FAILS(SCL_STATUS_BAD_DATA, "std = true",
        scl_pipeline_apply(pipeline, SCL_APPLY_DEVIATIONS, &table, NULL, &out, &n, &d, &dtype,
                           &error));
  FAILS(SCL_STATUS_BAD_DATA, "no y",
        scl_pipeline_apply(pipeline, SCL_APPLY_IMPORTANCE, &table, NULL, &out, &n, &d, &dtype,
                           &error));
  table.columns = 2;
  table.stride = 3;
  FAILS(SCL_STATUS_BAD_DATA, "2 columns",
        scl_pipeline_apply(pipeline, SCL_APPLY_TRANSFORM, &table, NULL, &out, &n, &d, &dtype,
                           &error));
  scl_pipeline_close(pipeline);
  scl_pipeline_close(NULL);
  scl_session_stop(NULL);
  scl_session_close(NULL);
  scl_free(NULL);
}

int main(void) {
  scl_session *session = NULL;
  make_rows();
  WELL(scl_session_open(&session, &error));
  if (session == NULL) return 1;
  test_a_regression_is_learnt(session);
  test_forms_of_rows(session);
  test_targets(session);
  test_a_loaded_pipeline(session);
  test_listeners(session);
  test_a_stop(session);
  test_stops_of_another_session(session);
  test_predictions_beside_a_stop(session);
  test_wrong_rows(session);
  test_wrong_arguments(session);
  test_sessions_of_threads();
  scl_session_close(session);
  return failures == 0 ? 0 : 1;
}
