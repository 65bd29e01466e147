#pragma once

// How deep a thread may go. Natively a deep recursion continues on the stack of another thread. Not
// so in WebAssembly: JavaScript functions run on the thread that registered them, and that is the
// thread which would wait for the other one. There the stack itself is the limit.

#include <cstddef>

namespace eg {

#if defined(__EMSCRIPTEN__)
inline constexpr bool kCanContinueOnAnotherStack = false;
#else
inline constexpr bool kCanContinueOnAnotherStack = true;
#endif

/// Bytes left on the stack of this thread, or a number larger than any stack where nobody can tell.
std::size_t free_stack_bytes();

}  // namespace eg
