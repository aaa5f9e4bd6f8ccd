/* What this process has used. */
#ifndef SCULLERY_USAGE_H
#define SCULLERY_USAGE_H

/* Seconds of the processors, of all threads. */
double scl_usage_seconds(void);
/* The most memory that it held since the last reset, in bytes; where the system cannot reset it,
 * since the start. */
double scl_usage_peak(void);
void scl_usage_peak_reset(void);

#endif
