/* Files from the network, whole, checked, or not at all. */
#ifndef SCULLERY_FETCH_H
#define SCULLERY_FETCH_H

#include "base/memory.h"
#include <stdbool.h>

/* Fetch an http or https address to path, following up to 8 redirects, each where
 * scl_fetch_may_follow. The answer must be 200; sha256 (64 lower-case hexadecimal digits) may be
 * NULL. On any failure (network, server, size, digest, disk, Ctrl-C) nothing stays and the sentence
 * says what to do by hand. */
scl_status scl_fetch(const char *url, const char *path, const char *sha256, scl_error *error);
/* From http to http or https, from https to https alone: what began verified stays so. */
bool scl_fetch_may_follow(const char *from, const char *to);
/* The digest of a file as 64 hexadecimal digits and a 0. */
scl_status scl_sha256_file(const char *path, char digest[65], scl_error *error);

#endif
