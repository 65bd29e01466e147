// The parts of a split build on the threads of a pool (bindings/parts.js,
// scripts/split/README.md). Such a thread waits in native code and receives no messages, so it
// finds the bytes of a part in the shared memory.

#include "base/parts.h"

#include <new>
#include <string>

#include "base/error.h"
#include "border.h"

#if defined(__EMSCRIPTEN__) && EG_THREADS
#include <emscripten/em_js.h>
#include <emscripten/proxying.h>
#include <emscripten/threading.h>

// Loads a part and writes its bytes, or an error, to the shared memory; on the main thread.
EM_JS(void, eg_publish_part, (int part), { Module["publishPart"](part); });
#endif

namespace eg::bindings {

#if defined(__EMSCRIPTEN__) && EG_THREADS

EG_EXPORT("sharedParts")
void* address_of_shared_parts() { return &shared_parts; }

/// Returns memory that is never freed, or null.
EG_EXPORT("allocatePart")
void* allocate_part(int size) {
  return ::operator new(static_cast<std::size_t>(size), std::nothrow);
}

/// Makes the main thread publish a part, and waits for that. A main thread that itself waits for
/// others, inside a native call, also answers such requests.
EG_EXPORT("requestPart")
void request_part(int part) {
  const auto publish = [](void* argument) { eg_publish_part(*static_cast<int*>(argument)); };
  emscripten_proxy_sync(emscripten_proxy_get_system_queue(), emscripten_main_runtime_thread_id(),
                        publish, &part);
}

#endif

/// Throws an error with the text at an address, through the JavaScript that calls this.
EG_EXPORT("failWithoutPart")
void fail_without_part(const char* text, int size) {
  throw Error(ErrorCode::kInternal, std::string(text, static_cast<std::size_t>(size)));
}

}  // namespace eg::bindings
