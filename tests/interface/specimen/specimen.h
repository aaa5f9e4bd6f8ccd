/* Specimens: small plugins of every kind, in every form and with every ability, for
 * interface_test.lua and plugin_faults_test.lua. Before the host sees them their tables are copied
 * into memory of exactly the size that their heads state, and changed as a script says (dress.c).
 * At run time the script makes a slot misbehave (upset.c). */
#ifndef SPECIMEN_H
#define SPECIMEN_H

#include <scullery/plugin.h>

extern const scl_plugin specimen_plain, specimen_general, specimen_split, specimen_lattice,
    specimen_rotated, specimen_few, specimen_shared, specimen_pupil, specimen_wrapper;
extern const scl_plugin specimen_wave, specimen_waves, specimen_side, specimen_cell, specimen_ramp;
extern const scl_plugin specimen_bell, specimen_long, specimen_twice;
extern const scl_plugin specimen_square, specimen_mean;
/* Right plugins without more, on which the script puts wrong slots. */
extern const scl_plugin specimen_normal, specimen_column, specimen_pairs, specimen_pitches,
    specimen_turned, specimen_taught, specimen_logistic, specimen_descent, specimen_centred,
    specimen_guess, specimen_fitted;

/* The descriptor of one: its table by SCL_SAMPLER(...) and the like. */
#define SPECIMEN(word, text, ...) \
  const scl_plugin specimen_##word = {__VA_ARGS__, .name = #word, .summary = (text), \
                                      .doc = text ", as the comment beside it in the tests says"}

/* ------------ the script (dress.c)
 *
 * Lines for run time: "at SLOT VERB ...". The lines of a slot are asked for one by one. */
const char *script_line(const char *slot, const char *verb, size_t *from);
/* Place and bytes of a member of version 1; 0 bytes where there is none. */
size_t member_place(const char *type, const char *member, size_t *size);
/* Write a value, as a line says it ("int 7", "double nan", "null", "text abc"), to `size` bytes. */
void write_value(void *to, size_t size, const char *value);

/* ------------ misbehaviour (upset.c)
 *
 * SLOT is "COMPONENT.slot". upset: at the start of a slot; what it returns is the slot's status
 * where that is not SCL_STATUS_OK. disturb...: at its end, what it has written. */
scl_status upset(const scl_host *host, const char *slot, scl_error *error);
void disturb(const char *slot, const char *type, void *table);
void disturb_numbers(const char *slot, double *numbers, size_t count);
void disturb_integers(const char *slot, int32_t *numbers, size_t count);
/* A number, or a text, that the slot is to give in place of its own. */
double disturbed(const char *slot, double own);
const char *disturbed_text(const char *slot, const char *own, char text[200]);

/* How many of `count` numbers the slot is to compute. */
size_t disturbed_count(const char *slot, size_t count);

#define UPSET(host, slot, error) \
  do { \
    const scl_status upset_ = upset(host, slot, error); \
    if (upset_ != SCL_STATUS_OK) return upset_; \
  } while (0)

/* ------------ wrong functions (faults_*.c)
 *
 * For "put PIECE MEMBER NAME" of the script: functions that stand in for a slot. */
typedef struct fault {
  const char *name;
  void (*function)(void);
} fault;
#define FAULT(name) \
  { #name, (void (*)(void))name }
extern const fault faults_of_kernels[], faults_of_nonlinearities[], faults_of_instances[],
    faults_of_samplers[], faults_of_solvers[], faults_of_abilities[];

/* ------------ tables that cross the boundary */

/* Built with a later header (SPECIMEN_LATER) the specimen knows members that this host does not
 * have, and the host must not claim them. */
#ifdef SPECIMEN_LATER
#define CHECK_VIEW(host, table, error) \
  if (SCL_HAS(table, later)) \
  return (host)->fail(error, SCL_STATUS_INTERNAL, "%s claims members that it does not have", #table)
#else
#define CHECK_VIEW(host, table, error) (void)(table), (void)(error)
#endif

/* A table for the host to fill in, with a head of `size` bytes, or as many as the script says
 * ("at SLOT size N"), and guard bytes behind. */
void *open_table(const char *slot, size_t size);
/* *table = *from, as far as both go, where it is long enough for all of version 1. */
#define FILL_TABLE(table, from) \
  do { \
    const scl_head head_ = (table)->head; \
    if (head_.size < sizeof *(table)) break; \
    SCL_COPY((table), (from)); \
    (table)->head = head_; \
  } while (0)
/* Whether the guard is whole; the memory goes back. */
int close_table(void *table);

#endif
