#include "base/parts.h"

#if defined(__EMSCRIPTEN__) && EG_THREADS

#include <emscripten/em_js.h>

// Loads the parts whose bits are set; see bindings/parts.js. Tests of the engine alone have no
// parts.
EM_JS(void, eg_load_parts, (unsigned parts), { Module["loadParts"] ?.(parts); });

namespace eg {

constinit SharedParts shared_parts{};

namespace detail {

constinit thread_local std::uint32_t own_parts = 0;

void load_shared_parts() {
  const std::uint32_t loaded = shared_parts.loaded.load(std::memory_order_acquire);
  eg_load_parts(loaded);
  own_parts = loaded;
}

}  // namespace detail
}  // namespace eg

#endif
