#pragma once

#include <atomic>
#include <memory>

namespace eg {

/// Room for a T that few objects need: one pointer until somebody asks for it, also when several
/// threads ask at once.
template <class T>
class Lazy {
 public:
  Lazy() = default;
  Lazy(const Lazy&) = delete;
  Lazy& operator=(const Lazy&) = delete;
  ~Lazy() { delete get(); }

  /// The T, or null when there is none.
  T* get() const { return value_.load(std::memory_order_acquire); }

  /// The T, made when there is none.
  T& ensure() {
    if (T* value = get()) return *value;
    auto made = std::make_unique<T>();
    T* expected = nullptr;
    if (!value_.compare_exchange_strong(expected, made.get(), std::memory_order_acq_rel)) {
      return *expected;
    }
    return *made.release();
  }

  /// Drops the T; nobody else may use it meanwhile.
  void reset() { delete value_.exchange(nullptr, std::memory_order_acq_rel); }

 private:
  std::atomic<T*> value_{nullptr};
};

}  // namespace eg
