// compile: engine

#include "native_call.h"

#include <cstdlib>

#include <emscripten/em_js.h>

// Throws the error of an engine that has failed (web/src/runtime/bridge.ts).
EM_JS(void, eg_refuse_call, (), { Module["failed"](); });

namespace eg::bindings {

void detail::refuse_call() {
  has_failed.store(true);
  eg_refuse_call();
  std::abort();
}

EG_EXPORT("hasFailed")
bool has_failed() { return !NativeCall::is_possible(); }

EG_EXPORT("reserveStack")
void reserve_for_end() {
  const NativeCall call(StackNeed::kToEnd);
  restore_stack();
}

}  // namespace eg::bindings
