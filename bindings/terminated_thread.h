#pragma once

// Frees what a thread held that was terminated. A thread that ends normally runs the destructors of
// its thread-local variables and leaves Emscripten's lists. For one that was terminated, the main
// thread does that in its place: it uses that thread's variables and its number meanwhile.

#include <cstdint>

namespace eg::bindings {

/// Ends the modes that the code of this thread has not ended.
void end_modes();

/// The block of this thread's variables.
void* thread_locals();

/// Ends a thread that runs no more, whose number is the value of its pthread_t. Must be called on
/// the main thread; no C++ of that thread may have been running, except below a call of JavaScript.
void end_terminated(std::uintptr_t thread, void* thread_locals);

}  // namespace eg::bindings
