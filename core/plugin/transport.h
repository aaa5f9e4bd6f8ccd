/* Calls of transports (scullery/plugin/transport.h). */
#ifndef SCULLERY_TRANSPORT_H
#define SCULLERY_TRANSPORT_H

#include "plugin/instance.h"

/* Whether this process was started by the transport's launcher. */
bool scl_transport_launched(const scl_instance *transport);
/* Join the group, and ask it for its size and for the number of this process.
 * SCL_STATUS_INTERNAL: they contradict each other. */
scl_status scl_transport_open(const scl_instance *transport, void **group, size_t *size,
                              size_t *rank, scl_error *error);
scl_status scl_transport_sum(const scl_instance *transport, void *group, int64_t *numbers,
                             size_t count, scl_error *error);
scl_status scl_transport_maximum(const scl_instance *transport, void *group, int64_t *numbers,
                                 size_t count, scl_error *error);
scl_status scl_transport_broadcast(const scl_instance *transport, void *group, size_t from,
                                   void *bytes, size_t size, scl_error *error);
void scl_transport_close(const scl_instance *transport, void *group);
void scl_transport_abort(const scl_instance *transport, void *group);

#endif
