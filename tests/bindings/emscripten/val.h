#pragma once

// The parts of emscripten::val that the bindings use: a number, a string, or a function of the
// module.

#include <functional>
#include <string>
#include <utility>
#include <variant>

namespace emscripten {

class val {
 public:
  using Function = std::function<val(const val&)>;

  val() = default;
  explicit val(double number) : value_(number) {}
  explicit val(std::string text) : value_(std::move(text)) {}
  explicit val(Function function) : value_(std::move(function)) {}

  /// Returns a property of this thread's module (js/module.cpp).
  static val module_property(const char* name);

  bool isUndefined() const { return std::holds_alternative<std::monostate>(value_); }

  template <class... Args>
  val operator()(const Args&... args) const {
    return std::get<Function>(value_)(val(args)...);
  }
  val operator()() const { return std::get<Function>(value_)(val()); }

  template <class T>
  T as() const {
    return std::get<T>(value_);
  }

  /// Only "toString" of a number.
  template <class T>
  T call(const char* method) const {
    return text_of(std::get<double>(value_), method);
  }

 private:
  static std::string text_of(double number, const std::string& method);

  std::variant<std::monostate, double, std::string, Function> value_;
};

}  // namespace emscripten
