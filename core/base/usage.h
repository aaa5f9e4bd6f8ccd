/* Processor time and memory that this process has used. */
#ifndef SCULLERY_USAGE_H
#define SCULLERY_USAGE_H

/* Processor seconds, summed over all threads. */
double scl_usage_seconds(void);
/* Peak resident memory in bytes since the last reset, or since the start where the system cannot
 * reset it. */
double scl_usage_peak(void);
void scl_usage_peak_reset(void);

#endif
