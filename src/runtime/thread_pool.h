#pragma once

// How to think about it: one process-wide set of helper threads. A parallel_for puts a job on the
// caller's stack, opens a gate to it and at once works on it itself; a helper that comes through
// the gate in time claims chunks too, one that comes late finds the gate closed. So the caller
// never waits for a helper to start, only for chunks a helper is already working on, and a pool
// whose threads have not started (a Worker that is still loading) is merely slower.
//
// Several threads may call parallel_for at once: each takes a gate of its own, and the caller that
// finds none free does its work alone. Inside a body parallel_for runs inline. Nothing is allocated
// per call. Where the build or the platform has no threads everything runs inline.

#include <cstdint>
#include <memory>
#include <type_traits>

namespace eg {

/// Fewest float elements a task of an elementwise kernel should have. At about 0.3 ns per element
/// such a task takes 5 us, what it costs to wake a helper (tests/bench/gemm_bench.cpp, "wake"), so
/// sharing smaller work would make it slower.
inline constexpr std::int64_t kMinElementsPerTask = 16 * 1024;

/// Returns how many threads share a parallel_for, the caller included: 1 until set_num_threads.
int num_threads();

/// Lets parallel_for use `count` threads (at least 1, the caller included); helpers start when the
/// first parallel_for needs them, and where they cannot start there are fewer.
void set_num_threads(int count);

/// Starts the helpers now instead of at the first parallel_for, for example while a page loads.
void start_thread_pool();

/// Ends all helpers; running parallel_for calls complete, and a later one starts helpers again.
void shutdown_thread_pool();

/// Returns whether this thread is running the body of a shared parallel_for.
bool in_parallel_region();

namespace detail {

using RangeBody = void (*)(void* body, std::int64_t begin, std::int64_t end);

void parallel_run(std::int64_t begin, std::int64_t end, std::int64_t grain, RangeBody run,
                  void* body);

}  // namespace detail

/// Calls `body(b, e)` for ranges that cover [begin, end) once, on several threads when the range is
/// longer than `grain`; no range but the last is shorter than `grain`. The first exception a body
/// throws stops the handing out of ranges and is rethrown here when all running ones have ended.
template <class F>
void parallel_for(std::int64_t begin, std::int64_t end, std::int64_t grain, F&& body) {
  if (begin >= end) return;
  if (end - begin <= grain) {
    body(begin, end);
    return;
  }
  using Body = std::remove_reference_t<F>;
  detail::parallel_run(
      begin, end, grain,
      [](void* function, std::int64_t b, std::int64_t e) { (*static_cast<Body*>(function))(b, e); },
      const_cast<void*>(static_cast<const void*>(std::addressof(body))));
}

}  // namespace eg
