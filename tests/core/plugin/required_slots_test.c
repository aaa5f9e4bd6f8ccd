/* Abilities that no specimen of tests/interface offers: a table with NULL in a required slot is
 * refused by a sentence that names ability and slot, and the same table with its slots is taken.
 * plugin_faults_test.lua has the other abilities, and reads the rows of `slots` below, so that none
 * is forgotten. */
#include "plugin/check.h"
#include <scullery/plugin.h>
#include <stdio.h>
#include <string.h>

static int failures;

static void expect(bool holds, const char *what, const char *more) {
  if (holds) return;
  failures++;
  (void)fprintf(stderr, "required_slots_test: %s: %s\n", what, more);
}

/* ------------ plugins that offer one ability */

static scl_status draw(const void *self, const scl_draw *asked, const scl_parameters *out,
                       scl_error *error) {
  (void)self, (void)asked, (void)out, (void)error;
  return SCL_STATUS_OK;
}

static scl_status gram(const void *self, const scl_const_parameters *u,
                       const scl_const_parameters *v, double *out, ptrdiff_t stride,
                       scl_error *error) {
  (void)self, (void)u, (void)v, (void)out, (void)stride, (void)error;
  return SCL_STATUS_OK;
}

SCL_LOSS_LOOP(value, (f - y) * (f - y) / 2)
SCL_LOSS_LOOP(slope, f - y)

static const scl_plugin sampler = {.name = "offers",
                                   .summary = "offers one ability",
                                   .doc = "Of a test.",
                                   SCL_SAMPLER(.space = SCL_SPACE_DENSE, .draw = draw)};
static const scl_plugin kernel = {.name = "offers",
                                  .summary = "offers one ability",
                                  .doc = "Of a test.",
                                  SCL_KERNEL(.spaces = SCL_BIT(SCL_SPACE_DENSE), .gram = gram)};
static const scl_plugin loss = {
    .name = "offers",
    .summary = "offers one ability",
    .doc = "Of a test.",
    SCL_LOSS(.targets = SCL_TARGETS_NUMBERS, .value = value, .slope = slope)};

/* ------------ their tables */

#define SLOT(type, member) .slot = #member, .size = sizeof(type), .offset = offsetof(type, member)

static const struct {
  const scl_plugin *plugin;
  const char *id, *slot;
  size_t size, offset;
} slots[] = {
    {&sampler, SCL_ABILITY_COLUMNS, SLOT(scl_ability_columns, column)},
    {&sampler, SCL_ABILITY_PREPARE, SLOT(scl_ability_prepare, prepare)},
    {&sampler, SCL_ABILITY_PREPARE, SLOT(scl_ability_prepare, release)},
    {&kernel, SCL_ABILITY_PREPARE, SLOT(scl_ability_prepare, prepare)},
    {&kernel, SCL_ABILITY_PREPARE, SLOT(scl_ability_prepare, release)},
    {&loss, SCL_ABILITY_LOSS_CURVATURE, SLOT(scl_ability_loss_curvature, curvature)},
    {&loss, SCL_ABILITY_LOSS_CONJUGATE, SLOT(scl_ability_loss_conjugate, conjugate)},
    {&loss, SCL_ABILITY_LOSS_PROXIMAL, SLOT(scl_ability_loss_proximal, proximal)},
    {&loss, SCL_ABILITY_LOSS_PROBABILITY, SLOT(scl_ability_loss_probability, probability)},
    {&loss, SCL_ABILITY_LOSS_MEAN, SLOT(scl_ability_loss_mean, mean)},
};
enum { SLOTS = sizeof slots / sizeof *slots };

static void some_function(void) {}

/* A table of `size` bytes whose slots all hold a function, which is never called. */
typedef struct table {
  scl_head head;
  void (*slots[8])(void);
} table;

static table full_table(size_t size) {
  table out = {.head = {SCL_ABI, (uint32_t)size}};
  for (size_t i = 0; i < sizeof out.slots / sizeof *out.slots; i++)
    out.slots[i] = some_function;
  return out;
}

static void test_slot(size_t k) {
  char words[100];
  scl_error error = {0};
  table own = full_table(slots[k].size);
  const scl_ability offers[] = {{slots[k].id, &own}, {NULL, NULL}};
  scl_plugin plugin = *slots[k].plugin;
  plugin.abilities = offers;
  expect(scl_check_plugin(&plugin, &error) == SCL_STATUS_OK, slots[k].id, error.message);
  memset((unsigned char *)&own + slots[k].offset, 0, sizeof own.slots[0]);
  expect(scl_check_plugin(&plugin, &error) == SCL_STATUS_UNSUPPORTED, slots[k].slot, "NULL, taken");
  (void)snprintf(words, sizeof words, "ability \"%s\"", slots[k].id);
  expect(strstr(error.message, words) != NULL, words, error.message);
  (void)snprintf(words, sizeof words, "'%s' is NULL", slots[k].slot);
  expect(strstr(error.message, words) != NULL, words, error.message);
}

int main(void) {
  for (size_t k = 0; k < SLOTS; k++)
    test_slot(k);
  return failures == 0 ? 0 : 1;
}
