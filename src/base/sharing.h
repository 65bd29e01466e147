#pragma once

// Whether several threads may hold the same objects: tensors, nodes and what belongs to them.
//
// A number that two threads may change costs an atomic operation, about 20 cycles, and a recorded
// op changes dozens: references, versions, how many objects there are. But most programs hold their
// objects on one thread, for the helpers of the thread pool see numbers only. So in WebAssembly,
// where this engine starts every thread there is, counts are plain and locks are left out until
// somebody starts another thread that may hold objects, who says so first: share_objects(). There
// is no way back. Natively objects are always shared, for tests start threads themselves.

#include <cstdint>
#include <mutex>

namespace eg {

#if defined(__EMSCRIPTEN__) && EG_THREADS

namespace detail {
inline constinit bool objects_shared = false;
}  // namespace detail

/// True when another thread than this one may hold objects.
inline bool objects_are_shared() { return detail::objects_shared; }

/// Says that a thread is about to be started that may hold objects.
inline void share_objects() {
  if (!detail::objects_shared) detail::objects_shared = true;
}

#else

constexpr bool objects_are_shared() { return EG_THREADS != 0; }
inline void share_objects() {}

#endif

/// A number that all threads change which hold objects.
template <class T>
class SharedCount {
 public:
  constexpr explicit SharedCount(T value = 0) : value_(value) {}
  SharedCount(const SharedCount&) = delete;
  SharedCount& operator=(const SharedCount&) = delete;

  T load() const { return __atomic_load_n(&value_, __ATOMIC_ACQUIRE); }
  /// Adds one where nothing depends on what other threads have written before.
  void increment() { (void)add(1, __ATOMIC_RELAXED); }
  /// Adds and returns the sum; what was written before is seen by whoever sees the sum.
  T add(T amount) { return add(amount, __ATOMIC_ACQ_REL); }
  /// Adds one unless it is zero; returns false then.
  bool increment_unless_zero() {
    // Acquire also for a zero: what made it zero came before.
    T value = load();
    while (value != 0) {
      if (__atomic_compare_exchange_n(&value_, &value, value + 1, true, __ATOMIC_ACQ_REL,
                                      __ATOMIC_ACQUIRE))
        return true;
    }
    return false;
  }
  /// Sets it; what was written before is seen by whoever sees the new value.
  void store(T value) {
    if (objects_are_shared())
      __atomic_store_n(&value_, value, __ATOMIC_RELEASE);
    else
      value_ = value;
  }
  /// Sets it before anybody else knows of it.
  void start_at(T value) { value_ = value; }

 private:
  T add(T amount, int order) {
    if (objects_are_shared()) return __atomic_add_fetch(&value_, amount, order);
    return value_ += amount;
  }

  // As atomic operations ask for it, where the platform asks for less.
  alignas(sizeof(T)) T value_;
};

/// A place that belongs to the first who takes it.
template <class T>
class SharedClaim {
 public:
  T* owner() const { return __atomic_load_n(&owner_, __ATOMIC_ACQUIRE); }
  /// Returns false when it is somebody's.
  bool take(T* owner) { return replace(nullptr, owner); }
  /// Does nothing unless it is `owner`'s.
  void leave(T* owner) { (void)replace(owner, nullptr); }

 private:
  bool replace(T* expected, T* owner) {
    if (objects_are_shared())
      return __atomic_compare_exchange_n(&owner_, &expected, owner, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_ACQUIRE);
    if (owner_ != expected) return false;
    owner_ = owner;
    return true;
  }

  T* owner_ = nullptr;
};

/// Holds a mutex of objects if they are shared.
inline std::unique_lock<std::mutex> lock_objects(std::mutex& mutex) {
  return objects_are_shared() ? std::unique_lock(mutex) : std::unique_lock(mutex, std::defer_lock);
}

}  // namespace eg
