/* Calls of transports. */
#include "plugin/transport.h"

#include "plugin/call.h"

/* The transport's table, at the host's size. */
static const scl_transport *table_of(const scl_instance *transport) {
  return scl_instance_vtable(transport);
}

bool scl_transport_launched(const scl_instance *transport) {
  if (table_of(transport)->launched == NULL) return false;
  scl_call call;
  scl_call_enter(&call, transport->component, "launched", NULL);
  const bool launched = table_of(transport)->launched(transport->self) != 0;
  (void)scl_call_end(&call);
  return launched;
}

scl_status scl_transport_open(const scl_instance *transport, void **group, size_t *size,
                              size_t *rank, scl_error *error) {
  const scl_transport *table = table_of(transport);
  scl_call call;
  *group = NULL;
  scl_call_enter(&call, transport->component, "open", error);
  SCL_TRY(scl_call_leave(&call, table->open(transport->self, group, error)));
  scl_call_enter(&call, transport->component, "size", error);
  *size = table->size(*group);
  *rank = table->rank(*group);
  SCL_TRY(scl_call_leave(&call, SCL_STATUS_OK));
  if (*rank < *size) return SCL_STATUS_OK;
  return scl_fail(error, SCL_STATUS_INTERNAL,
                  "transport.%s: process %zu of %zu (they count from 0)",
                  scl_instance_name(transport), *rank, *size);
}

scl_status scl_transport_sum(const scl_instance *transport, void *group, int64_t *numbers,
                             size_t count, scl_error *error) {
  scl_call call;
  scl_call_enter(&call, transport->component, "sum", error);
  return scl_call_leave(&call, table_of(transport)->sum(group, numbers, count, error));
}

scl_status scl_transport_maximum(const scl_instance *transport, void *group, int64_t *numbers,
                                 size_t count, scl_error *error) {
  scl_call call;
  scl_call_enter(&call, transport->component, "maximum", error);
  return scl_call_leave(&call, table_of(transport)->maximum(group, numbers, count, error));
}

scl_status scl_transport_broadcast(const scl_instance *transport, void *group, size_t from,
                                   void *bytes, size_t size, scl_error *error) {
  scl_call call;
  scl_call_enter(&call, transport->component, "broadcast", error);
  return scl_call_leave(&call, table_of(transport)->broadcast(group, from, bytes, size, error));
}

void scl_transport_close(const scl_instance *transport, void *group) {
  scl_call call;
  scl_call_enter(&call, transport->component, "close", NULL);
  table_of(transport)->close(group);
  (void)scl_call_end(&call);
}

void scl_transport_abort(const scl_instance *transport, void *group) {
  scl_call call;
  scl_call_enter(&call, transport->component, "abort", NULL);
  table_of(transport)->abort(group);
  (void)scl_call_end(&call);
}
