#pragma once

#include <functional>

namespace eg {

/// Runs `work` on a detached thread: an idle one from earlier calls or a new one, so that work that
/// blocks never delays other work. If no further thread can be started, `work` waits for one of the
/// existing threads; if there is none, throws OutOfMemory with the name `caller`. `work` must not
/// throw. In builds without threads it runs immediately on this thread.
void run_in_background(const char* caller, std::function<void()> work);

/// The number of threads started by run_in_background(); they are kept for reuse and never joined.
int background_thread_count();

}  // namespace eg
