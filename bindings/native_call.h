#pragma once

// Calls from JavaScript to C++ on this thread, and from C++ back to JavaScript.
//
// Such a call can end in the middle. When JavaScript's stack overflows, or after a trap, execution
// continues in JavaScript, and no destructor has run: locks are held for good, and any object may
// be half changed. NativeCall keeps that from happening as far as it can (StackNeed), and otherwise
// the next call notices it: the engine has then failed. From then on, every call throws what
// Module.failed() of JavaScript throws, without touching an object or a lock.
//
// A worker may be terminated at any moment. The main thread therefore stops it first: from then on
// its calls are refused, and it is terminated once it is outside of C++ (threads.cpp).

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

/// The state of the calls of one thread that runs JavaScript. Other threads may read it, and set
/// `is_stopped`.
struct CallState {
  /// True while the thread runs C++ that JavaScript has called.
  std::atomic<bool> is_inside{false};
  /// True once calls of this thread are refused, because it is about to be terminated.
  std::atomic<bool> is_stopped{false};
  /// True once the thread has ended, and another one frees what it held.
  bool has_ended = false;
  /// True once another thread has seen this one outside after it refused its calls. If the thread
  /// seems to be inside later, it was at the beginning of a call that was to be refused.
  bool was_seen_outside = false;
  /// How many calls of JavaScript are running below those of C++.
  int javascript_calls = 0;
  /// Where calls from JavaScript begin on the module's stack.
  StackPosition begin_of_calls = 0;
};

inline constinit thread_local CallState call_state;
inline constinit std::atomic<bool> has_failed{false};
/// True while has_failed or the is_stopped of any thread is true.
inline constinit std::atomic<bool> refuses_calls{false};

inline bool is_inside() { return call_state.is_inside.load(std::memory_order_relaxed); }
inline void set_inside(bool inside) {
  call_state.is_inside.store(inside, std::memory_order_relaxed);
}
/// Sets the flag before the call does anything else. Another thread that stops this one first
/// refuses its further calls, waits a while, and then reads the flag.
inline void go_inside() {
  set_inside(true);
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

/// Marks the engine as failed.
void fail_engine();
/// Marks the engine as failed, and throws JavaScript's error.
[[noreturn]] void refuse_after_lost_call();
/// Throws JavaScript's error if the engine has failed or this thread is stopped.
void check_call();
/// Waits to be terminated if this thread is stopped.
void wait_if_stopped();

}  // namespace detail

/// The first object of every function that JavaScript calls, unless the function only reads or
/// writes one number.
class NativeCall {
 public:
  explicit NativeCall(StackNeed need = StackNeed::kLittle) {
    reserve_stack(need);
    if (detail::is_inside()) [[unlikely]]
      detail::refuse_after_lost_call();
    detail::go_inside();
    if (detail::refuses_calls.load(std::memory_order_relaxed)) [[unlikely]]
      detail::check_call();
  }
  ~NativeCall() { detail::set_inside(false); }
  NativeCall(const NativeCall&) = delete;
  NativeCall& operator=(const NativeCall&) = delete;

  /// False once the engine has failed, for functions that then do nothing.
  static bool is_possible() {
    return !detail::is_inside() && !detail::has_failed.load(std::memory_order_relaxed);
  }
};

/// Gives back what refused calls have left on the module's stack: a call that a stack overflow of
/// JavaScript ends does not return it. Must be called by a function that JavaScript calls and that
/// has no object in memory.
inline void restore_stack() {
  StackPosition& begin = detail::call_state.begin_of_calls;
  const StackPosition position = stack_position();
  if (begin == 0) begin = position;
  if (begin != position) set_stack_position(begin);
}

/// Exists while C++ calls JavaScript, which may call C++ again.
class JavaScriptCall {
 public:
  JavaScriptCall()
      : was_inside_(detail::is_inside()),
        outer_begin_(std::exchange(detail::call_state.begin_of_calls, stack_position())) {
    ++detail::call_state.javascript_calls;
    detail::set_inside(false);
  }
  ~JavaScriptCall() {
    if (detail::is_inside()) detail::fail_engine();
    if (was_inside_) {
      detail::go_inside();
      if (detail::refuses_calls.load(std::memory_order_relaxed)) [[unlikely]]
        detail::wait_if_stopped();
    } else {
      detail::set_inside(false);
    }
    detail::call_state.begin_of_calls = outer_begin_;
    --detail::call_state.javascript_calls;
  }
  JavaScriptCall(const JavaScriptCall&) = delete;
  JavaScriptCall& operator=(const JavaScriptCall&) = delete;

 private:
  bool was_inside_;
  StackPosition outer_begin_;
};

}  // namespace eg::bindings
