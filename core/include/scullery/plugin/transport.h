/* scullery/plugin/transport.h: transports join several processes that run the same script. Each
 * process sums a part of the rows, and the transport adds the sums. All processes call the slots of
 * an open group in the same order with the same sizes: the host compares what they are about to do
 * before each exchange. Numbers that are added are whole, so that a transport may add them in any
 * order. */
#ifndef SCULLERY_PLUGIN_TRANSPORT_H
#define SCULLERY_PLUGIN_TRANSPORT_H

#include "host.h"

typedef struct scl_transport {
  scl_head head;
  scl_kind kind; /* SCL_KIND_TRANSPORT */
  uint32_t reserved;
  /* Not 0: this process was started by the transport's launcher (variables of the environment say
   * so), and `open` joins the processes that were started with it. NULL: there is no launcher.
   * [one] */
  int32_t (*launched)(const void *self);
  /* Join the group: *group is the transport's own. A transport may make the other processes itself,
   * by fork: `open` returns in each of them, and the process that started them waits for all and
   * ends with their status. Called once, before any thread is started. [one] */
  scl_status (*open)(const void *self, void **group, scl_error *error);
  /* The number of processes, 1 or more, and the number of this one, from 0. [one] */
  size_t (*size)(void *group);
  size_t (*rank)(void *group);
  /* Replace each number by its sum, or by its maximum, over the processes. The host makes sure that
   * no sum overflows. A failure, for example because a process has ended, is final: no slot but
   * `abort` is called afterwards. [one] */
  scl_status (*sum)(void *group, int64_t *numbers, size_t count, scl_error *error);
  scl_status (*maximum)(void *group, int64_t *numbers, size_t count, scl_error *error);
  /* Copy `size` bytes from process `from` to all others. [one] */
  scl_status (*broadcast)(void *group, size_t from, void *bytes, size_t size, scl_error *error);
  /* Leave the group; all processes do. Releases what `open` made. [one] */
  void (*close)(void *group);
  /* Make the other processes fail in their next exchange, or end them: this one ends. [one] */
  void (*abort)(void *group);
} scl_transport;
#define SCL_LEAST_TRANSPORT SCL_THROUGH(scl_transport, abort)
#define SCL_TRANSPORT(...) SCL_VTABLE(SCL_KIND_TRANSPORT, scl_transport, __VA_ARGS__)

#endif
