/* A category of two words, of which the second is never written. */
// caught by: code-words fail
// says: is not written
#define BROKEN_WORDS 2
#define BROKEN_CODE(z) ((z) > 0 ? 1 : 0)
#include "codes.h"

static const scl_ability abilities[] = {{SCL_ABILITY_CATEGORIES, &coded}, {NULL, NULL}};

BROKEN_NONLINEARITY(abilities, .spaces = SCL_SPACES_RIDGE, .loop = loop);
