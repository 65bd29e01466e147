#pragma once

// JavaScript values that C++ holds, and JavaScript functions that it calls.
//
// JavaScript keeps each of them in a table (web/src/runtime/callbacks.ts) and gives C++ its number.
// Whoever holds a JsValue owns that entry: its destructor tells JavaScript to forget the value. So
// a native function that is given a number owns it from the first line on, also when it fails.
//
// Arguments and results of a function are words, as everywhere at the border, and travel through
// the frame. A handle among the arguments is owned by the function; one among the results is not.

#include <exception>
#include <memory>
#include <string>
#include <thread>

#include "base/small_vector.h"

namespace eg::bindings {

/// Owns an entry of JavaScript's table of values.
class JsValue {
 public:
  explicit JsValue(double id) : id_(id) {}
  ~JsValue();
  JsValue(const JsValue&) = delete;
  JsValue& operator=(const JsValue&) = delete;

  double id() const { return id_; }

 private:
  double id_;
};

/// What a JavaScript function threw, on its way to the JavaScript code that called C++.
class JsException final : public std::exception {
 public:
  explicit JsException(double id) : thrown_(std::make_shared<JsValue>(id)) {}
  const char* what() const noexcept override { return "a JavaScript function threw"; }
  const std::shared_ptr<JsValue>& thrown() const { return thrown_; }

 private:
  std::shared_ptr<JsValue> thrown_;
};

using Words = SmallVector<double, 8>;

/// A JavaScript function; it belongs to the thread that gave it to C++.
class JsFunction {
 public:
  explicit JsFunction(double id) : value_(id) {}

  /// Calls the function; throws JsException when it throws.
  Words operator()(const Words& arguments = {}) const;

  /// The function's own name, for messages.
  std::string name() const;

  double id() const { return value_.id(); }

 private:
  JsValue value_;
  std::thread::id owner_ = std::this_thread::get_id();
};

}  // namespace eg::bindings
