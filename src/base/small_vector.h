#pragma once

// A vector that stores up to N elements inline. Shapes, edges and gradient lists are nearly always
// short, and a recorded op makes several of them, so they must not allocate.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

namespace eg {

template <class T, std::size_t N>
class SmallVector {
  static_assert(std::is_nothrow_move_constructible_v<T>);

 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  SmallVector() = default;
  explicit SmallVector(std::size_t count) { resize(count); }
  SmallVector(std::size_t count, const T& value) { assign(count, value); }
  SmallVector(std::initializer_list<T> values) { append(values.begin(), values.end()); }
  explicit SmallVector(std::span<const T> values) {
    append(values.data(), values.data() + values.size());
  }
  template <class Iterator>
    requires(!std::is_integral_v<Iterator>)
  SmallVector(Iterator first, Iterator last) {
    append(first, last);
  }
  SmallVector(const SmallVector& other) { append(other.begin(), other.end()); }
  SmallVector(SmallVector&& other) noexcept { take(other); }
  SmallVector& operator=(const SmallVector& other) {
    if (this != &other) {
      clear();
      append(other.begin(), other.end());
    }
    return *this;
  }
  SmallVector& operator=(SmallVector&& other) noexcept {
    if (this != &other) {
      destroy();
      take(other);
    }
    return *this;
  }
  ~SmallVector() { destroy(); }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T& front() { return data_[0]; }
  const T& front() const { return data_[0]; }
  T& back() { return data_[size_ - 1]; }
  const T& back() const { return data_[size_ - 1]; }
  operator std::span<const T>() const { return {data_, size_}; }

  void push_back(T value) { emplace_back(std::move(value)); }
  /// Constructs an element at the end. The arguments must not be elements of this vector.
  template <class... Args>
  T& emplace_back(Args&&... args) {
    reserve(size_ + 1);
    T* made = new (static_cast<void*>(data_ + size_)) T(std::forward<Args>(args)...);
    ++size_;
    return *made;
  }
  void pop_back() { data_[--size_].~T(); }
  void clear() {
    std::destroy(begin(), end());
    size_ = 0;
  }
  void resize(std::size_t count) {
    reserve(count);
    if (count > size_) std::uninitialized_value_construct(end(), data_ + count);
    if (count < size_) std::destroy(data_ + count, end());
    size_ = static_cast<Size>(count);
  }
  void assign(std::size_t count, const T& value) {
    clear();
    reserve(count);
    std::uninitialized_fill_n(data_, count, value);
    size_ = static_cast<Size>(count);
  }
  template <class Iterator>
  void append(Iterator first, Iterator last) {
    const auto count = static_cast<std::size_t>(std::distance(first, last));
    reserve(size_ + count);
    std::uninitialized_copy(first, last, end());
    size_ += static_cast<Size>(count);
  }
  void insert(std::size_t position, T value) {
    push_back(std::move(value));
    std::rotate(begin() + position, end() - 1, end());
  }
  void erase(std::size_t position) {
    std::move(begin() + position + 1, end(), begin() + position);
    pop_back();
  }
  void reserve(std::size_t count) {
    if (count > capacity_) grow(std::max<std::size_t>(count, 2 * std::size_t{capacity_}));
  }

  friend bool operator==(const SmallVector& a, const SmallVector& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
  /// Formats as "[2, 3]", for messages.
  friend void append_text(std::string& out, const SmallVector& values) {
    out += '[';
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i != 0) out += ", ";
      out += std::to_string(values[i]);
    }
    out += ']';
  }

 private:
  using Size = std::uint32_t;

  T* inline_data() { return reinterpret_cast<T*>(inline_); }
  bool is_inline() { return data_ == inline_data(); }

  // Seldom needed, so its code is not repeated where elements are added.
  [[gnu::noinline]] void grow(std::size_t capacity) {
    if (capacity > std::numeric_limits<Size>::max()) throw std::bad_array_new_length();
    T* grown = std::allocator<T>().allocate(capacity);
    std::uninitialized_move(begin(), end(), grown);
    std::destroy(begin(), end());
    free_heap();
    data_ = grown;
    capacity_ = static_cast<Size>(capacity);
  }
  void free_heap() {
    if (!is_inline()) std::allocator<T>().deallocate(data_, capacity_);
  }
  void destroy() {
    std::destroy(begin(), end());
    free_heap();
    data_ = inline_data();
    size_ = 0;
    capacity_ = N;
  }
  // Leaves `other` empty. This vector must be empty.
  void take(SmallVector& other) {
    if (other.is_inline()) {
      std::uninitialized_move(other.begin(), other.end(), data_);
      size_ = other.size_;
      other.clear();
      return;
    }
    data_ = std::exchange(other.data_, other.inline_data());
    capacity_ = std::exchange(other.capacity_, static_cast<Size>(N));
    size_ = std::exchange(other.size_, 0);
  }

  T* data_ = inline_data();
  Size size_ = 0;
  Size capacity_ = N;
  alignas(T) std::byte inline_[N * sizeof(T)];
};

/// Insertion sort for a few elements; each instantiation of std::sort costs kilobytes of code.
template <class Values, class Less = std::less<>>
void sort_few(Values& values, Less less = {}) {
  for (std::size_t i = 1; i < values.size(); ++i) {
    for (std::size_t j = i; j > 0 && less(values[j], values[j - 1]); --j) {
      std::swap(values[j], values[j - 1]);
    }
  }
}

}  // namespace eg
