#pragma once

// Calls from JavaScript to C++ on this thread, and from C++ back to JavaScript.
//
// Such a call can end in the middle: when JavaScript's stack overflows, or after a trap, execution
// continues in JavaScript, and no destructor has run. Locks are then held for good, and any object
// may be half changed. NativeCall keeps that from happening as far as it can (StackNeed), and
// otherwise the next call notices it: the engine has then failed. From then on, every call throws
// what Module.failed() of JavaScript throws, without touching an object or a lock.

#include <atomic>
#include <utility>

#include "runtime/native_stack.h"

/// Exports the following function to JavaScript as `native.NAME`. It takes and returns numbers. (In
/// a native build tests/bindings calls it under that name.)
#ifdef __EMSCRIPTEN__
#define EG_EXPORT(name) __attribute__((export_name("eg_" name)))
#else
#define EG_EXPORT(name)
#endif

namespace eg::bindings {

namespace detail {

// True while this thread runs C++ that JavaScript has called.
inline constinit thread_local bool is_inside = false;
// Where calls from this thread's JavaScript begin on the module's stack.
inline constinit thread_local StackPosition begin_of_calls = 0;
inline constinit std::atomic<bool> has_failed{false};

/// Marks the engine as failed, and throws JavaScript's error.
[[noreturn]] void refuse_call();

}  // namespace detail

/// The first object of every function that JavaScript calls, unless the function only reads or
/// writes one number.
class NativeCall {
 public:
  explicit NativeCall(StackNeed need = StackNeed::kLittle) {
    reserve_stack(need);
    if (detail::is_inside || detail::has_failed.load(std::memory_order_relaxed)) [[unlikely]]
      detail::refuse_call();
    detail::is_inside = true;
  }
  ~NativeCall() { detail::is_inside = false; }

  /// False once the engine has failed, for functions that then do nothing.
  static bool is_possible() {
    return !detail::is_inside && !detail::has_failed.load(std::memory_order_relaxed);
  }

  NativeCall(const NativeCall&) = delete;
  NativeCall& operator=(const NativeCall&) = delete;
};

/// Gives back what refused calls have left on the module's stack: a call that a stack overflow of
/// JavaScript ends does not return it. Must be called by a function that JavaScript calls and that
/// has no object in memory.
inline void restore_stack() {
  const StackPosition position = stack_position();
  if (detail::begin_of_calls == 0) detail::begin_of_calls = position;
  if (detail::begin_of_calls != position) set_stack_position(detail::begin_of_calls);
}

/// Exists while C++ calls JavaScript, which may call C++ again.
class JavaScriptCall {
 public:
  JavaScriptCall()
      : was_inside_(detail::is_inside),
        outer_begin_(std::exchange(detail::begin_of_calls, stack_position())) {
    detail::is_inside = false;
  }
  ~JavaScriptCall() {
    if (detail::is_inside) detail::has_failed.store(true);
    detail::is_inside = was_inside_;
    detail::begin_of_calls = outer_begin_;
  }
  JavaScriptCall(const JavaScriptCall&) = delete;
  JavaScriptCall& operator=(const JavaScriptCall&) = delete;

 private:
  bool was_inside_;
  StackPosition outer_begin_;
};

}  // namespace eg::bindings
