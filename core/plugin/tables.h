/* The conditions of interface 1 on every table of a plugin: its least size, and the slots that must
 * not be NULL. */
#ifndef SCULLERY_TABLES_H
#define SCULLERY_TABLES_H

#include "base/memory.h"

enum { SCL_RULE_SLOTS = 8 };

typedef struct scl_table_rule {
  const char *id;     /* of an ability; NULL: the kind's own table */
  uint32_t kinds;     /* SCL_BIT(SCL_KIND_...) that may have it */
  size_t least, size; /* bytes required; bytes known to this host */
  struct {
    const char *name;
    size_t offset;
  } required[SCL_RULE_SLOTS], either[2]; /* all of `required`, and one of `either`, not NULL */
} scl_table_rule;

/* The rule for the table of a kind, and for the table of an ability; NULL: this host does not know
 * it. */
const scl_table_rule *scl_rule_of_kind(scl_kind kind);
const scl_table_rule *scl_rule_of_ability(const char *id);
/* The table of an ability in the plugin's own list; NULL if the list does not have it. */
const void *scl_ability_listed(const scl_plugin *plugin, const char *id);
/* All abilities, ended by a NULL id. */
const scl_table_rule *scl_rules(void);

/* Whether a table satisfies its rule; the sentence says what is wrong ("the required slot 'draw' is
 * NULL"). */
scl_status scl_table_check(const scl_table_rule *rule, const void *table, scl_error *error);

/* Check a table that a plugin made for a call of the host: SCL_STATUS_INTERNAL if it is NULL,
 * shorter than `least`, or of another interface. */
scl_status scl_table_expect(const void *table, const char *type, size_t least, scl_error *error);
#define SCL_TABLE_EXPECT(table, type, least, error) \
  SCL_TRY(scl_table_expect((table), #type, (least), (error)))

/* A table at this host's size: the table itself if it is long enough, otherwise a copy in `room`
 * (size bytes) with zeros for the members that it does not have. */
const void *scl_table_read(const void *table, size_t size, void *room);
/* Copy the members of `from` behind the head to a table of the plugin, as many as both tables have
 * by their heads. */
void scl_table_write(void *to, const void *from);

#endif
