/* The header that this is compiled with against the layout of version 1: no member of version 1 has
 * moved or changed its size, no constant its value, no table its least size; tables may have grown,
 * records not. With LAYOUT_EXACT (the frozen copy) tables have not grown either. */
#include <scullery/plugin.h>
#include <stdio.h>

#ifdef LAYOUT_EXACT
enum { GROWTH = 0 };
#else
enum { GROWTH = 1 };
#endif

static int wrong;

static void expect(int holds, const char *what, size_t is, size_t was) {
  if (holds) return;
  wrong++;
  (void)printf("%s is %zu, and in version 1 it is %zu\n", what, is, was);
}

static void check_table(const char *name, size_t size, size_t was) {
  expect(GROWTH ? size >= was : size == was, name, size, was);
}

int main(void) {
#define TABLE(type, size) check_table("sizeof(" #type ")", sizeof(type), size);
#define RECORD(type, size) expect(sizeof(type) == (size), "sizeof(" #type ")", sizeof(type), size);
#define MEMBER(type, member, place, size) \
  expect(offsetof(type, member) == (place), "the place of " #type "." #member, \
         offsetof(type, member), place); \
  expect(sizeof(((type *)0)->member) == (size), "the size of " #type "." #member, \
         sizeof(((type *)0)->member), size);
#define LEAST(constant, type, size) \
  expect((constant) == (size) && (constant) <= sizeof(type), #constant, constant, size);
#define VALUE(constant, value) \
  expect((constant) == (value), #constant, (size_t)(constant), (size_t)(value));
#include "v1.inc"
  if (wrong == 0) (void)puts("ok");
  return wrong != 0;
}
