#pragma once

// A substitute for Embind: functions of strings by name, which tests call with called().

#include <any>
#include <functional>
#include <string>
#include <unordered_map>

namespace emscripten {

inline std::unordered_map<std::string, std::any>& embound_functions() {
  static auto* const functions = new std::unordered_map<std::string, std::any>;
  return *functions;
}

template <class Result, class... Args>
void function(const char* name, Result (*body)(Args...)) {
  embound_functions()[name] = body;
}

/// Runs a block of bindings at program start.
struct Binding {
  explicit Binding(void (*bind)()) { bind(); }
};

}  // namespace emscripten

#define EMSCRIPTEN_BINDINGS(name)                               \
  static void bind_##name();                                    \
  static const emscripten::Binding name##_binding{bind_##name}; \
  static void bind_##name()
