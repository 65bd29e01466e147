#pragma once

// JavaScript values that C++ holds, and JavaScript functions that it calls.
//
// JavaScript keeps each of them in a table (web/src/runtime/callbacks.ts) and gives C++ its number.
// Whoever holds a JsValue owns that entry: its destructor tells JavaScript to forget the value. So
// a native function that is given a number owns it from the first line on, also when it fails.
//
// A value lives on the thread that gave it to C++. A function that is called elsewhere, by a
// backward call that runs on another thread, is run there through that thread's Inbox, with the
// modes of the caller; what it throws can then arrive only as a copy.
//
// Arguments and results of a function are words, as everywhere at the border, and travel through
// the frame. A handle among the arguments is owned by the function; one among the results is not.

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "base/small_vector.h"
#include "runtime/inbox.h"

namespace eg::bindings {

/// Owns an entry of JavaScript's table of values.
class JsValue {
 public:
  explicit JsValue(double id) : id_(id) {}
  ~JsValue();
  JsValue(const JsValue&) = delete;
  JsValue& operator=(const JsValue&) = delete;

  double id() const { return id_; }
  /// The inbox of the thread that the value lives on.
  const std::shared_ptr<Inbox>& owner() const { return owner_; }
  bool is_of_this_thread() const { return owner_ == Inbox::current(); }

 private:
  double id_;
  std::shared_ptr<Inbox> owner_ = Inbox::current();
};

/// What a JavaScript function threw, on its way to the JavaScript code that called C++.
class JsException final : public std::exception {
 public:
  explicit JsException(double id) : thrown_(std::make_shared<JsValue>(id)) {}
  const char* what() const noexcept override { return "a JavaScript function threw"; }
  const std::shared_ptr<JsValue>& thrown() const { return thrown_; }

  /// Writes down what was thrown, for other threads. Only on the thread it was thrown on.
  void describe();
  const std::string& description() const { return description_; }

 private:
  std::shared_ptr<JsValue> thrown_;
  std::string description_;
};

using Words = SmallVector<double, 8>;

/// A JavaScript function.
class JsFunction {
 public:
  explicit JsFunction(double id) : value_(id) {}

  /// Calls the function on its own thread and returns `take` of what it answers; throws JsException
  /// when it throws. Handles and numbers of values among the answer are to be looked up in `take`,
  /// which is called on that thread too: a moment later JavaScript may have let go of a tensor, and
  /// a value belongs to the thread that answered it.
  template <class Take>
  auto call(const Words& arguments, Take&& take) const {
    std::optional<std::invoke_result_t<Take, const Words&>> taken;
    run(arguments, [&](const Words& answer) { taken.emplace(take(answer)); });
    return std::move(*taken);
  }
  /// Calls a function that answers nothing.
  void operator()(const Words& arguments = {}) const {
    run(arguments, [](const Words&) {});
  }

  /// The function's own name, for messages.
  std::string name() const;

  double id() const { return value_.id(); }

 private:
  using Taker = std::function<void(const Words&)>;
  void run(const Words& arguments, const Taker& take) const;
  void run_here(const Words& arguments, const Taker& take) const;

  JsValue value_;
};

}  // namespace eg::bindings
