#pragma once

// Lists of types. They are the only registry of the project: every table (kernels, nodes, bindings,
// documentation, tests) is derived by iterating over such a list at compile time.

#include <cstddef>
#include <utility>

namespace eg {

template <class... Ts>
struct TypeList {
  static constexpr std::size_t size = sizeof...(Ts);

  /// Calls `visit.template operator()<T>()` for each type, in order.
  template <class Visit>
  static constexpr void for_each(Visit&& visit) {
    // An array, not a fold over the comma: compilers limit how deep folds nest.
    [[maybe_unused]] const char in_order[] = { '\0', (visit.template operator()<Ts>(), '\0')... };
  }

  /// Applies a class template to all types: `List::apply<testing::Types>`.
  template <template <class...> class Template>
  using apply = Template<Ts...>;
};

namespace detail {
template <class... Lists>
struct ConcatImpl;
template <class... As>
struct ConcatImpl<TypeList<As...>> {
  using type = TypeList<As...>;
};
template <class... As, class... Bs, class... Rest>
struct ConcatImpl<TypeList<As...>, TypeList<Bs...>, Rest...> {
  using type = typename ConcatImpl<TypeList<As..., Bs...>, Rest...>::type;
};
}  // namespace detail

/// Concatenates lists.
template <class... Lists>
using Concat = typename detail::ConcatImpl<Lists...>::type;

}  // namespace eg
