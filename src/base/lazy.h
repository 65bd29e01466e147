#pragma once

#include <atomic>
#include <memory>

namespace eg {

/// An optional T that few objects need: one pointer, allocated at the first ensure(), which several
/// threads may call at once.
template <class T>
class Lazy {
 public:
  Lazy() = default;
  Lazy(const Lazy&) = delete;
  Lazy& operator=(const Lazy&) = delete;
  ~Lazy() { delete get(); }

  /// Returns the T, or null when there is none.
  T* get() const { return value_.load(std::memory_order_acquire); }

  /// Returns the T, creating it if there is none.
  T& ensure() {
    if (T* value = get()) return *value;
    auto made = std::make_unique<T>();
    T* expected = nullptr;
    if (!value_.compare_exchange_strong(expected, made.get(), std::memory_order_acq_rel)) {
      return *expected;
    }
    return *made.release();
  }

  /// Destroys the T; no other thread may use it during the call.
  void reset() { delete value_.exchange(nullptr, std::memory_order_acq_rel); }

 private:
  std::atomic<T*> value_{nullptr};
};

}  // namespace eg
