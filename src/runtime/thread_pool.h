#pragma once

// One process-wide set of helper threads. A parallel_for puts a job on the caller's stack, opens a
// gate to it and immediately works on it itself. A helper that enters the gate in time claims
// chunks too; one that comes late finds the gate closed. The caller therefore never waits for a
// helper to start, only for chunks that a helper is already working on, and a pool whose threads
// have not started (a Worker that is still loading) is merely slower.
//
// Several threads may call parallel_for at once: each claims its own gate, and a caller that finds
// no free gate works alone. Inside a body, parallel_for runs inline. A call allocates nothing.
// Without thread support everything runs inline.

#include <cstdint>
#include <memory>
#include <type_traits>

namespace eg {

/// The minimum number of float elements per task of an elementwise kernel. At about 0.3 ns per
/// element such a task takes 5 us, which is the cost of waking a helper
/// (tests/bench/gemm_bench.cpp, "wake"), so splitting smaller work would make it slower.
inline constexpr std::int64_t kMinElementsPerTask = 16 * 1024;

/// Returns how many threads share a parallel_for, including the caller; 1 until set_num_threads().
int num_threads();

/// Lets parallel_for use `count` threads (at least 1, including the caller). Helpers start when the
/// first parallel_for needs them; if the system cannot start as many, there are fewer.
void set_num_threads(int count);

/// Starts the helpers now instead of at the first parallel_for, for example while a page loads.
void start_thread_pool();

/// Ends all helpers. Running parallel_for calls complete, and later ones start new helpers.
void shutdown_thread_pool();

/// Returns whether this thread is running the body of a shared parallel_for.
bool in_parallel_region();

namespace detail {

using RangeBody = void (*)(void* body, std::int64_t begin, std::int64_t end);

void parallel_run(std::int64_t begin, std::int64_t end, std::int64_t grain, RangeBody run,
                  void* body);

}  // namespace detail

/// Calls `body(b, e)` for ranges that cover [begin, end) exactly once, on several threads if the
/// range is longer than `grain`; only the last range may be shorter than `grain`. After the first
/// exception no further ranges are started, and it is rethrown here when all running ones have
/// ended.
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
