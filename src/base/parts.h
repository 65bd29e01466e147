#pragma once

// In a split WebAssembly build (scripts/split/README.md) every thread has a table of functions of
// its own, in which it loads the parts of the engine when it first needs them. A thread that gets
// work from another one may get pointers to functions of parts that only the other one has loaded,
// so it first loads these. Other builds have no parts.

#include <array>
#include <atomic>
#include <cstdint>

namespace eg {

#if defined(__EMSCRIPTEN__) && EG_THREADS

/// What threads share of the parts; bindings/parts.js writes it.
struct SharedParts {
  struct Bytes {
    std::uint32_t address, size;
  };
  /// The content of each part that a thread has loaded, and the text of an error.
  std::array<Bytes, 6> bytes;
  /// A bit for each part that a thread has loaded.
  std::atomic<std::uint32_t> loaded;
};

extern SharedParts shared_parts;

namespace detail {

extern constinit thread_local std::uint32_t own_parts;
void load_shared_parts();

}  // namespace detail

/// Loads the parts that other threads have loaded. Called before work from another thread is run.
inline void catch_up_with_parts() {
  if (shared_parts.loaded.load(std::memory_order_acquire) != detail::own_parts) [[unlikely]]
    detail::load_shared_parts();
}

#else

inline void catch_up_with_parts() {}

#endif

}  // namespace eg
