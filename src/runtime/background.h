#pragma once

#include <functional>

namespace eg {

/// Runs `work` on a thread of a pool, later if as many as there are cores are busy; at least two
/// may be. Work that waits long for another thread, in Inbox::call(), does not count as busy: that
/// thread may be waiting for other work. If no further thread can be started, `work` waits for one
/// of the existing threads; if there is none, throws OutOfMemory with the name `caller`. `work`
/// must not throw. In builds without threads it runs immediately on this thread.
void run_in_background(const char* caller, std::function<void()> work);

/// Like run_in_background(), for work that this thread is about to wait for: never later, because
/// this thread may be one of the pool.
void run_in_background_now(const char* caller, std::function<void()> work);

/// The number of threads of the pool. They end when they have had no work for some seconds.
int background_thread_count();

}  // namespace eg
