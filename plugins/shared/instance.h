/* Making and ending the instance of a sampler: a struct whose first two members are its host and
 * the random service. */
#ifndef SCULLERY_SHARED_INSTANCE_H
#define SCULLERY_SHARED_INSTANCE_H

#include <scullery/plugin.h>
#include <string.h>

typedef struct instance_head {
  const scl_host *host;
  const scl_random *random;
} instance_head;

/* `bytes` bytes, zero but for the head. */
static inline scl_status instance_new(const scl_host *host, size_t bytes, void **out,
                                      scl_error *error) {
  const instance_head head = {host, host->service(SCL_SERVICE_RANDOM)};
  if (head.random == NULL)
    return host->fail(error, SCL_STATUS_UNSUPPORTED, "this host has no random numbers");
  *out = host->allocate(bytes);
  if (*out == NULL)
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory for a sampler");
  memset(*out, 0, bytes);
  memcpy(*out, &head, sizeof head);
  return SCL_STATUS_OK;
}

/* The plugin's destroy where the instance owns nothing else. */
static inline void instance_end(void *instance) {
  const scl_host *host = ((const instance_head *)instance)->host;
  host->release(instance);
}

#endif
