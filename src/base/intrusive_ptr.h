#pragma once

// Shared ownership with the counts inside the object: a pointer is one word, and a copy changes one
// count. When the last strong reference is released, `T::on_last_release` runs (by default it
// deletes the object); weak references keep the memory allocated, but not the contents alive.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "base/sharing.h"

namespace eg {

/// Base class of everything an IntrusivePtr can own. Counts start at zero.
class RefCounted {
 public:
  RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;

  /// Returns the number of strong references; exact only while no other thread copies or drops one.
  std::uint32_t use_count() const { return strong_.load(); }

 protected:
  ~RefCounted() = default;

 private:
  template <class>
  friend class IntrusivePtr;
  template <class>
  friend class WeakPtr;

  SharedCount<std::uint32_t> strong_{0};
  // All strong references together hold one weak reference.
  SharedCount<std::uint32_t> weak_{1};
};

template <class T>
class IntrusivePtr {
 public:
  IntrusivePtr() = default;
  IntrusivePtr(std::nullptr_t) {}
  explicit IntrusivePtr(T* object) : object_(object) { retain(); }
  // Not inlined, like the destructor: there are thousands of callers.
  [[gnu::noinline]] IntrusivePtr(const IntrusivePtr& other) : object_(other.object_) { retain(); }
  IntrusivePtr(IntrusivePtr&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  template <class U>
    requires std::is_convertible_v<U*, T*>
  IntrusivePtr(const IntrusivePtr<U>& other) : object_(other.get()) {
    retain();
  }
  template <class U>
    requires std::is_convertible_v<U*, T*>
  IntrusivePtr(IntrusivePtr<U>&& other) noexcept : object_(other.detach()) {}
  IntrusivePtr& operator=(IntrusivePtr other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  [[gnu::noinline]] ~IntrusivePtr() { release(); }

  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }
  void reset() { *this = IntrusivePtr(); }

  /// Returns the pointer and gives up ownership without releasing; pair with `adopt`.
  [[nodiscard]] T* detach() { return std::exchange(object_, nullptr); }
  /// Adopts a reference that `detach` returned.
  static IntrusivePtr adopt(T* object) {
    IntrusivePtr pointer;
    pointer.object_ = object;
    return pointer;
  }
  /// Returns the first reference to a new object that is not shared yet.
  static IntrusivePtr first(T* object) {
    object->RefCounted::strong_.start_at(1);
    return adopt(object);
  }

  friend bool operator==(const IntrusivePtr& a, const IntrusivePtr& b) {
    return a.object_ == b.object_;
  }
  friend bool operator==(const IntrusivePtr& a, std::nullptr_t) { return a.object_ == nullptr; }

 private:
  template <class>
  friend class WeakPtr;

  void retain() {
    if (object_ != nullptr) object_->RefCounted::strong_.increment();
  }
  void release() {
    if (object_ == nullptr) return;
    if (object_->RefCounted::strong_.add(-1U) == 0) T::on_last_release(object_);
  }

  T* object_ = nullptr;
};

/// A reference that does not keep its object alive.
template <class T>
class WeakPtr {
 public:
  WeakPtr() = default;
  explicit WeakPtr(const IntrusivePtr<T>& strong) : WeakPtr(strong.get()) {}
  /// The caller must hold a strong reference to `object` during the call.
  explicit WeakPtr(T* object) : object_(object) {
    if (object_ != nullptr) object_->RefCounted::weak_.increment();
  }
  WeakPtr(const WeakPtr& other) : WeakPtr(other.object_) {}
  WeakPtr(WeakPtr&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  WeakPtr& operator=(WeakPtr other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~WeakPtr() {
    if (object_ != nullptr) drop(object_);
  }

  /// Returns a strong reference, or null when the object has been destroyed.
  IntrusivePtr<T> lock() const {
    const bool is_there =
        object_ != nullptr && object_->RefCounted::strong_.increment_unless_zero();
    return is_there ? IntrusivePtr<T>::adopt(object_) : nullptr;
  }

  /// Drops one weak reference and frees the memory with the last one.
  static void drop(T* object) {
    if (object->RefCounted::weak_.add(-1U) == 0) delete object;
  }
  /// Returns true when there are no weak references besides the one of the strong references.
  static bool has_no_weak_references(const T* object) {
    return object->RefCounted::weak_.load() == 1;
  }

 private:
  T* object_ = nullptr;
};

template <class T, class... Args>
IntrusivePtr<T> make_intrusive(Args&&... args) {
  return IntrusivePtr<T>::first(new T(std::forward<Args>(args)...));
}

}  // namespace eg
