/* What interface 1 asks of every table that a plugin brings: its least size, and the slots that
 * must be there. */
#ifndef SCULLERY_TABLES_H
#define SCULLERY_TABLES_H

#include "base/memory.h"

enum { SCL_RULE_SLOTS = 6 };

typedef struct scl_table_rule {
  const char *id;     /* of an ability; NULL: the kind's own table */
  uint32_t kinds;     /* SCL_BIT(SCL_KIND_...) that bring it */
  size_t least, size; /* bytes required; bytes known to this host */
  struct {
    const char *name;
    size_t offset;
  } required[SCL_RULE_SLOTS], either[2]; /* slots that may not be NULL; of these, one */
} scl_table_rule;

/* The rule of a kind's own table, and of an ability of that kind; NULL: none that this host
 * knows. */
const scl_table_rule *scl_rule_of_kind(scl_kind kind);
const scl_table_rule *scl_rule_of_ability(const char *id);
/* The table of an ability in the plugin's own list; NULL if the list does not have it. */
const void *scl_ability_listed(const scl_plugin *plugin, const char *id);
/* All abilities, ended by a NULL id. */
const scl_table_rule *scl_rules(void);

/* Whether a table satisfies its rule; the sentence says what is wrong ("the table has no slot
 * 'draw'"). */
scl_status scl_table_check(const scl_table_rule *rule, const void *table, scl_error *error);

/* A table that a plugin made for a call of the host: a sentence ("scl_law has 8 bytes ...") where
 * it is shorter than `least` or of another interface. */
scl_status scl_table_expect(const void *table, const char *type, size_t least, scl_error *error);
#define SCL_TABLE_EXPECT(table, type, least, error)                                                \
  SCL_TRY(scl_table_expect((table), #type, (least), (error)))

/* A table as this host knows it: the one given, where it is long enough, else a copy in `room`
 * (size bytes) with zeros for what it does not have. */
const void *scl_table_read(const void *table, size_t size, void *room);
/* Write into a table that another owns: as much of `from` as its head says it has, its head
 * apart. */
void scl_table_write(void *to, const void *from);

#endif
