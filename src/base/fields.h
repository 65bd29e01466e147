#pragma once

// Reflection for plain structs: references to the fields and their offsets. With it, a call of any
// kernel is recorded for a device without code per kernel. C++ has no reflection, so the number of
// fields is found by testing how many values the struct can be initialized from, and the field
// types come from a structured binding of that size.

#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace eg {

namespace detail {

struct AnyField {
  template <class T>
  operator T() const;  // never defined
};

template <class Struct, std::size_t... I>
constexpr bool takes_values(std::index_sequence<I...>) {
  return requires { Struct{(static_cast<void>(I), AnyField{})...}; };
}

// One more than supported, so that a struct with too many fields is detected.
inline constexpr std::size_t kMaxCounted = 13;

template <class Struct, std::size_t kCount = kMaxCounted>
constexpr std::size_t count_fields() {
  if constexpr (takes_values<Struct>(std::make_index_sequence<kCount>{}))
    return kCount;
  else
    return count_fields<Struct, kCount - 1>();
}

}  // namespace detail

inline constexpr std::size_t kMaxFields = detail::kMaxCounted - 1;

/// Returns references to the fields, in order, of a struct without base classes or C arrays.
template <class Struct>
constexpr auto fields_of(Struct& s) {
  constexpr std::size_t kCount = detail::count_fields<std::remove_const_t<Struct>>();
  static_assert(kCount <= kMaxFields);
  // One branch per size: C++20 cannot generate a structured binding of a computed size.
  if constexpr (kCount == 0) {
    return std::tuple<>();
  } else if constexpr (kCount == 1) {
    auto& [a] = s;
    return std::tie(a);
  } else if constexpr (kCount == 2) {
    auto& [a, b] = s;
    return std::tie(a, b);
  } else if constexpr (kCount == 3) {
    auto& [a, b, c] = s;
    return std::tie(a, b, c);
  } else if constexpr (kCount == 4) {
    auto& [a, b, c, d] = s;
    return std::tie(a, b, c, d);
  } else if constexpr (kCount == 5) {
    auto& [a, b, c, d, e] = s;
    return std::tie(a, b, c, d, e);
  } else if constexpr (kCount == 6) {
    auto& [a, b, c, d, e, f] = s;
    return std::tie(a, b, c, d, e, f);
  } else if constexpr (kCount == 7) {
    auto& [a, b, c, d, e, f, g] = s;
    return std::tie(a, b, c, d, e, f, g);
  } else if constexpr (kCount == 8) {
    auto& [a, b, c, d, e, f, g, h] = s;
    return std::tie(a, b, c, d, e, f, g, h);
  } else if constexpr (kCount == 9) {
    auto& [a, b, c, d, e, f, g, h, i] = s;
    return std::tie(a, b, c, d, e, f, g, h, i);
  } else if constexpr (kCount == 10) {
    auto& [a, b, c, d, e, f, g, h, i, j] = s;
    return std::tie(a, b, c, d, e, f, g, h, i, j);
  } else if constexpr (kCount == 11) {
    auto& [a, b, c, d, e, f, g, h, i, j, k] = s;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k);
  } else {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l] = s;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l);
  }
}

namespace detail {

template <class References>
struct FieldTypes;
template <class... T>
struct FieldTypes<std::tuple<T&...>> {
  using Tuple = std::tuple<T...>;
};

}  // namespace detail

/// The types of the fields, as a tuple.
template <class Struct>
using FieldsOf = typename detail::FieldTypes<decltype(fields_of(std::declval<Struct&>()))>::Tuple;

/// The byte offset of each field.
template <class Struct>
inline constexpr auto kFieldOffsets = []<class... T>(std::tuple<T...>*) {
  constexpr auto kRoundUp = [](std::size_t at, std::size_t to) { return (at + to - 1) / to * to; };
  std::array<std::size_t, sizeof...(T)> offsets{};
  std::size_t end = 0;
  std::size_t i = 0;
  ((offsets[i] = kRoundUp(end, alignof(T)), end = offsets[i] + sizeof(T), ++i), ...);
  // Detects a layout that differs from this computation, such as other members between the fields.
  if (kRoundUp(end, alignof(Struct)) != sizeof(Struct)) throw "not a plain struct";
  return offsets;
}(static_cast<FieldsOf<Struct>*>(nullptr));

}  // namespace eg
