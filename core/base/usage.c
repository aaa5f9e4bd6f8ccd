/* Processor time and peak memory of this process, from Linux. */
#define _GNU_SOURCE
#include "base/usage.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

double scl_usage_seconds(void) {
  struct timespec used = {0};
  (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}

double scl_usage_peak(void) {
  struct rusage used = {0};
  char line[256];
  double kilobytes = 0;
  FILE *file = fopen("/proc/self/status", "re");
  while (file != NULL && fgets(line, sizeof line, file) != NULL)
    if (sscanf(line, "VmHWM: %lf kB", &kilobytes) == 1) break;
  if (file != NULL) (void)fclose(file);
  if (kilobytes > 0) return 1024 * kilobytes;
  (void)getrusage(RUSAGE_SELF, &used);
  return 1024 * (double)used.ru_maxrss;
}

/* Writing 5 to clear_refs resets VmHWM to the present resident size. */
void scl_usage_peak_reset(void) {
  const int file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  (void)!write(file, "5", 1);
  (void)close(file);
}
