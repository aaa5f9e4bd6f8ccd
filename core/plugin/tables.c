/* The rules for the tables of kinds and abilities (their least sizes and required slots), and
 * reading tables of other sizes than this host's. */
#include "plugin/tables.h"

#include "plugin/registry.h"
#include <string.h>

/* A slot of a table, by name and place; and the sizes of a table. */
#define SLOT(type, member) \
  { #member, offsetof(type, member) }
#define TABLE(type, bytes) .least = bytes, .size = sizeof(type)

/* The rules for the tables of kinds. A nonlinearity, kernel or solver has forms without any one
 * slot, which check.c decides. */
static const scl_table_rule of_kinds[SCL_KINDS] = {
    [SCL_KIND_SAMPLER] = {TABLE(scl_sampler, SCL_LEAST_SAMPLER),
                          .either = {SLOT(scl_sampler, make), SLOT(scl_sampler, draw)}},
    [SCL_KIND_NONLINEARITY] = {TABLE(scl_nonlinearity, SCL_LEAST_NONLINEARITY)},
    [SCL_KIND_KERNEL] = {TABLE(scl_kernel, SCL_LEAST_KERNEL)},
    [SCL_KIND_SOLVER] = {TABLE(scl_solver, SCL_LEAST_SOLVER)},
    [SCL_KIND_TRANSPORT] = {TABLE(scl_transport, SCL_LEAST_TRANSPORT),
                            .required = {SLOT(scl_transport, open), SLOT(scl_transport, size),
                                         SLOT(scl_transport, rank), SLOT(scl_transport, sum),
                                         SLOT(scl_transport, maximum),
                                         SLOT(scl_transport, broadcast), SLOT(scl_transport, close),
                                         SLOT(scl_transport, abort)}},
    [SCL_KIND_STAGE] = {TABLE(scl_stage, SCL_LEAST_STAGE),
                        .either = {SLOT(scl_stage, apply), SLOT(scl_stage, column)}},
    [SCL_KIND_METRIC] = {TABLE(scl_metric, SCL_LEAST_METRIC),
                         .either = {SLOT(scl_metric, row), SLOT(scl_metric, measure)}},
    [SCL_KIND_LOSS] = {TABLE(scl_loss, SCL_LEAST_LOSS),
                       .required = {SLOT(scl_loss, value), SLOT(scl_loss, slope)}},
    [SCL_KIND_READER] = {TABLE(scl_reader, SCL_LEAST_READER),
                         .required = {SLOT(scl_reader, recognises), SLOT(scl_reader, open),
                                      SLOT(scl_reader, schema), SLOT(scl_reader, rows),
                                      SLOT(scl_reader, close)}},
};

enum {
  SAMPLER = SCL_BIT(SCL_KIND_SAMPLER),
  NONLINEARITY = SCL_BIT(SCL_KIND_NONLINEARITY),
  KERNEL = SCL_BIT(SCL_KIND_KERNEL),
  SOLVER = SCL_BIT(SCL_KIND_SOLVER),
  LOSS = SCL_BIT(SCL_KIND_LOSS)
};

static const scl_table_rule of_abilities[] = {
    {SCL_ABILITY_LAW, SAMPLER, TABLE(scl_ability_law, SCL_LEAST_ABILITY_LAW),
     .required = {SLOT(scl_ability_law, law)}},
    {SCL_ABILITY_CHARACTERISTIC, SAMPLER,
     TABLE(scl_ability_characteristic, SCL_LEAST_ABILITY_CHARACTERISTIC),
     .required = {SLOT(scl_ability_characteristic, characteristic)}},
    {SCL_ABILITY_DISTRIBUTION, SAMPLER,
     TABLE(scl_ability_distribution, SCL_LEAST_ABILITY_DISTRIBUTION),
     .required = {SLOT(scl_ability_distribution, distribution)}},
    {SCL_ABILITY_COLLISION, SAMPLER, TABLE(scl_ability_collision, SCL_LEAST_ABILITY_COLLISION),
     .required = {SLOT(scl_ability_collision, collision)}},
    {SCL_ABILITY_POOL, SAMPLER, TABLE(scl_ability_pool, SCL_LEAST_ABILITY_POOL),
     .required = {SLOT(scl_ability_pool, rows), SLOT(scl_ability_pool, pool)}},
    {SCL_ABILITY_COLUMNS, SAMPLER, TABLE(scl_ability_columns, SCL_LEAST_ABILITY_COLUMNS),
     .required = {SLOT(scl_ability_columns, column)}},
    {SCL_ABILITY_STRUCTURED, SAMPLER, TABLE(scl_ability_structured, SCL_LEAST_ABILITY_STRUCTURED),
     .required = {SLOT(scl_ability_structured, apply)}},
    {SCL_ABILITY_LEARN, SAMPLER, TABLE(scl_ability_learn, SCL_LEAST_ABILITY_LEARN),
     .required = {SLOT(scl_ability_learn, learn)}},
    {SCL_ABILITY_SCALES, SAMPLER, TABLE(scl_ability_scales, SCL_LEAST_ABILITY_SCALES),
     .required = {SLOT(scl_ability_scales, scales)}},
    {SCL_ABILITY_PAIR_KERNEL, SAMPLER | NONLINEARITY,
     TABLE(scl_ability_pair_kernel, SCL_LEAST_ABILITY_PAIR_KERNEL),
     .required = {SLOT(scl_ability_pair_kernel, kernel)}},
    {SCL_ABILITY_DOMAIN, SAMPLER | NONLINEARITY | KERNEL,
     TABLE(scl_ability_domain, SCL_LEAST_ABILITY_DOMAIN)},
    {SCL_ABILITY_PREPARE, SAMPLER | KERNEL, TABLE(scl_ability_prepare, SCL_LEAST_ABILITY_PREPARE),
     .required = {SLOT(scl_ability_prepare, prepare), SLOT(scl_ability_prepare, release)}},
    {SCL_ABILITY_SMOOTHING, NONLINEARITY, TABLE(scl_ability_smoothing, SCL_LEAST_ABILITY_SMOOTHING),
     .either = {SLOT(scl_ability_smoothing, loop), SLOT(scl_ability_smoothing, smooth)}},
    {SCL_ABILITY_FACTS, NONLINEARITY, TABLE(scl_ability_facts, SCL_LEAST_ABILITY_FACTS)},
    {SCL_ABILITY_TWO_VALUED, NONLINEARITY,
     TABLE(scl_ability_two_valued, SCL_LEAST_ABILITY_TWO_VALUED)},
    {SCL_ABILITY_GAUSSIAN_DUAL, NONLINEARITY,
     TABLE(scl_ability_gaussian_dual, SCL_LEAST_ABILITY_GAUSSIAN_DUAL),
     .required = {SLOT(scl_ability_gaussian_dual, dual)}},
    {SCL_ABILITY_HARMONIC, NONLINEARITY, TABLE(scl_ability_harmonic, SCL_LEAST_ABILITY_HARMONIC)},
    {SCL_ABILITY_THRESHOLD_DUAL, NONLINEARITY,
     TABLE(scl_ability_threshold_dual, SCL_LEAST_ABILITY_THRESHOLD_DUAL),
     .required = {SLOT(scl_ability_threshold_dual, dual)}},
    {SCL_ABILITY_CATEGORIES, NONLINEARITY,
     TABLE(scl_ability_categories, SCL_LEAST_ABILITY_CATEGORIES),
     .required = {SLOT(scl_ability_categories, key), SLOT(scl_ability_categories, categories)}},
    {SCL_ABILITY_CODE_DUAL, NONLINEARITY, TABLE(scl_ability_code_dual, SCL_LEAST_ABILITY_CODE_DUAL),
     .required = {SLOT(scl_ability_code_dual, collision)}},
    {SCL_ABILITY_BIND, KERNEL, TABLE(scl_ability_bind, SCL_LEAST_ABILITY_BIND),
     .required = {SLOT(scl_ability_bind, bind), SLOT(scl_ability_bind, describe)}},
    {SCL_ABILITY_TILT, KERNEL, TABLE(scl_ability_tilt, SCL_LEAST_ABILITY_TILT),
     .required = {SLOT(scl_ability_tilt, tilt)}},
    {SCL_ABILITY_SHIFT, KERNEL, TABLE(scl_ability_shift, SCL_LEAST_ABILITY_SHIFT),
     .required = {SLOT(scl_ability_shift, shift)}},
    {SCL_ABILITY_PATH, SOLVER, TABLE(scl_ability_path, SCL_LEAST_ABILITY_PATH),
     .required = {SLOT(scl_ability_path, option), SLOT(scl_ability_path, solve)}},
    {SCL_ABILITY_SPARSE_ROWS, SOLVER,
     TABLE(scl_ability_sparse_rows, SCL_LEAST_ABILITY_SPARSE_ROWS)},
    {SCL_ABILITY_CSR_ROWS, SOLVER, TABLE(scl_ability_csr_rows, SCL_LEAST_ABILITY_CSR_ROWS)},
    {SCL_ABILITY_ORDERED_ROWS, SOLVER,
     TABLE(scl_ability_ordered_rows, SCL_LEAST_ABILITY_ORDERED_ROWS)},
    {SCL_ABILITY_ROWS_APART, SOLVER, TABLE(scl_ability_rows_apart, SCL_LEAST_ABILITY_ROWS_APART)},
    {SCL_ABILITY_SHARED_TILES, SOLVER,
     TABLE(scl_ability_shared_tiles, SCL_LEAST_ABILITY_SHARED_TILES)},
    {SCL_ABILITY_PENALTY, SOLVER, TABLE(scl_ability_penalty, SCL_LEAST_ABILITY_PENALTY),
     .required = {SLOT(scl_ability_penalty, penalty)}},
    {SCL_ABILITY_NORMAL, SOLVER, TABLE(scl_ability_normal, SCL_LEAST_ABILITY_NORMAL),
     .required = {SLOT(scl_ability_normal, alone)}},
    {SCL_ABILITY_LOSS, SOLVER, TABLE(scl_ability_loss, SCL_LEAST_ABILITY_LOSS),
     .required = {SLOT(scl_ability_loss, value), SLOT(scl_ability_loss, slope),
                  SLOT(scl_ability_loss, bound), SLOT(scl_ability_loss, lipschitz)}},
    {SCL_ABILITY_OBJECTIVE, SOLVER, TABLE(scl_ability_objective, SCL_LEAST_ABILITY_OBJECTIVE),
     .required = {SLOT(scl_ability_objective, objective)}},
    {SCL_ABILITY_MODEL, SOLVER, TABLE(scl_ability_model, SCL_LEAST_ABILITY_MODEL),
     .required = {SLOT(scl_ability_model, fit), SLOT(scl_ability_model, decide),
                  SLOT(scl_ability_model, save), SLOT(scl_ability_model, load),
                  SLOT(scl_ability_model, destroy)}},
    {SCL_ABILITY_MODEL_PATH, SOLVER, TABLE(scl_ability_model_path, SCL_LEAST_ABILITY_MODEL_PATH),
     .required = {SLOT(scl_ability_model_path, option), SLOT(scl_ability_model_path, fit)}},
    {SCL_ABILITY_COST, SOLVER, TABLE(scl_ability_cost, SCL_LEAST_ABILITY_COST),
     .required = {SLOT(scl_ability_cost, cost)}},
    {SCL_ABILITY_LOSS_CURVATURE, LOSS,
     TABLE(scl_ability_loss_curvature, SCL_LEAST_ABILITY_LOSS_CURVATURE),
     .required = {SLOT(scl_ability_loss_curvature, curvature)}},
    {SCL_ABILITY_LOSS_CONJUGATE, LOSS,
     TABLE(scl_ability_loss_conjugate, SCL_LEAST_ABILITY_LOSS_CONJUGATE),
     .required = {SLOT(scl_ability_loss_conjugate, conjugate)}},
    {SCL_ABILITY_LOSS_PROXIMAL, LOSS,
     TABLE(scl_ability_loss_proximal, SCL_LEAST_ABILITY_LOSS_PROXIMAL),
     .required = {SLOT(scl_ability_loss_proximal, proximal)}},
    {SCL_ABILITY_LOSS_PROBABILITY, LOSS,
     TABLE(scl_ability_loss_probability, SCL_LEAST_ABILITY_LOSS_PROBABILITY),
     .required = {SLOT(scl_ability_loss_probability, probability)}},
    {SCL_ABILITY_LOSS_MEAN, LOSS, TABLE(scl_ability_loss_mean, SCL_LEAST_ABILITY_LOSS_MEAN),
     .required = {SLOT(scl_ability_loss_mean, mean)}},
    {.id = NULL},
};

const scl_table_rule *scl_rule_of_kind(scl_kind kind) {
  return (uint32_t)kind < SCL_KINDS ? &of_kinds[kind] : NULL;
}

const scl_table_rule *scl_rules(void) { return of_abilities; }

const scl_table_rule *scl_rule_of_ability(const char *id) {
  for (const scl_table_rule *rule = of_abilities; rule->id != NULL; rule++)
    if (strcmp(rule->id, id) == 0) return rule;
  return NULL;
}

const void *scl_ability_listed(const scl_plugin *plugin, const char *id) {
  for (const scl_ability *one = plugin->abilities; one != NULL && one->id != NULL; one++)
    if (strcmp(one->id, id) == 0) return one->table;
  return NULL;
}

/* Whether the slot at `offset`, a pointer to a function or to data, is within the table and not
 * NULL. Compared as bytes: a table may be smaller than the host's struct. */
static bool has_slot(const void *table, size_t offset) {
  static const char zeros[sizeof(void *)];
  const uint32_t size = ((const scl_head *)table)->size;
  return offset + sizeof(void *) <= size &&
         memcmp((const char *)table + offset, zeros, sizeof zeros) != 0;
}

scl_status scl_table_check(const scl_table_rule *rule, const void *table, scl_error *error) {
  const scl_head *head = table;
  if (head == NULL) return scl_fail(error, SCL_STATUS_UNSUPPORTED, "the table is NULL");
  if (head->abi != SCL_ABI)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "the table was built for plugin interface %u; this Scullery speaks %u",
                    head->abi, SCL_ABI);
  if (head->size < rule->least)
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "the table has %u bytes where interface %u requires %zu", head->size, SCL_ABI,
                    rule->least);
  for (size_t i = 0; i < SCL_RULE_SLOTS && rule->required[i].name != NULL; i++)
    if (!has_slot(table, rule->required[i].offset))
      return scl_fail(error, SCL_STATUS_UNSUPPORTED, "the required slot '%s' is NULL",
                      rule->required[i].name);
  if (rule->either[0].name != NULL && !has_slot(table, rule->either[0].offset) &&
      !has_slot(table, rule->either[1].offset))
    return scl_fail(error, SCL_STATUS_UNSUPPORTED,
                    "one of the slots '%s' and '%s' is required, and both are NULL",
                    rule->either[0].name, rule->either[1].name);
  return SCL_STATUS_OK;
}

scl_status scl_table_expect(const void *table, const char *type, size_t least, scl_error *error) {
  const scl_head *head = table;
  if (head == NULL)
    return scl_fail(error, SCL_STATUS_INTERNAL, "the host was handed NULL for an %s", type);
  if (head->abi != SCL_ABI)
    return scl_fail(error, SCL_STATUS_INTERNAL,
                    "the host was handed an %s of interface %u; this Scullery speaks %u", type,
                    head->abi, SCL_ABI);
  if (head->size >= least) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_INTERNAL,
                  "the host was handed an %s that has %u bytes, and interface %u requires %zu",
                  type, head->size, SCL_ABI, least);
}

const void *scl_table_read(const void *table, size_t size, void *room) {
  const scl_head *head = table;
  if (head->size >= size) return table;
  memset(room, 0, size);
  memcpy(room, table, head->size);
  return room;
}

void scl_table_write(void *to, const void *from) {
  const size_t mine = ((const scl_head *)from)->size, theirs = ((const scl_head *)to)->size;
  const size_t size = scl_min(mine, theirs);
  if (size > sizeof(scl_head))
    memcpy((char *)to + sizeof(scl_head), (const char *)from + sizeof(scl_head),
           size - sizeof(scl_head));
}
