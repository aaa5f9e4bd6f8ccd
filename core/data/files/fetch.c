/* Fetches files over http and https by libcurl, which is loaded on first use. Called by
 * core/lua/data.c. */
#define _POSIX_C_SOURCE 200809L
#include "data/files/fetch.h"

#include "base/interrupt.h"
#include "base/progress.h"
#include "base/text.h"
#include "data/files/digest.h"
#include "data/files/file.h"
#include "data/files/output.h"
#include <curl/curl.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* The functions of libcurl that are used. It is not linked: loading it and its libraries takes
 * longer than loading all the rest, and few runs need it. */
typedef struct library {
  CURL *(*init)(void);
  CURLcode (*setopt)(CURL *handle, CURLoption option, ...);
  CURLcode (*perform)(CURL *handle);
  CURLcode (*getinfo)(CURL *handle, CURLINFO info, ...);
  void (*cleanup)(CURL *handle);
  const char *(*strerror)(CURLcode code);
} library;

/* Writes the address of a function to *function. dlsym returns an object pointer, and POSIX
 * guarantees that it can hold a function's. */
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

enum { MOST_REDIRECTS = 8 };

typedef struct transfer {
  const library *curl;
  CURL *handle;
  const char *url, *path; /* as they were asked for */
  char *at;               /* where the last redirect led */
  scl_output *output;
  scl_digest digest;
  curl_off_t taken;
  char why[CURL_ERROR_SIZE]; /* libcurl's own words on what went wrong */
  scl_progress progress;
} transfer;

static long answer_of(const transfer *t) {
  long answer = 0;
  (void)t->curl->getinfo(t->handle, CURLINFO_RESPONSE_CODE, &answer);
  return answer;
}

/* libcurl's write function. The body of an answer other than 200 (a redirect's page) is counted and
 * dropped. Any return but size * count ends the transfer. */
static size_t take(char *bytes, size_t size, size_t count, void *context) {
  transfer *t = context;
  t->taken += (curl_off_t)(size * count);
  if (t->taken > MOST_BYTES) return 0;
  if (answer_of(t) != 200) return size * count;
  scl_output_write(t->output, bytes, size * count);
  scl_digest_add(&t->digest, bytes, size * count);
  return scl_output_failed(t->output) ? 0 : size * count;
}

/* libcurl's progress function; not 0 ends the transfer (Ctrl-C). */
static int watch(void *context, curl_off_t total, curl_off_t done, curl_off_t up_total,
                 curl_off_t up_done) {
  transfer *t = context;
  (void)up_total;
  (void)up_done;
  t->progress.total = (double)total;
  if (total > 0) scl_progress_report(&t->progress, (double)done);
  return scl_interrupted();
}

static CURLcode prepare(transfer *t) {
  const library *curl = t->curl;
  CURL *handle = t->handle;
  (void)curl->setopt(handle, CURLOPT_ERRORBUFFER, t->why);
  (void)curl->setopt(handle, CURLOPT_FOLLOWLOCATION, 0L); /* scl_fetch_may_follow decides */
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
  /* An address must not reach the files of this machine. */
  return curl->setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
}

/* ------------ redirects */

static bool is_of(const char *url, const char *scheme) {
  const size_t length = strlen(scheme);
  return strncasecmp(url, scheme, length) == 0 && strncmp(url + length, "://", 3) == 0;
}

bool scl_fetch_may_follow(const char *from, const char *to) {
  return is_of(to, "https") || (is_of(to, "http") && is_of(from, "http"));
}

/* *next = the address that the answer redirects to; NULL where it does not. An address that must
 * not be followed is an error. */
static scl_status next_address(transfer *t, const char **next, scl_error *error) {
  char *to = NULL;
  *next = NULL;
  (void)t->curl->getinfo(t->handle, CURLINFO_REDIRECT_URL, &to);
  if (to == NULL) return SCL_STATUS_OK;
  if (!scl_fetch_may_follow(t->at, to))
    return scl_fail(error, SCL_STATUS_IO,
                    "%s: the server leads from %.200s to %.200s, which is not followed: redirects "
                    "stay within http and https, and within https; nothing was kept. The file can "
                    "be put by hand at %s",
                    t->url, t->at, to, t->path);
  char *kept = scl_copy_text(to);
  if (kept == NULL) return scl_fail_memory(error, strlen(to), "an address");
  scl_release(t->at);
  *next = t->at = kept;
  return SCL_STATUS_OK;
}

/* ------------ the whole of it */

/* The error for a transfer that ended with `code`, or with an answer other than 200. */
static scl_status refuse(const transfer *t, CURLcode code, scl_error *error) {
  const long answer = answer_of(t);
  if (code == CURLE_ABORTED_BY_CALLBACK || scl_interrupted()) {
    scl_interrupt_clear();
    return scl_fail(error, SCL_STATUS_CANCELLED, "interrupted! (%s was not fetched)", t->url);
  }
  if (code == CURLE_HTTP_RETURNED_ERROR || code == CURLE_OK)
    return scl_fail(error, SCL_STATUS_IO,
                    "%s: the server answered %ld where 200 is taken; nothing was kept. The file "
                    "can be put by hand at %s",
                    t->url, answer, t->path);
  if (code == CURLE_FILESIZE_EXCEEDED || t->taken > MOST_BYTES)
    return scl_fail(error, SCL_STATUS_IO,
                    "%s: the file is larger than 4 GB, which no data set here is; nothing was kept",
                    t->url);
  return scl_fail(error, SCL_STATUS_IO,
                  "%s: %s; nothing was kept. Without a network, put the file by hand at %s", t->url,
                  t->why[0] != 0 ? t->why : t->curl->strerror(code), t->path);
}

/* Follows redirects by itself, so that each address is checked before it is used. */
static scl_status transfer_all(transfer *t, scl_error *error) {
  CURLcode code = prepare(t);
  const char *next = t->url;
  for (int hops = 0; code == CURLE_OK && next != NULL; hops++) {
    if (hops > MOST_REDIRECTS)
      return scl_fail(error, SCL_STATUS_IO,
                      "%s: the server leads on more than %d times; nothing was kept", t->url,
                      MOST_REDIRECTS);
    (void)t->curl->setopt(t->handle, CURLOPT_URL, next);
    code = t->curl->perform(t->handle);
    if (code == CURLE_OK) SCL_TRY(next_address(t, &next, error));
  }
  if (code == CURLE_OK && answer_of(t) == 200) return SCL_STATUS_OK;
  if (code == CURLE_WRITE_ERROR && t->taken <= MOST_BYTES && scl_output_failed(t->output))
    return SCL_STATUS_OK; /* commit says why */
  return refuse(t, code, error);
}

static scl_status check_digest(transfer *t, const char *sha256, scl_error *error) {
  char text[SCL_DIGEST_TEXT + 1];
  scl_digest_text(&t->digest, text);
  if (sha256 == NULL || strcmp(text, sha256) == 0 || scl_output_failed(t->output))
    return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_BAD_DATA,
                  "%s: the file that came has sha256 %s where %s is expected; nothing was kept",
                  t->url, text, sha256);
}

scl_status scl_fetch(const char *url, const char *path, const char *sha256, scl_error *error) {
  library curl = {0};
  transfer t = {.curl = &curl, .url = url, .path = path};
  SCL_TRY(load(&curl, error));
  SCL_TRY(scl_output_open(path, &t.output, error));
  t.progress = scl_progress_begin("fetching", "bytes", 0);
  scl_digest_open(&t.digest);
  t.at = scl_copy_text(url);
  t.handle = curl.init();
  scl_status status = t.at == NULL || t.handle == NULL ? scl_fail_memory(error, 0, "a transfer")
                                                       : transfer_all(&t, error);
  scl_progress_end(&t.progress);
  if (t.handle != NULL) curl.cleanup(t.handle);
  scl_release(t.at);
  if (status == SCL_STATUS_OK) status = check_digest(&t, sha256, error);
  if (status == SCL_STATUS_OK) return scl_output_commit(t.output, error);
  scl_output_abandon(t.output);
  return status;
}

scl_status scl_sha256_file(const char *path, char digest[65], scl_error *error) {
  unsigned char buffer[65536];
  scl_digest sum;
  scl_file file;
  scl_digest_open(&sum);
  SCL_TRY(scl_file_open(path, &file, error));
  scl_status status = SCL_STATUS_OK;
  for (size_t got = 1; status == SCL_STATUS_OK && got > 0;) {
    status = scl_file_read(&file, buffer, sizeof buffer, &got, error);
    scl_digest_add(&sum, buffer, got);
  }
  scl_file_close(&file);
  if (status == SCL_STATUS_OK) scl_digest_text(&sum, digest);
  return status;
}
