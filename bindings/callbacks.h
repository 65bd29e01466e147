#pragma once

// JavaScript values that C++ holds, and JavaScript functions that it calls.
//
// JavaScript stores each of them in a table (web/src/runtime/bridge/callbacks.ts) and passes its
// number to C++. Every thread has its own table, so a number is only meaningful together with its
// thread (JsRef). A JsValue owns an entry of the table: its destructor tells JavaScript to remove
// the value. So a native function that receives a number must take ownership of it before anything
// can fail: ReceivedValue.
//
// A value belongs to the thread that passed it to C++. If a function is called on another thread,
// for example by a backward call that runs there, it is run on its own thread through that thread's
// Inbox, with the modes of the caller. An error that it throws can then only be passed on as a
// copy.
//
// Arguments and results of a function are words in the frame, as in all calls across the boundary.
// The function owns the handles among its arguments (Arguments), but not those among its results.

#include <exception>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "base/small_vector.h"
#include "runtime/inbox.h"
#include "tensor/tensor.h"

namespace eg::bindings {

/// Identifies a JavaScript value among all threads, each of which numbers its own values.
struct JsRef {
  /// The mailbox of the thread that owns the value; only for comparison.
  const Inbox* owner;
  double id;

  /// A value of this thread.
  static JsRef here(double id) { return {Inbox::current().get(), id}; }
  bool operator==(const JsRef&) const = default;

  struct Hash {
    std::size_t operator()(const JsRef& ref) const {
      return std::hash<const Inbox*>()(ref.owner) ^ std::hash<double>()(ref.id);
    }
  };
};

/// A table of data about JavaScript values of all threads. An entry must be erased before its value
/// is released; otherwise the mailbox of another thread could get the address of its owner's.
template <class T>
class JsTable {
 public:
  void set(const JsRef& ref, T entry) {
    const std::scoped_lock lock(mutex_);
    entries_.insert_or_assign(ref, std::move(entry));
  }
  /// Returns a copy of the entry, or T() if there is none.
  T get(const JsRef& ref) {
    const std::scoped_lock lock(mutex_);
    const auto found = entries_.find(ref);
    return found == entries_.end() ? T() : found->second;
  }
  void erase(const JsRef& ref) {
    const std::scoped_lock lock(mutex_);
    entries_.erase(ref);
  }

 private:
  std::mutex mutex_;
  std::unordered_map<JsRef, T, JsRef::Hash> entries_;
};

/// Owns an entry of JavaScript's table of values.
class JsValue {
 public:
  explicit JsValue(double id);
  ~JsValue();
  JsValue(const JsValue&) = delete;
  JsValue& operator=(const JsValue&) = delete;

  double id() const { return id_; }
  JsRef ref() const { return {owner_.get(), id_}; }
  /// The mailbox of the thread that the value belongs to.
  const std::shared_ptr<Inbox>& owner() const { return owner_; }
  bool is_of_this_thread() const { return owner_ == Inbox::current(); }

 private:
  double id_;
  std::shared_ptr<Inbox> owner_ = Inbox::current();
  // Reserved, because the destructor cannot fail.
  Inbox::Reserved release_;
};

/// Owns an entry of JavaScript's table until an object that owns it has been made, which can fail.
class ReceivedValue {
 public:
  explicit ReceivedValue(double id) : id_(id) {}
  ~ReceivedValue();
  ReceivedValue(const ReceivedValue&) = delete;
  ReceivedValue& operator=(const ReceivedValue&) = delete;

  /// Returns `make(id)`, which owns the entry from then on.
  template <class Make>
  auto pass_to(const Make& make) {
    auto owner = make(id_);
    id_ = 0;
    return owner;
  }
  /// Returns a new Owner of the entry.
  template <class Owner>
  std::shared_ptr<Owner> as() {
    return pass_to([](double id) { return std::make_shared<Owner>(id); });
  }

 private:
  double id_;
};

/// Returns the owner of a number that JavaScript has passed.
template <class Owner>
std::shared_ptr<Owner> received(double id) {
  return ReceivedValue(id).as<Owner>();
}

/// Carries what a JavaScript function threw to the JavaScript code that called C++.
class JsException final : public std::exception {
 public:
  explicit JsException(double id) : thrown_(received<JsValue>(id)) {}
  const char* what() const noexcept override { return "a JavaScript function threw"; }
  const std::shared_ptr<JsValue>& thrown() const { return thrown_; }

  /// Serializes the thrown value for other threads. Must be called on the thread where it was
  /// thrown.
  void describe();
  const std::string& description() const { return description_; }

 private:
  std::shared_ptr<JsValue> thrown_;
  std::string description_;
};

using Words = SmallVector<double, 8>;

/// The arguments of a call of a JavaScript function. Once the function runs, it owns the handles
/// that were created for it. If it never runs, for example because its thread has ended, the
/// handles are released.
class Arguments {
 public:
  Arguments() = default;
  /// Arguments that are numbers.
  Arguments(std::initializer_list<double> words) : words_(words) {}
  /// A single tensor argument, for which a handle is created.
  explicit Arguments(const Tensor& tensor) { add(tensor); }
  Arguments(Arguments&& other) noexcept
      : words_(std::exchange(other.words_, {})), handles_(std::exchange(other.handles_, {})) {}
  Arguments& operator=(Arguments&&) = delete;
  ~Arguments();

  Arguments& add(double word) {
    words_.push_back(word);
    return *this;
  }
  Arguments& add(const Tensor& tensor);

  std::size_t size() const { return words_.size(); }
  /// Makes the handles belong to this thread.
  void take_over();
  /// Writes the words to the front of the frame and transfers ownership of the handles to the
  /// function.
  void transfer();

 private:
  Words words_;
  SmallVector<double, 4> handles_;
};

/// A JavaScript function.
class JsFunction {
 public:
  explicit JsFunction(double id) : value_(id) {}

  /// Calls the function on its own thread and returns `take` of its result; throws JsException if
  /// it throws. `take` is also called on that thread and must look up all handles and value numbers
  /// in the result: afterwards JavaScript may release the tensors, and a value belongs to the
  /// thread that returned it. `take` is copied and may outlive this call.
  template <class Take>
  auto call(Arguments arguments, const Take& take) const {
    if (value_.is_of_this_thread()) return take(call_here(id(), arguments));
    const auto taken = std::make_shared<std::optional<std::invoke_result_t<Take, const Words&>>>();
    call_there(std::move(arguments),
               [taken, take](const Words& answer) { taken->emplace(take(answer)); });
    return std::move(**taken);
  }
  /// Calls a function without a result.
  void operator()(Arguments arguments = {}) const {
    call(std::move(arguments), [](const Words&) { return 0; });
  }

  /// The function's own name, for messages.
  std::string name() const;

  double id() const { return value_.id(); }
  JsRef ref() const { return value_.ref(); }

 private:
  struct RemoteCall;

  static Words call_here(double id, Arguments& arguments);
  void call_there(Arguments&& arguments, std::function<void(const Words&)> take) const;

  JsValue value_;
};

}  // namespace eg::bindings
