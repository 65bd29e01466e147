#pragma once

// Stack limits. In native builds a deep recursion continues on the stack of another thread. In
// WebAssembly it cannot: JavaScript functions run on the thread that registered them, which would
// be the thread that waits. There the stack size is the limit.
//
// A thread of WebAssembly has two stacks. Objects whose address is taken are on the module's own,
// which free_stack_bytes() measures. Calls are on the stack of JavaScript. When it overflows,
// JavaScript throws an error that WebAssembly cannot catch: no destructor runs, locks stay locked,
// modes stay as they are. So every call from JavaScript first makes sure that enough is left.

#include <cstddef>
#include <cstdint>

namespace eg {

#if defined(__EMSCRIPTEN__)
inline constexpr bool kCanContinueOnAnotherStack = false;
#else
inline constexpr bool kCanContinueOnAnotherStack = true;
#endif

/// Returns the bytes left on this thread's stack, or a number larger than any stack if unknown.
std::size_t free_stack_bytes();

/// The position on the module's stack at which calls from JavaScript begin, or 0 if unknown.
using StackPosition = std::uintptr_t;

/// Returns the position of the calling function.
StackPosition stack_position();
/// Continues at a position. The calling function must have nothing on the module's stack.
void set_stack_position(StackPosition position);

/// How much of JavaScript's stack a call needs.
enum class StackNeed {
  /// It ends something that another call began; that call has checked for more stack than this.
  kNone = 0,
  /// It runs an elementwise op, or less.
  kLittle = 1,
  /// It begins something that another call must end whatever happens in between.
  kToEnd = 2,
  /// It runs any op, or a backward call.
  kMuch = 4,
};

#if defined(__EMSCRIPTEN__)

using ProbedVector = int __attribute__((vector_size(16)));
extern "C" ProbedVector eg_probe_stack(int levels);

/// Ends the running call from JavaScript with JavaScript's error for a stack overflow, which cannot
/// be caught here, if less than 32 KiB times the need is left of JavaScript's stack.
inline void reserve_stack(StackNeed need) {
  if (need != StackNeed::kNone) (void)eg_probe_stack(static_cast<int>(need) - 1);
}

#else

inline void reserve_stack(StackNeed /*need*/) {}

#endif

}  // namespace eg
