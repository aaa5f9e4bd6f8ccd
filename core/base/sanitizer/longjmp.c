/* Linked only with the thread sanitizer (CMakeLists.txt). A fortified liblua leaves protected calls
 * by __longjmp_chk, which that sanitizer does not know: its own record of the calls in progress
 * would grow with every error, and each report's memory with it. longjmp is what it knows. */
#include <setjmp.h>

void __longjmp_chk(jmp_buf environment, int value);

void __longjmp_chk(jmp_buf environment, int value) { longjmp(environment, value); }
