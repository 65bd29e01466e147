#pragma once

// JavaScript values that C++ holds, and JavaScript functions that it calls.
//
// JavaScript keeps each of them in a table (web/src/runtime/callbacks.ts) and gives C++ its number.
// Every thread has such a table, so a number means nothing without its thread (JsRef). Whoever
// holds a JsValue owns that entry: its destructor tells JavaScript to forget the value. So
// a native function that is given a number owns it from the first line on, also when it fails.
//
// A value lives on the thread that gave it to C++. A function that is called elsewhere, by a
// backward call that runs on another thread, is run there through that thread's Inbox, with the
// modes of the caller; what it throws can then arrive only as a copy.
//
// Arguments and results of a function are words, as everywhere at the border, and travel through
// the frame. A handle among the arguments is owned by the function (Arguments); one among the
// results is not.

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

/// The name of a JavaScript value among all threads, of which each numbers its own.
struct JsRef {
  /// Whose value it is; for comparing.
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

/// What C++ knows about JavaScript values, for all threads. An entry is erased before its value is
/// let go, so that no other thread's inbox can have taken the place of its owner's.
template <class T>
class JsTable {
 public:
  void set(const JsRef& ref, T entry) {
    const std::scoped_lock lock(mutex_);
    entries_.insert_or_assign(ref, std::move(entry));
  }
  /// A copy of the entry, or T() where there is none.
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
  explicit JsValue(double id) : id_(id) {}
  ~JsValue();
  JsValue(const JsValue&) = delete;
  JsValue& operator=(const JsValue&) = delete;

  double id() const { return id_; }
  JsRef ref() const { return {owner_.get(), id_}; }
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

/// What a JavaScript function is called with. The handles that were made for it are its own once it
/// runs; of a call that never gets that far, as when its thread has ended, they are released.
class Arguments {
 public:
  Arguments() = default;
  /// Numbers.
  Arguments(std::initializer_list<double> words) : words_(words) {}
  /// One argument: a tensor, for which a handle is made.
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
  /// Writes the words to the front of the frame; from now on the handles are the function's.
  void hand_over();

 private:
  Words words_;
  SmallVector<double, 4> handles_;
};

/// A JavaScript function.
class JsFunction {
 public:
  explicit JsFunction(double id) : value_(id) {}

  /// Calls the function on its own thread and returns `take` of what it answers; throws JsException
  /// when it throws. Handles and numbers of values among the answer are to be looked up in `take`,
  /// which is called on that thread too: a moment later JavaScript may have let go of a tensor, and
  /// a value belongs to the thread that answered it. `take` is copied, and may outlive this call.
  template <class Take>
  auto call(Arguments arguments, const Take& take) const {
    if (value_.is_of_this_thread()) return take(call_here(id(), arguments));
    const auto taken = std::make_shared<std::optional<std::invoke_result_t<Take, const Words&>>>();
    call_there(std::move(arguments),
               [taken, take](const Words& answer) { taken->emplace(take(answer)); });
    return std::move(**taken);
  }
  /// Calls a function that answers nothing.
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
