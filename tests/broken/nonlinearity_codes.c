/* Codes are 1 and 2 where the levels are 2, so that they should be 0 and 1. */
// caught by: categories fail
// says: 2 levels
#define BROKEN_WORDS 1
#define BROKEN_CODE(z) ((z) > 0 ? 2 : 1)
#include "codes.h"

static const scl_ability abilities[] = {{SCL_ABILITY_CATEGORIES, &coded}, {NULL, NULL}};

BROKEN_NONLINEARITY(abilities, .spaces = SCL_SPACES_RIDGE, .loop = loop);
