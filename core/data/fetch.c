#define _POSIX_C_SOURCE 200809L
#include "data/fetch.h"

#include "base/interrupt.h"
#include "base/progress.h"
#include "data/digest.h"
#include "data/output.h"
#include <curl/curl.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* libcurl and what it brings take longer to load than all the rest, and few runs need it. */
typedef struct library {
  CURL *(*init)(void);
  CURLcode (*setopt)(CURL *handle, CURLoption option, ...);
  CURLcode (*perform)(CURL *handle);
  CURLcode (*getinfo)(CURL *handle, CURLINFO info, ...);
  void (*cleanup)(CURL *handle);
  const char *(*strerror)(CURLcode code);
} library;

/* dlsym gives an object pointer; POSIX lets it hold a function. */
static bool find(void *handle, const char *name, void *function, size_t size) {
  void *symbol = dlsym(handle, name);
  memcpy(function, &symbol, size);
  return symbol != NULL;
}

static scl_status load(library *curl, scl_error *error) {
  void *handle = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED, "libcurl is not installed: %s", dlerror());
  const bool all = find(handle, "curl_easy_init", &curl->init, sizeof curl->init) &&
                   find(handle, "curl_easy_setopt", &curl->setopt, sizeof curl->setopt) &&
                   find(handle, "curl_easy_perform", &curl->perform, sizeof curl->perform) &&
                   find(handle, "curl_easy_getinfo", &curl->getinfo, sizeof curl->getinfo) &&
                   find(handle, "curl_easy_cleanup", &curl->cleanup, sizeof curl->cleanup) &&
                   find(handle, "curl_easy_strerror", &curl->strerror, sizeof curl->strerror);
  return all ? SCL_STATUS_OK
             : scl_fail(error, SCL_STATUS_UNSUPPORTED, "libcurl lacks a function: %s", dlerror());
}

/* More than any file that a workbench would fetch by itself: a server that never ends must not fill
 * the disk. */
#define MOST_BYTES ((curl_off_t)4 << 30)

typedef struct transfer {
  scl_output *output;
  scl_digest digest;
  curl_off_t taken;
  char why[CURL_ERROR_SIZE]; /* libcurl's own words on what went wrong */
  scl_progress progress;
} transfer;

static size_t take(char *bytes, size_t size, size_t count, void *context) {
  transfer *t = context;
  t->taken += (curl_off_t)(size * count);
  if (t->taken > MOST_BYTES) return 0;
  scl_output_write(t->output, bytes, size * count);
  scl_digest_add(&t->digest, bytes, size * count);
  return size * count;
}

static int watch(void *context, curl_off_t total, curl_off_t done, curl_off_t up_total,
                 curl_off_t up_done) {
  transfer *t = context;
  (void)up_total;
  (void)up_done;
  t->progress.total = (double)total;
  if (total > 0) scl_progress_report(&t->progress, (double)done);
  return scl_interrupted();
}

/* http and https alone, redirects included: an address must not reach the files of this machine. */
static CURLcode restrict_protocols(const library *curl, CURL *handle) {
  const CURLcode code = curl->setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  return code != CURLE_OK ? code : curl->setopt(handle, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
}

static CURLcode run(const library *curl, CURL *handle, const char *url, transfer *t) {
  const CURLcode restricted = restrict_protocols(curl, handle);
  if (restricted != CURLE_OK) return restricted;
  (void)curl->setopt(handle, CURLOPT_URL, url);
  (void)curl->setopt(handle, CURLOPT_ERRORBUFFER, t->why);
  (void)curl->setopt(handle, CURLOPT_FOLLOWLOCATION, 1L);
  (void)curl->setopt(handle, CURLOPT_MAXREDIRS, 8L);
  (void)curl->setopt(handle, CURLOPT_FAILONERROR, 1L);
  (void)curl->setopt(handle, CURLOPT_NOSIGNAL, 1L);
  (void)curl->setopt(handle, CURLOPT_CONNECTTIMEOUT, 20L);
  (void)curl->setopt(handle, CURLOPT_LOW_SPEED_LIMIT, 100L);
  (void)curl->setopt(handle, CURLOPT_LOW_SPEED_TIME, 60L);
  (void)curl->setopt(handle, CURLOPT_MAXFILESIZE_LARGE, MOST_BYTES);
  (void)curl->setopt(handle, CURLOPT_USERAGENT, "scullery");
  (void)curl->setopt(handle, CURLOPT_WRITEFUNCTION, take);
  (void)curl->setopt(handle, CURLOPT_WRITEDATA, t);
  (void)curl->setopt(handle, CURLOPT_NOPROGRESS, 0L);
  (void)curl->setopt(handle, CURLOPT_XFERINFOFUNCTION, watch);
  (void)curl->setopt(handle, CURLOPT_XFERINFODATA, t);
  return curl->perform(handle);
}

static scl_status refuse(const library *curl, CURL *handle, CURLcode code, const char *url,
                         const char *path, const transfer *t, scl_error *error) {
  long answer = 0;
  (void)curl->getinfo(handle, CURLINFO_RESPONSE_CODE, &answer);
  if (code == CURLE_ABORTED_BY_CALLBACK) {
    scl_interrupt_clear();
    return scl_fail(error, SCL_STATUS_CANCELLED, "interrupted! (%s was not fetched)", url);
  }
  if (code == CURLE_HTTP_RETURNED_ERROR)
    return scl_fail(
        error, SCL_STATUS_IO,
        "%s: the server answered %ld; nothing was kept. The file can be put by hand at %s", url,
        answer, path);
  if (code == CURLE_FILESIZE_EXCEEDED || t->taken > MOST_BYTES)
    return scl_fail(error, SCL_STATUS_IO,
                    "%s: the file is larger than 4 GB, which no data set here is; nothing was kept",
                    url);
  return scl_fail(error, SCL_STATUS_IO,
                  "%s: %s; nothing was kept. Without a network, put the file by hand at %s", url,
                  t->why[0] != 0 ? t->why : curl->strerror(code), path);
}

scl_status scl_fetch(const char *url, const char *path, const char *sha256, scl_error *error) {
  library curl = {0};
  transfer t = {.progress = scl_progress_begin("fetching", "bytes", 0)};
  char text[SCL_DIGEST_TEXT + 1];
  SCL_TRY(load(&curl, error));
  SCL_TRY(scl_output_open(path, &t.output, error));
  scl_digest_open(&t.digest);
  CURL *handle = curl.init();
  if (handle == NULL) {
    scl_output_abandon(t.output);
    return scl_fail_memory(error, 0, "a transfer");
  }
  const CURLcode code = run(&curl, handle, url, &t);
  scl_progress_end(&t.progress);
  scl_status status =
      code == CURLE_OK ? SCL_STATUS_OK : refuse(&curl, handle, code, url, path, &t, error);
  curl.cleanup(handle);
  scl_digest_text(&t.digest, text);
  if (status == SCL_STATUS_OK && sha256 != NULL && strcmp(text, sha256) != 0)
    status = scl_fail(error, SCL_STATUS_BAD_DATA,
                      "%s: the file that came has sha256 %s where %s is expected; nothing was kept",
                      url, text, sha256);
  if (status == SCL_STATUS_OK) return scl_output_commit(t.output, error);
  scl_output_abandon(t.output);
  return status;
}

scl_status scl_sha256_file(const char *path, char digest[65], scl_error *error) {
  unsigned char buffer[65536];
  scl_digest sum;
  FILE *file = fopen(path, "rb");
  if (file == NULL && errno == EINTR) SCL_TRY(scl_interrupt_check(error));
  if (file == NULL) return scl_fail(error, SCL_STATUS_IO, "%s: %s", path, strerror(errno));
  scl_digest_open(&sum);
  for (size_t got; !scl_interrupted() && (got = fread(buffer, 1, sizeof buffer, file)) > 0;)
    scl_digest_add(&sum, buffer, got);
  const bool failed = ferror(file) != 0;
  (void)fclose(file);
  SCL_TRY(scl_interrupt_check(error));
  scl_digest_text(&sum, digest);
  return failed ? scl_fail(error, SCL_STATUS_IO, "%s: cannot be read", path) : SCL_STATUS_OK;
}
