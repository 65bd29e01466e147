#pragma once

// Stack limits. In native builds a deep recursion continues on the stack of another thread. In
// WebAssembly it cannot: JavaScript functions run on the thread that registered them, which would
// be the thread that waits. There the stack size is the limit.

#include <cstddef>

namespace eg {

#if defined(__EMSCRIPTEN__)
inline constexpr bool kCanContinueOnAnotherStack = false;
#else
inline constexpr bool kCanContinueOnAnotherStack = true;
#endif

/// Returns the bytes left on this thread's stack, or a number larger than any stack if unknown.
std::size_t free_stack_bytes();

}  // namespace eg
