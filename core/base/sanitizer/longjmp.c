/* Linked only with the thread sanitizer (CMakeLists.txt). A fortified liblua leaves protected calls
 * by __longjmp_chk, which the sanitizer does not intercept: its shadow stack would grow with every
 * error. It intercepts longjmp. */
#include <setjmp.h>

void __longjmp_chk(jmp_buf environment, int value);

void __longjmp_chk(jmp_buf environment, int value) { longjmp(environment, value); }
