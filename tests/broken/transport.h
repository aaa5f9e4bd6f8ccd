/* What wrong transports share: the transport of `scullery plugin new`, some slots of which they
 * replace. */
#ifndef BROKEN_TRANSPORT_H
#define BROKEN_TRANSPORT_H

#define _GNU_SOURCE
#include <scullery/plugin.h>

#define scullery_plugin right_transport
#include "../../lua/scullery/templates/transport.c"
#undef scullery_plugin

/* The descriptor, with the members of the table that are wrong, each of which replaces the right
 * one: BROKEN_TRANSPORT(.sum = wrong_sum) */
#define BROKEN_TRANSPORT(...) \
  _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Woverride-init\"") \
      const scl_plugin scullery_plugin = { \
          .name = "broken", \
          .summary = "A transport that is wrong in one way", \
          .doc = "Processes of this machine, joined by sockets, but for what is wrong with it.", \
          .version = "1.0", \
          SCL_TRANSPORT(.open = my_open, .size = my_size, .rank = my_rank, .sum = my_sum, \
                        .maximum = my_maximum, .broadcast = my_broadcast, .close = my_close, \
                        .abort = my_close, __VA_ARGS__), \
          SCL_INSTANCE(chain, options)}; \
  _Pragma("GCC diagnostic pop")

#endif
