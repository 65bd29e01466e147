#include "runtime/thread_pool.h"

// The only platform condition on threads in the engine: EG_THREADS (0 in the `single` variant) and
// how a thread sleeps and wakes.
#ifndef EG_THREADS
#if defined(__EMSCRIPTEN__) && !defined(__EMSCRIPTEN_PTHREADS__)
#define EG_THREADS 0
#else
#define EG_THREADS 1
#endif
#endif

#if EG_THREADS

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/thread.h"

#ifdef __EMSCRIPTEN__
#include <cmath>

#include <emscripten/threading.h>
#endif

namespace eg {
namespace {

// --- How a thread waits -------------------------------------------------------------------------

#ifdef __EMSCRIPTEN__

// emscripten_futex_wait polls on a page's main thread, which must not block, and serves what other
// threads ask of it meanwhile.
void wait_while_equal(std::atomic<std::uint32_t>& word, std::uint32_t value) {
  emscripten_futex_wait(&word, value, INFINITY);
}

void wake_all(std::atomic<std::uint32_t>& word) {
  emscripten_futex_wake(&word, std::numeric_limits<int>::max());
}

void relax() {}

// A pthread's Worker may still need the event loop of the thread that would join it.
constexpr bool kCanJoinUnstarted = false;
// A page is never told that it ends, and Node ends Workers itself.
constexpr bool kShutdownAtExit = false;

#else

void wait_while_equal(std::atomic<std::uint32_t>& word, std::uint32_t value) { word.wait(value); }

void wake_all(std::atomic<std::uint32_t>& word) { word.notify_all(); }

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

constexpr bool kCanJoinUnstarted = true;
constexpr bool kShutdownAtExit = true;

#endif

// How long a thread watches a word before it sleeps: several times what it takes to wake it, for
// the ops of a training step follow each other closely.
constexpr std::chrono::microseconds kPatience{100};
// From one look at the clock to the next, which takes as long as some of these rounds.
constexpr int kRoundsPerLook = 100;
// Rounds that took so long were interrupted: somebody else needs this core.
constexpr std::chrono::microseconds kInterruption{30};

using Nanoseconds = std::chrono::nanoseconds;

Nanoseconds now() { return std::chrono::steady_clock::now().time_since_epoch(); }

/// Spins for as long as `patience` allows, then sleeps, until `word` no longer holds `value`.
template <class Sleep>
void wait_for_change(const std::atomic<std::uint32_t>& word, std::uint32_t value,
                     std::chrono::microseconds patience, Sleep&& sleep) {
  const Nanoseconds start = now();
  for (Nanoseconds last = start, time = start; time - start < patience; last = time) {
    for (int i = 0; i < kRoundsPerLook; ++i) {
      if (word.load(std::memory_order_acquire) != value) return;
      relax();
    }
    time = now();
    if (time - last > kInterruption) break;
  }
  while (word.load(std::memory_order_acquire) == value) sleep();
}

// --- One parallel_for ---------------------------------------------------------------------------

// More chunks than threads, so that a thread that lost its core to another process does not hold
// up the others for its whole share.
constexpr std::int64_t kChunksPerThread = 4;

constinit thread_local bool inside_region = false;

class Region {
 public:
  Region() { inside_region = true; }
  ~Region() { inside_region = false; }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
};

/// The work of one parallel_for; lives on the caller's stack.
class Job {
 public:
  Job(std::int64_t begin, std::int64_t end, std::int64_t chunk, detail::RangeBody run, void* body)
      : end_(end), chunk_(chunk), run_(run), body_(body), next_(begin) {}

  /// Runs chunks until none is left. Returns how many of them it took one after the other at last,
  /// without another thread taking one in between.
  int run_chunks() noexcept {
    const Region region;
    int in_a_row = 0;
    for (std::int64_t last = end_;;) {
      const std::int64_t begin = next_.fetch_add(chunk_, std::memory_order_relaxed);
      if (begin >= end_) return in_a_row;
      in_a_row = begin == last + chunk_ ? in_a_row + 1 : 1;
      last = begin;
      try {
        run_(body_, begin, std::min(begin + chunk_, end_));
      } catch (...) {
        if (!failed_.exchange(true, std::memory_order_relaxed)) error_ = std::current_exception();
        next_.store(end_, std::memory_order_relaxed);
        return in_a_row;
      }
    }
  }

  /// Throws what a body threw; only for the caller, when no helper is inside any more.
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  const std::int64_t end_;
  const std::int64_t chunk_;
  const detail::RangeBody run_;
  void* const body_;
  std::atomic<bool> failed_{false};
  std::exception_ptr error_;
  // On a line of its own: every thread writes it, and the fields above are read for every chunk.
  alignas(64) std::atomic<std::int64_t> next_;
};

/// The way in to a job: an open bit and the number of helpers inside, in one word, so that a helper
/// enters only while the job is certain to exist.
class alignas(64) Gate {
 public:
  /// Claims the gate for a caller.
  bool try_own() { return !owned_.exchange(true, std::memory_order_acquire); }

  void open(Job& job) {
    job_ = &job;
    state_.store(kOpen, std::memory_order_release);
  }

  void close() { state_.fetch_and(~kOpen, std::memory_order_relaxed); }

  /// Enters, works and leaves again. Returns what run_chunks() does, or at once -1 when there is no
  /// job.
  int help() {
    std::uint32_t state = state_.load(std::memory_order_relaxed);
    do {
      if (!(state & kOpen)) return -1;
    } while (!state_.compare_exchange_weak(state, state + 1, std::memory_order_acquire,
                                           std::memory_order_relaxed));
    const int in_a_row = job_->run_chunks();
    // Closed before leaving, or this helper would come straight back while others finish.
    close();
    if (state_.fetch_sub(1, std::memory_order_release) == 1) wake_all(state_);
    return in_a_row;
  }

  /// Waits until no helper is inside a closed gate, then lets other callers have it.
  void release() {
    for (;;) {
      const std::uint32_t inside = state_.load(std::memory_order_acquire);
      if (inside == 0) break;
      wait_for_change(state_, inside, kPatience, [&] { wait_while_equal(state_, inside); });
    }
    owned_.store(false, std::memory_order_release);
  }

 private:
  static constexpr std::uint32_t kOpen = 1U << 31;

  std::atomic<std::uint32_t> state_{0};
  std::atomic<bool> owned_{false};
  Job* job_ = nullptr;
};

// --- The pool -----------------------------------------------------------------------------------

/// What a helper thread and the pool share; outlives a helper that is not joined.
struct Helper {
  std::thread thread;
  std::atomic<bool> started{false};
};

// Of the least size that is shared at all, which takes about 5 us. A sleeping helper needs 20 to 50
// us to come, and calling it costs its caller 5.
constexpr std::int64_t kTasksWorthWaking = 8;

// A helper that gets so many chunks in a row works in place of its caller, not beside it: there is
// no core for both. Then it does not stay awake, and nobody is woken for a while.
constexpr int kChunksInPlace = kChunksPerThread;
constexpr std::chrono::milliseconds kRest{2};

// Callers beyond this many at once work alone: with so many running, no core is idle.
constexpr int kGates = 4;

class ThreadPool {
 public:
  int limit() const { return limit_.load(std::memory_order_relaxed); }

  void set_limit(int count) { limit_.store(std::max(count, 1), std::memory_order_relaxed); }

  void ensure_helpers() {
    const int wanted = limit() - 1;
    if (helper_count_.load(std::memory_order_acquire) >= wanted) return;
    const std::scoped_lock lock(mutex_);
    try {
      while (static_cast<int>(helpers_.size()) < wanted) add_helper();
    } catch (const Error&) {
      // There is no memory for more threads, or the platform gives none: those there are do the
      // work.
      set_limit(static_cast<int>(helpers_.size()) + 1);
    }
  }

  void run(std::int64_t begin, std::int64_t end, std::int64_t grain, detail::RangeBody run,
           void* body) {
    const int threads = limit();
    Gate* gate = threads > 1 && !inside_region ? claim_gate() : nullptr;
    if (!gate) {
      run(body, begin, end);
      return;
    }
    ensure_helpers();
    const std::int64_t chunks = threads * kChunksPerThread;
    Job job(begin, end, std::max({grain, (end - begin + chunks - 1) / chunks, std::int64_t{1}}),
            run, body);
    gate->open(job);
    call_helpers(is_worth_waking(end - begin, grain));
    job.run_chunks();
    gate->close();
    gate->release();
    job.rethrow();
  }

  void shutdown() {
    std::vector<Helper*> ending;
    {
      const std::scoped_lock lock(mutex_);
      generation_.fetch_add(1, std::memory_order_seq_cst);
      ending.swap(helpers_);
      helper_count_.store(0, std::memory_order_release);
    }
    call_helpers(true);
    for (Helper* helper : ending) {
      if (kCanJoinUnstarted || helper->started.load(std::memory_order_acquire)) {
        helper->thread.join();
        delete helper;
      } else {
        // It ends by itself when it starts; its few bytes stay behind.
        helper->thread.detach();
      }
    }
  }

 private:
  Gate* claim_gate() {
    for (Gate& gate : gates_) {
      if (gate.try_own()) return &gate;
    }
    return nullptr;
  }

  void add_helper() {
    auto* helper = new Helper;
    const int index = static_cast<int>(helpers_.size());
    const std::uint32_t generation = generation_.load(std::memory_order_relaxed);
    try {
      helper->thread = start_thread("init", [this, helper, index, generation] {
        helper->started.store(true, std::memory_order_release);
        serve(index, generation);
      });
      helpers_.push_back(helper);
    } catch (...) {
      delete helper;
      throw;
    }
    helper_count_.store(index + 1, std::memory_order_release);
  }

  // True when the work takes much longer than a sleeping helper needs to come. Shorter work is for
  // helpers that are awake, from which no call is kept.
  bool is_worth_waking(std::int64_t count, std::int64_t grain) const {
    // One at a time is what kernels say whose tasks are large.
    const bool is_large = grain <= 1 || count / grain >= kTasksWorthWaking;
    return is_large && sleepers_.load(std::memory_order_relaxed) > 0 &&
           now() >= rest_until_.load(std::memory_order_relaxed);
  }

  void call_helpers(bool also_sleepers) {
    epoch_.fetch_add(1, std::memory_order_seq_cst);
    // Pairs with serve(): either this sees the sleeper or the sleeper sees the new epoch.
    if (also_sleepers && sleepers_.load(std::memory_order_seq_cst) > 0) wake_all(epoch_);
  }

  void serve(int index, std::uint32_t generation) {
    for (;;) {
      const std::uint32_t epoch = epoch_.load(std::memory_order_seq_cst);
      if (generation_.load(std::memory_order_seq_cst) != generation) return;
      int in_a_row = -1;
      if (index < limit() - 1) {
        for (Gate& gate : gates_) in_a_row = std::max(in_a_row, gate.help());
      }
      const bool is_in_the_way = in_a_row >= kChunksInPlace;
      if (is_in_the_way) rest_until_.store(now() + kRest, std::memory_order_relaxed);
      if (in_a_row >= 0 && !is_in_the_way) continue;
      const auto patience = is_in_the_way ? std::chrono::microseconds(0) : kPatience;
      wait_for_change(epoch_, epoch, patience, [&] {
        sleepers_.fetch_add(1, std::memory_order_seq_cst);
        wait_while_equal(epoch_, epoch);
        sleepers_.fetch_sub(1, std::memory_order_relaxed);
      });
    }
  }

  std::array<Gate, kGates> gates_;
  // Counts calls for help; helpers sleep on it.
  alignas(64) std::atomic<std::uint32_t> epoch_{0};
  std::atomic<int> sleepers_{0};
  std::atomic<Nanoseconds> rest_until_{Nanoseconds(0)};
  alignas(64) std::atomic<int> limit_{1};
  std::atomic<int> helper_count_{0};
  std::atomic<std::uint32_t> generation_{0};
  std::mutex mutex_;  // guards helpers_
  std::vector<Helper*> helpers_;
};

ThreadPool& pool() {
  // Never destroyed: helpers and late callers may outlive static destruction.
  static ThreadPool* const instance = [] {
    auto* made = new ThreadPool;
    if constexpr (kShutdownAtExit) std::atexit(shutdown_thread_pool);
    return made;
  }();
  return *instance;
}

}  // namespace

int num_threads() { return pool().limit(); }

void set_num_threads(int count) { pool().set_limit(count); }

void start_thread_pool() { pool().ensure_helpers(); }

void shutdown_thread_pool() { pool().shutdown(); }

bool in_parallel_region() { return inside_region; }

void detail::parallel_run(std::int64_t begin, std::int64_t end, std::int64_t grain, RangeBody run,
                          void* body) {
  pool().run(begin, end, grain, run, body);
}

}  // namespace eg

#else

namespace eg {

int num_threads() { return 1; }

void set_num_threads(int) {}

void start_thread_pool() {}

void shutdown_thread_pool() {}

bool in_parallel_region() { return false; }

void detail::parallel_run(std::int64_t begin, std::int64_t end, std::int64_t, RangeBody run,
                          void* body) {
  run(body, begin, end);
}

}  // namespace eg

#endif
