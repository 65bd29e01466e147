// compile: engine

#include "runtime/thread_pool.h"

// All platform conditions on threads in the engine: EG_THREADS (0 in the `single` variant), and how
// a thread sleeps and wakes.
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
#include "base/parts.h"
#include "base/thread.h"

#ifdef __EMSCRIPTEN__
#include <cmath>

#include <emscripten/threading.h>
#endif

namespace eg {
namespace {

// --- How a thread waits -------------------------------------------------------------------------

#ifdef __EMSCRIPTEN__

// The thread that started the engine answers other threads' requests, for example for a part of the
// engine, and the one it waits for may send one. Each call of emscripten_futex_wait answers those
// that have arrived; only on a page's main thread, which must not block, it also does so later.
constexpr double kAnswerMs = 1;

/// Returns when the word has another value, or earlier.
void wait_while_equal(std::atomic<std::uint32_t>& word, std::uint32_t value) {
  emscripten_futex_wait(&word, value, emscripten_is_main_runtime_thread() ? kAnswerMs : INFINITY);
}

void wake_all(std::atomic<std::uint32_t>& word) {
  emscripten_futex_wake(&word, std::numeric_limits<int>::max());
}

void relax() {}

// A pthread's Worker may need the event loop of the joining thread in order to start.
constexpr bool kCanJoinUnstarted = false;
// A page is not notified when it ends, and Node terminates Workers itself.
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

// How long a thread spins before it sleeps: several times the duration of a wake-up, because the
// ops of a training step follow each other closely.
constexpr std::chrono::microseconds kSpinTime{100};
// Spins between two clock reads. A clock read takes as long as several of them.
constexpr int kSpinsPerClockRead = 100;
// If the spins between two clock reads take longer than this, the thread was preempted: another
// thread needs this core.
constexpr std::chrono::microseconds kInterruption{30};

using Nanoseconds = std::chrono::nanoseconds;

Nanoseconds now() { return std::chrono::steady_clock::now().time_since_epoch(); }

/// Spins for up to `spin_time`, then sleeps, until `word` no longer holds `value`.
template <class Sleep>
void wait_for_change(const std::atomic<std::uint32_t>& word, std::uint32_t value,
                     std::chrono::microseconds spin_time, Sleep&& sleep) {
  const Nanoseconds start = now();
  for (Nanoseconds last = start, time = start; time - start < spin_time; last = time) {
    for (int i = 0; i < kSpinsPerClockRead; ++i) {
      if (word.load(std::memory_order_acquire) != value) return;
      relax();
    }
    time = now();
    if (time - last > kInterruption) break;
  }
  while (word.load(std::memory_order_acquire) == value) sleep();
}

// --- One parallel_for ---------------------------------------------------------------------------

// More chunks than threads, so that a thread that lost its core to another process delays the
// others by only a part of its share.
constexpr std::int64_t kChunksPerThread = 4;

constinit thread_local bool inside_region = false;

class Region {
 public:
  Region() { inside_region = true; }
  ~Region() { inside_region = false; }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
};

/// The work of one parallel_for, on the caller's stack.
class Job {
 public:
  Job(std::int64_t begin, std::int64_t end, std::int64_t chunk, detail::RangeBody run, void* body)
      : end_(end), chunk_(chunk), run_(run), body_(body), next_(begin) {}

  /// Runs chunks until none is left. Returns how many it took consecutively at the end, without
  /// another thread taking one in between.
  int run_chunks() noexcept {
    const Region region;
    int consecutive = 0;
    for (std::int64_t last = end_;;) {
      const std::int64_t begin = next_.fetch_add(chunk_, std::memory_order_relaxed);
      if (begin >= end_) return consecutive;
      consecutive = begin == last + chunk_ ? consecutive + 1 : 1;
      last = begin;
      try {
        run_(body_, begin, std::min(begin + chunk_, end_));
      } catch (...) {
        if (!failed_.exchange(true, std::memory_order_relaxed)) error_ = std::current_exception();
        next_.store(end_, std::memory_order_relaxed);
        return consecutive;
      }
    }
  }

  /// Rethrows what a body threw; for the caller, after the last helper has left.
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
  // On its own cache line: every thread writes it, while all threads read the fields above for
  // every chunk.
  alignas(64) std::atomic<std::int64_t> next_;
};

/// The entry to a job: an open bit and the number of helpers inside in one word, so that a helper
/// can only enter while the job exists.
class alignas(64) Gate {
 public:
  /// Claims the gate for a caller.
  bool try_own() { return !owned_.exchange(true, std::memory_order_acquire); }

  void open(Job& job) {
    job_ = &job;
    state_.store(kOpen, std::memory_order_release);
  }

  void close() { state_.fetch_and(~kOpen, std::memory_order_relaxed); }

  /// Enters, works and leaves. Returns the result of run_chunks(), or -1 if there is no job.
  int help() {
    std::uint32_t state = state_.load(std::memory_order_relaxed);
    do {
      if (!(state & kOpen)) return -1;
    } while (!state_.compare_exchange_weak(state, state + 1, std::memory_order_acquire,
                                           std::memory_order_relaxed));
    catch_up_with_parts();
    const int consecutive = job_->run_chunks();
    // Closed before leaving; otherwise this helper would immediately re-enter while others finish.
    close();
    if (state_.fetch_sub(1, std::memory_order_release) == 1) wake_all(state_);
    return consecutive;
  }

  /// Waits until no helper is inside a closed gate, then makes the gate available to other callers.
  void release() {
    for (;;) {
      const std::uint32_t inside = state_.load(std::memory_order_acquire);
      if (inside == 0) break;
      wait_for_change(state_, inside, kSpinTime, [&] { wait_while_equal(state_, inside); });
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

/// State shared by a helper thread and the pool; leaked for a helper that is not joined.
struct Helper {
  std::thread thread;
  std::atomic<bool> started{false};
};

// In tasks of the minimum size, which take about 5 us. A sleeping helper needs 20 to 50 us to start
// working, and waking it costs the caller 5.
constexpr std::int64_t kTasksWorthWaking = 8;

// A helper that takes this many chunks consecutively is running instead of its caller, not in
// parallel: there is no free core. It then goes to sleep, and no helper is woken for a while.
constexpr int kChunksWithoutFreeCore = kChunksPerThread;
constexpr std::chrono::milliseconds kWakePause{2};

// With more callers than this at once, further ones work alone: no core is idle then.
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
    } catch (const std::exception&) {
      // There is no memory for more threads, or the platform's limit is reached: use the existing
      // ones.
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
    notify_helpers(is_worth_waking(end - begin, grain));
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
    notify_helpers(true);
    for (Helper* helper : ending) {
      if (kCanJoinUnstarted || helper->started.load(std::memory_order_acquire)) {
        helper->thread.join();
        delete helper;
      } else {
        // It ends by itself when it starts; its few bytes are leaked.
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
    helpers_.reserve(static_cast<std::size_t>(limit()));
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

  // Returns true if the work takes much longer than waking a helper. Shorter work is left to
  // helpers that are awake, which are always notified.
  bool is_worth_waking(std::int64_t count, std::int64_t grain) const {
    // Kernels with large tasks use a grain of one.
    const bool is_large = grain <= 1 || count / grain >= kTasksWorthWaking;
    return is_large && sleepers_.load(std::memory_order_relaxed) > 0 &&
           now() >= no_wake_until_.load(std::memory_order_relaxed);
  }

  void notify_helpers(bool also_sleepers) {
    epoch_.fetch_add(1, std::memory_order_seq_cst);
    // Pairs with serve(): either this thread sees the sleeper, or the sleeper sees the new epoch.
    if (also_sleepers && sleepers_.load(std::memory_order_seq_cst) > 0) wake_all(epoch_);
  }

  void serve(int index, std::uint32_t generation) {
    for (;;) {
      const std::uint32_t epoch = epoch_.load(std::memory_order_seq_cst);
      if (generation_.load(std::memory_order_seq_cst) != generation) return;
      int consecutive = -1;
      if (index < limit() - 1) {
        for (Gate& gate : gates_) consecutive = std::max(consecutive, gate.help());
      }
      const bool has_no_free_core = consecutive >= kChunksWithoutFreeCore;
      if (has_no_free_core) no_wake_until_.store(now() + kWakePause, std::memory_order_relaxed);
      if (consecutive >= 0 && !has_no_free_core) continue;
      const auto spin_time = has_no_free_core ? std::chrono::microseconds(0) : kSpinTime;
      wait_for_change(epoch_, epoch, spin_time, [&] {
        sleepers_.fetch_add(1, std::memory_order_seq_cst);
        wait_while_equal(epoch_, epoch);
        sleepers_.fetch_sub(1, std::memory_order_relaxed);
      });
    }
  }

  std::array<Gate, kGates> gates_;
  // Counts the notifications of helpers, which sleep on it.
  alignas(64) std::atomic<std::uint32_t> epoch_{0};
  std::atomic<int> sleepers_{0};
  std::atomic<Nanoseconds> no_wake_until_{Nanoseconds(0)};
  alignas(64) std::atomic<int> limit_{1};
  std::atomic<int> helper_count_{0};
  std::atomic<std::uint32_t> generation_{0};
  std::mutex mutex_;  // guards helpers_
  std::vector<Helper*> helpers_;
};

ThreadPool& pool() {
  // Never destroyed: helpers and late callers may outlive static destructors.
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
