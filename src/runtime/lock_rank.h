#pragma once

// The law of the locks around a device, which debug builds check.
//
// A thread may hold the *order* of a device while it waits for the device (Accelerator::lock). So
// the thread that plays the device's queue, which answers that wait, must never wait for the order:
// neither in its own work nor in destructors of what it releases, such as the tensors of a read
// that it has answered. All other locks are *brief*: nobody waits for anything while holding one,
// and so every thread may wait for them. They are locked in the order of their ranks.

#include <cstdint>
#include <mutex>
#include <utility>

#include "base/error.h"

namespace eg {

enum class LockRank : std::uint8_t {
  kNone,
  kDeviceOrder,  ///< the order of a device's calls; may be held while waiting
  kRecordings,   ///< the registry of recordings
  kDevice,       ///< the state of a device
};

#ifdef NDEBUG

class PlayerScope {
 public:
  PlayerScope() {}
};

inline void check_may_wait() {}

template <LockRank, class Mutex = std::mutex>
using RankedMutex = Mutex;

#else

namespace detail {
inline constinit thread_local LockRank highest_rank = LockRank::kNone;
inline constinit thread_local bool plays_device = false;
}  // namespace detail

/// While in scope, this thread plays a device's queue.
class PlayerScope {
 public:
  PlayerScope() : previous_(std::exchange(detail::plays_device, true)) {}
  ~PlayerScope() { detail::plays_device = previous_; }
  PlayerScope(const PlayerScope&) = delete;
  PlayerScope& operator=(const PlayerScope&) = delete;

 private:
  bool previous_;
};

/// Fails if this thread must not wait for a device now.
inline void check_may_wait() {
  invariant(!detail::plays_device, "the thread that plays a device's queue waits for the device");
  invariant(detail::highest_rank <= LockRank::kDeviceOrder,
            "a thread waits for a device while it holds a brief lock");
}

/// A mutex that checks the law above.
template <LockRank rank, class Mutex = std::mutex>
class RankedMutex {
 public:
  void lock() {
    invariant(rank != LockRank::kDeviceOrder || !detail::plays_device,
              "the thread that plays a device's queue waits for the order of its calls");
    // Only the order is recursive.
    invariant(detail::highest_rank < rank ||
                  (rank == LockRank::kDeviceOrder && detail::highest_rank == rank),
              "locks are taken against their order");
    mutex_.lock();
    if (depth_++ == 0) before_ = std::exchange(detail::highest_rank, rank);
  }
  void unlock() {
    if (--depth_ == 0) detail::highest_rank = before_;
    mutex_.unlock();
  }

 private:
  Mutex mutex_;
  // Guarded by the mutex.
  LockRank before_ = LockRank::kNone;
  int depth_ = 0;
};

#endif

}  // namespace eg
