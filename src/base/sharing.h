#pragma once

// Tracks whether several threads may hold the same objects: tensors, nodes and their parts.
//
// A counter that two threads may change needs an atomic operation, about 20 cycles, and a recorded
// op changes dozens of counters: references, versions, numbers of live objects. But most programs
// hold their objects on one thread, because the helpers of the thread pool see only raw numbers. In
// WebAssembly, where the engine starts every thread itself, counters are therefore plain and locks
// are skipped until a thread that may hold objects is about to start and share_objects() is called.
// That cannot be reverted. In native builds objects are always shared, because tests start threads
// themselves.

#include <cstdint>
#include <mutex>

namespace eg {

#if defined(__EMSCRIPTEN__) && EG_THREADS

namespace detail {
inline constinit bool objects_shared = false;
}  // namespace detail

/// Returns true when threads other than the current one may hold objects.
inline bool objects_are_shared() { return detail::objects_shared; }

/// Must be called before starting a thread that may hold objects.
inline void share_objects() {
  if (!detail::objects_shared) detail::objects_shared = true;
}

#else

constexpr bool objects_are_shared() { return EG_THREADS != 0; }
inline void share_objects() {}

#endif

/// A counter that all threads holding the object may change.
template <class T>
class SharedCount {
 public:
  constexpr explicit SharedCount(T value = 0) : value_(value) {}
  SharedCount(const SharedCount&) = delete;
  SharedCount& operator=(const SharedCount&) = delete;

  T load() const { return __atomic_load_n(&value_, __ATOMIC_ACQUIRE); }
  /// Adds one with relaxed ordering, for counts that no other data depends on.
  void increment() { (void)add(1, __ATOMIC_RELAXED); }
  /// Adds and returns the sum, with acquire-release ordering.
  T add(T amount) { return add(amount, __ATOMIC_ACQ_REL); }
  /// Adds one unless the value is zero; returns false then.
  bool increment_unless_zero() {
    // Acquire also when it is zero, to see the writes that preceded the last decrement.
    T value = load();
    while (value != 0) {
      if (__atomic_compare_exchange_n(&value_, &value, value + 1, true, __ATOMIC_ACQ_REL,
                                      __ATOMIC_ACQUIRE))
        return true;
    }
    return false;
  }
  /// Sets the value, with release ordering.
  void store(T value) {
    if (objects_are_shared())
      __atomic_store_n(&value_, value, __ATOMIC_RELEASE);
    else
      value_ = value;
  }
  /// Sets the initial value, before the object is shared.
  void start_at(T value) { value_ = value; }

 private:
  T add(T amount, int order) {
    if (objects_are_shared()) return __atomic_add_fetch(&value_, amount, order);
    return value_ += amount;
  }

  // Atomic operations need natural alignment, which some platforms do not require of the type.
  alignas(sizeof(T)) T value_;
};

/// A single-owner claim: the first caller of take() becomes the owner.
template <class T>
class SharedClaim {
 public:
  T* owner() const { return __atomic_load_n(&owner_, __ATOMIC_ACQUIRE); }
  /// Returns false when it already has an owner.
  bool take(T* owner) { return replace(nullptr, owner); }
  /// Releases the claim if `owner` holds it.
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

/// Locks a mutex that protects objects, if objects are shared.
inline std::unique_lock<std::mutex> lock_objects(std::mutex& mutex) {
  return objects_are_shared() ? std::unique_lock(mutex) : std::unique_lock(mutex, std::defer_lock);
}

}  // namespace eg
