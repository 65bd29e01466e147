#pragma once

// The JavaScript side of a thread: an event loop, and the values that C++ knows by number, as
// web/src/runtime/callbacks.ts keeps them. It is stricter than that: a number that this thread does
// not have, called or let go of, fails the test.
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

/// A value of JavaScript's; the same pointer is the same value.
struct Value {
  virtual ~Value() = default;
};
using ValuePtr = std::shared_ptr<Value>;

/// An error: of edgegrad's when it has a code, else a user's.
struct ErrorValue final : Value {
  ErrorValue(std::string its_code, std::string its_message)
      : code(std::move(its_code)), message(std::move(its_message)) {}
  std::string code;
  std::string message;
  /// False for one whose toString throws.
  bool can_be_described = true;
};

/// What flies when JavaScript throws. No std::exception: like an exception of JavaScript's, only
/// catch (...) sees it.
struct Thrown {
  ValuePtr value;
};

/// Returns a value as text, for failures.
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
  /// The realm of this thread, or null.
  static Realm* current();
  /// The realm of this thread, made at the first call.
  static Realm& own();
  /// Has the realm of a thread run `task`; false when there is none.
  static bool post_to(pthread_t thread, std::function<void()> task);

  double hold(ValuePtr value);
  /// Fails the test and returns null when the number is unknown.
  ValuePtr held(double id);
  void drop(double id);
  /// How many values C++ has not let go of.
  std::size_t held_count() const { return values_.size(); }

  EventLoop& loop() { return *loop_; }
  std::shared_ptr<EventLoop> shared_loop() const { return loop_; }

  /// The thread is about to go: nobody reaches it any more, and what C++ lets go of later is no
  /// matter.
  void end();

 private:
  Realm();

  std::unordered_map<double, ValuePtr> values_;
  double last_id_ = 0;
  bool has_ended_ = false;
  std::shared_ptr<EventLoop> loop_ = std::make_shared<EventLoop>();
};

/// Makes a function known to C++ and returns its number.
double hold_function(FrameCallback body, std::string name = "");

/// Throws a user's error.
[[noreturn]] void throw_error(const std::string& message);

/// What console.warn has been given on this thread.
std::vector<std::string>& warnings();

}  // namespace eg::testing::js
