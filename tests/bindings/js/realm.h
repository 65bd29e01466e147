#pragma once

// The JavaScript side of a thread: an event loop, and the values that C++ refers to by number, as
// in web/src/runtime/bridge/callbacks.ts. It is stricter than that file: calling or releasing a
// number that this thread does not have fails the test.
//
// A realm belongs to the thread it was made on. The engine's own threads have none.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <pthread.h>

#include "js/event_loop.h"

namespace eg::testing::js {

/// A JavaScript value, whose identity is that of the pointer.
struct Value {
  virtual ~Value() = default;
};
using ValuePtr = std::shared_ptr<Value>;

/// An error: one of edgegrad's if it has a code, otherwise one of the user's.
struct ErrorValue final : Value {
  ErrorValue(std::string its_code, std::string its_message)
      : code(std::move(its_code)), message(std::move(its_message)) {}
  std::string code;
  std::string message;
  /// False for an error whose toString throws.
  bool can_be_described = true;
};

/// The exception for errors thrown by JavaScript. Not a std::exception: like a JavaScript
/// exception, only catch (...) catches it.
struct Thrown {
  ValuePtr value;
};

/// Returns a value as text, for failure messages.
std::string described(const ValuePtr& value);

using Words = std::vector<double>;
using FrameCallback = std::function<Words(const Words&)>;

struct FunctionValue final : Value {
  FunctionValue(FrameCallback its_body, std::string its_name)
      : body(std::move(its_body)), name(std::move(its_name)) {}
  FrameCallback body;
  std::string name;
};

class Realm {
 public:
  /// Returns the realm of this thread, or null.
  static Realm* current();
  /// Returns the realm of this thread, which is created by the first call.
  static Realm& own();
  /// Makes the realm of a thread run `task`; returns false if the thread has no realm.
  static bool post_to(pthread_t thread, std::function<void()> task);

  double hold(ValuePtr value);
  /// Returns a value; fails the test and returns null if the number is unknown.
  ValuePtr held(double id);
  void drop(double id);
  /// Returns the number of values that C++ has not released.
  std::size_t held_count() const { return values_.size(); }

  EventLoop& loop() { return *loop_; }
  std::shared_ptr<EventLoop> shared_loop() const { return loop_; }

  /// Called when the thread is about to end: no other thread can reach it any more, and later
  /// releases are ignored.
  void end();

 private:
  Realm();

  std::unordered_map<double, ValuePtr> values_;
  double last_id_ = 0;
  bool has_ended_ = false;
  std::shared_ptr<EventLoop> loop_ = std::make_shared<EventLoop>();
};

/// Registers a function for C++ and returns its number.
double hold_function(FrameCallback body, std::string name = "");

/// Throws an error of the user's.
[[noreturn]] void throw_error(const std::string& message);

/// The messages passed to console.warn on this thread.
std::vector<std::string>& warnings();

}  // namespace eg::testing::js
