// compile: engine

#include "native_call.h"

#include <cstdlib>

#include <emscripten/em_js.h>

// Throws the error of an engine that has failed, or of a worker that is about to end
// (web/src/runtime/bridge/bridge.ts).
EM_JS(void, eg_refuse_call, (bool is_stopped), { Module["failed"](is_stopped); });

namespace eg::bindings {

void detail::fail_engine() {
  has_failed.store(true);
  refuses_calls.store(true);
}

void detail::refuse_after_lost_call() {
  fail_engine();
  eg_refuse_call(false);
  std::abort();
}

void detail::check_call() {
  const bool is_stopped = call_state.is_stopped.load();
  if (!is_stopped && !has_failed.load()) return;
  set_inside(false);
  eg_refuse_call(is_stopped);
  std::abort();
}

// While this thread was in JavaScript, another one may have seen it outside, and terminates it now:
// in the middle of C++ it would hold locks.
void detail::wait_if_stopped() {
  if (call_state.is_stopped.load()) set_inside(false);
  while (call_state.is_stopped.load()) {
    // A loop, which JavaScript's engine can end.
  }
}

// True when a call into this module has ended without returning.
EG_EXPORT("hasFailed")
bool has_failed() { return !NativeCall::is_possible(); }

// Throws the JavaScript engine's error for a stack overflow unless there is room for a call that
// must be ended by another one.
EG_EXPORT("reserveStack")
void reserve_for_end() {
  const NativeCall call(StackNeed::kToEnd);
  restore_stack();
}

}  // namespace eg::bindings
