#pragma once

#include <functional>

namespace eg {

/// Runs `work` on a thread that nobody waits for: an idle one of earlier calls, or a new one, so
/// that work which blocks never holds up other work. Where no further thread can be started it
/// waits for one of those there are; OutOfMemory that names `caller` when there is none. `work`
/// must not throw. Where a build has no threads it runs here and now.
void run_in_background(const char* caller, std::function<void()> work);

/// Threads started so far for run_in_background(); they are kept and never joined.
int background_thread_count();

}  // namespace eg
