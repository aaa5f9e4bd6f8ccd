// scullery/plugin.hpp: plugin.h for plugins in C++20. Exceptions become statuses, memory comes back
// by itself, the instance has its type. Everything else is as in C.
#ifndef SCULLERY_PLUGIN_HPP
#define SCULLERY_PLUGIN_HPP

#include "plugin.h"

#include <cmath>
#include <exception>
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

} // namespace scullery

#endif
