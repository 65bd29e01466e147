#pragma once

#include <set>
#include <string_view>
#include <utility>

#include "js/failing_memory.h"

namespace eg::testing::js {

/// The names of the native functions that this program has called on this thread.
inline std::set<std::string_view>& called_exports() {
  static thread_local std::set<std::string_view> names;
  return names;
}

/// A native function, as JavaScript calls it.
template <auto* function>
struct Export {
  std::string_view name;

  template <class... Args>
  auto operator()(Args... args) const {
    called_exports().insert(name);
    const RunningScope scope(Running::kEngine);
    return function(args...);
  }
};

}  // namespace eg::testing::js
