#pragma once

// What the fields of plain structs and the enumerators of enums are called, at compile time. C++20
// has no reflection, but a function template knows its arguments: __PRETTY_FUNCTION__ spells a
// pointer to a field, and an enumerator, with its name.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/fields.h"

namespace eg {

namespace detail {

template <class Struct>
struct Holder {
  Struct value;
};

#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-var-template"
#endif
// Never defined: only its address is used, and only at compile time.
template <class Struct>
extern const Holder<Struct> kNowhere;

template <class Field>
struct PointerTo {
  const Field* field;
};
template <class Field>
PointerTo(const Field*) -> PointerTo<Field>;

template <auto kArgument>
consteval std::string_view spelled() {
  return __PRETTY_FUNCTION__;
}

template <class T>
consteval std::string_view spelled_type() {
  return __PRETTY_FUNCTION__;
}

// "... .value.kind}" (clang) or "... ::value.Softmax::kind)}" (gcc).
template <class Struct, std::size_t I>
consteval std::string_view field_name() {
  constexpr PointerTo kPointer{&std::get<I>(fields_of(kNowhere<Struct>.value))};
  constexpr std::string_view kBeforeField = "value.";
  std::string_view text = spelled<kPointer>();
  text.remove_prefix(text.find(kBeforeField) + kBeforeField.size());
  text = text.substr(0, std::min(text.find(")}"), text.find_last_of('}')));
  return text.substr(text.rfind(':') + 1);
}
#ifdef __clang__
#pragma clang diagnostic pop
#endif

// "... [kArgument = eg::kernel::SoftmaxKind::kLog]"; a number that has no enumerator begins with
// a bracket.
template <auto kValue>
consteval std::string_view enumerator_name() {
  std::string_view text = spelled<kValue>();
  text.remove_prefix(text.find("= ") + 2);
  text = text.substr(0, text.find_first_of(";]"));
  return text.front() == '(' ? std::string_view() : text.substr(text.rfind(':') + 1);
}

}  // namespace detail

/// The name of a class or an enum, without its namespaces.
template <class T>
consteval std::string_view type_name() {
  // "... [T = eg::kernel::Softmax]" (clang) or "... [with T = eg::kernel::Softmax; ...]" (gcc)
  std::string_view text = detail::spelled_type<T>();
  text.remove_prefix(text.find("T = ") + 4);
  text = text.substr(0, text.find_first_of(";]"));
  return text.substr(text.rfind(':') + 1);
}

/// Calls visit.template operator()<Type>(name) for every field of a plain struct, in order.
template <class Struct, class Visit>
constexpr void for_each_field_name(Visit&& visit) {
  using Types = FieldsOf<Struct>;
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (visit.template operator()<std::tuple_element_t<I, Types>>(detail::field_name<Struct, I>()),
     ...);
  }(std::make_index_sequence<std::tuple_size_v<Types>>{});
}

/// Calls visit(name, number) for the enumerators whose numbers are below 32, in order.
template <class Enum, class Visit>
constexpr void for_each_enumerator(Visit&& visit) {
  constexpr std::size_t kMostEnumerators = 32;
  const auto visit_one = [&](std::string_view name, std::size_t number) {
    if (!name.empty()) visit(name, number);
  };
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (visit_one(detail::enumerator_name<static_cast<Enum>(I)>(), I), ...);
  }(std::make_index_sequence<kMostEnumerators>{});
}

/// The same for an enum of flags: its enumerators are powers of two below 2^16.
template <class Enum, class Visit>
constexpr void for_each_flag(Visit&& visit) {
  constexpr std::size_t kMostFlags = 16;
  const auto visit_one = [&](std::string_view name, std::size_t number) {
    if (!name.empty()) visit(name, number);
  };
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (visit_one(detail::enumerator_name<static_cast<Enum>(1U << I)>(), std::size_t{1} << I), ...);
  }(std::make_index_sequence<kMostFlags>{});
}

}  // namespace eg
