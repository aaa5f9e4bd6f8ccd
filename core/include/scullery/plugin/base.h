/* scullery/plugin/base.h: definitions that all other headers use: the head of a table, how tables
 * grow, status and error. */
#ifndef SCULLERY_PLUGIN_BASE_H
#define SCULLERY_PLUGIN_BASE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SCL_ABI 1u

/* 64-bit platforms whose long has 64 bits. */
#ifdef __cplusplus
static_assert(sizeof(void *) == 8 && sizeof(long) == 8, "Scullery runs on LP64 platforms");
#else
_Static_assert(sizeof(void *) == 8 && sizeof(long) == 8, "Scullery runs on LP64 platforms");
#endif

/* C11 does not define them. */
#define SCL_PI 3.14159265358979323846
#define SCL_SQRT2 1.41421356237309504880

#if defined(__GNUC__)
#define SCL_EXPORT __attribute__((visibility("default")))
#define SCL_MAY_BE_UNUSED __attribute__((unused))
#define SCL_PRINTF(format, first) __attribute__((__format__(__printf__, format, first)))
#else
#define SCL_EXPORT
#define SCL_MAY_BE_UNUSED
#define SCL_PRINTF(format, first)
#endif

/* ------------ tables and their growth
 *
 * A *table* is a struct whose first member is an scl_head. Its owner writes SCL_ABI and its own
 * sizeof there. Later versions of interface 1 append members and change nothing else, so
 *
 *  - a reader looks at a member only where SCL_HAS(table, member);
 *  - a writer fills in member by member, and only members that the owner's table has:
 *    every table has those of version 1, up to SCL_LEAST_NAME;
 *  - host and plugin never assign (*a = *b) a table that the other made: SCL_COPY copies the
 *    members that both know;
 *  - members named `reserved` are 0.
 *
 * SCL_LEAST_NAME is the size that version 1 requires of a table. A shorter one is refused with a
 * sentence. Members after it may be missing, which means the same as zero. Tables are never passed
 * as arrays; scl_option rows are an array whose stride the descriptor states, and grow as tables
 * do.
 *
 * A *record* has no head and never changes: scl_head, scl_error, scl_base, scl_value, scl_part,
 * scl_ability, scl_address, scl_block, scl_const_block, scl_spread, scl_array, scl_const_csr,
 * scl_csr_block.
 *
 * An *enumeration* is a list of constants and a 32-bit type: `enum { SCL_KIND_SAMPLER, ... };
 * typedef int32_t scl_kind;`. The names of its constants begin with its name. A set of them is a
 * uint32_t of SCL_BIT(constant). Constants may be appended. Unknown constants: refuse an unknown
 * kind, form, space, dtype or store; treat an unknown family as SCL_FAMILY_OTHER; ignore an unknown
 * role, ability or bit of a set. Flags (members named `flags`): ignore an unknown one of the lower
 * 16 bits, and refuse one of the upper 16 bits: a table that sets it is wrong without it. */
typedef struct scl_head {
  uint32_t abi;  /* SCL_ABI */
  uint32_t size; /* sizeof the whole table, as its owner knows it */
} scl_head;

#define SCL_HEAD(type) \
  { SCL_ABI, (uint32_t)sizeof(type) }

/* The first members of the table of a kind: SCL_TABLE(scl_sampler, SCL_KIND_SAMPLER) */
#define SCL_TABLE(type, kind_) .head = SCL_HEAD(type), .kind = kind_

/* The bytes of a table up to and including a member. */
#define SCL_THROUGH(type, member) (offsetof(type, member) + sizeof(((type *)0)->member))

/* Whether the owner of the table (a pointer to a struct with a head) has this member. */
#define SCL_HAS(table, member) \
  ((size_t)((const char *)(&(table)->member + 1) - (const char *)(table)) <= (table)->head.size)

/* *to = *from for the members that both tables have; other members of *to become 0. */
#define SCL_COPY(to, from) scl_copy_table((to), sizeof *(to), (from))
static inline void scl_copy_table(void *to, size_t size, const void *from) {
  const scl_head head = {SCL_ABI, (uint32_t)size};
  const size_t theirs = ((const scl_head *)from)->size;
  memset(to, 0, size);
  memcpy(to, from, theirs < size ? theirs : size);
  memcpy(to, &head, sizeof head);
}

#define SCL_BIT(constant) (1u << (unsigned)(constant))
#define SCL_FLAGS_REQUIRED 0xffff0000u /* the flags that a host has to understand */

/* ------------ status and error */

enum {
  SCL_STATUS_OK = 0,
  SCL_STATUS_BAD_OPTION,  /* an option's value, or two options that contradict each other */
  SCL_STATUS_BAD_SHAPE,   /* numbers of rows or columns that do not match */
  SCL_STATUS_BAD_DATA,    /* NaN, infinity, a number outside the domain, a damaged file */
  SCL_STATUS_UNSUPPORTED, /* parts that do not fit together; the sentence names parts that do */
  SCL_STATUS_NO_MEMORY,
  SCL_STATUS_NUMERIC,   /* singular, overflow, no convergence */
  SCL_STATUS_CANCELLED, /* the user stopped it */
  SCL_STATUS_IO,
  SCL_STATUS_INTERNAL /* the plugin or the host violates this interface */
};
typedef int32_t scl_status;

/* Filled in by scl_host.fail. A pointer to it may be NULL: the caller needs only the status. */
typedef struct scl_error {
  scl_status status;
  char message[1020];
} scl_error;

/* ------------ kinds of plugins */

enum {
  SCL_KIND_SAMPLER = 0,
  SCL_KIND_NONLINEARITY,
  SCL_KIND_KERNEL,
  SCL_KIND_SOLVER,
  SCL_KIND_TRANSPORT,
  SCL_KIND_STAGE,
  SCL_KIND_METRIC,
  SCL_KIND_LOSS,
  SCL_KIND_READER
};
typedef int32_t scl_kind;

/* A slot `formula` whose text does not depend on options. */
#define SCL_FORMULA(name, words) \
  SCL_MAY_BE_UNUSED static int name(const void *self, char *text, size_t size) { \
    (void)self; \
    return scl_write_text(words, text, size); \
  }
/* Copies a text as snprintf does, and returns its length. */
static inline int scl_write_text(const char *from, char *text, size_t size) {
  const size_t length = strlen(from), kept = length < size ? length : size - (size > 0);
  if (size == 0) return (int)length;
  memcpy(text, from, kept);
  text[kept] = '\0';
  return (int)length;
}

#endif
