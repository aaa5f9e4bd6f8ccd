// scullery/plugin.hpp: plugin.h for plugins in C++20. Exceptions become statuses, memory comes back
// by itself, the instance has its type. Everything else is as in C.
#ifndef SCULLERY_PLUGIN_HPP
#define SCULLERY_PLUGIN_HPP

#include "plugin.h"

#include <cmath>
#include <exception>
#include <initializer_list>
#include <new>
#include <vector>

// Members that are left out of a table are zero, which means: none.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

namespace scullery {

// The instance of a slot.
template <typename Instance> const Instance &of(const void *self) {
  return *static_cast<const Instance *>(self);
}

// What `need` throws; the sentence is in the scl_error.
struct failure {
  scl_status status;
};
inline void need(scl_status status) {
  if (status != SCL_STATUS_OK) throw failure{status};
}

// The status of f(), whose exceptions become sentences: no exception may leave a slot. std::vector
// is the memory of a slot; it asks the system, as the host's `allocate` does.
template <typename Function>
scl_status guarded(const scl_host *host, scl_error *error, Function f) noexcept {
  try {
    f();
    return SCL_STATUS_OK;
  } catch (const failure &e) {
    return e.status;
  } catch (const std::bad_alloc &) {
    return host->fail(error, SCL_STATUS_NO_MEMORY, "not enough memory");
  } catch (const std::exception &e) {
    return host->fail(error, SCL_STATUS_INTERNAL, "%s", e.what());
  } catch (...) {
    return host->fail(error, SCL_STATUS_INTERNAL, "an exception without a sentence");
  }
}

// The plugin of a file, with its table of slots and its abilities; heads and kinds are filled in:
//   const scl_plugin scullery_plugin = scullery::plugin(SCL_KIND_LOSS,
//       scl_loss{.value = value, .slope = slope}, {.name = "mine", .summary = "a loss"});
// Tables are made when the object is loaded, and live as long as the process.
template <typename Table> scl_plugin plugin(scl_kind kind, Table slots, scl_plugin about) {
  about.head = SCL_HEAD(scl_plugin);
  about.kind = slots.kind = kind;
  slots.head = SCL_HEAD(Table);
  about.vtable = new Table(slots);
  return about;
}

// .abilities = scullery::abilities({scullery::offer(SCL_ABILITY_FACTS, scl_ability_facts{...}), ...})
template <typename Table> scl_ability offer(const char *id, Table table) {
  table.head = SCL_HEAD(Table);
  return {id, new Table(table)};
}
inline const scl_ability *abilities(std::initializer_list<scl_ability> offers) {
  scl_ability *list = new scl_ability[offers.size() + 1](), *at = list;
  for (const scl_ability &one : offers)
    *at++ = one;
  return list;
}

} // namespace scullery

#endif
