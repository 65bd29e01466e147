#pragma once

// A backward call that runs apart from the code that made it: on another thread, or in pieces. That
// code may end it early, and its functions run as if that code called them.

#include <cstdint>
#include <memory>
#include <mutex>

#include "base/intrusive_ptr.h"

namespace eg {

class GraphTask;
class Inbox;

class AsyncCall {
 public:
  /// `number` identifies the call for the thread that makes it, which is the current one.
  explicit AsyncCall(double number);
  ~AsyncCall();
  AsyncCall(const AsyncCall&) = delete;
  AsyncCall& operator=(const AsyncCall&) = delete;

  /// Ends the call, on any thread: nodes that have not begun are skipped, and it throws Internal.
  void cancel();

  /// Its number if this thread made it, else 0.
  double number_here() const;

  /// The call that this thread works on, or null.
  static std::shared_ptr<AsyncCall> current();

  /// Called with the task of the call.
  void begin(GraphTask& task);

  /// Makes this thread work on a call.
  class Scope {
   public:
    explicit Scope(std::shared_ptr<AsyncCall> call);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    std::shared_ptr<AsyncCall> call_;
    const std::shared_ptr<AsyncCall>* outer_;
  };

 private:
  const double number_;
  const std::shared_ptr<Inbox> maker_;
  std::mutex mutex_;
  bool is_canceled_ = false;
  WeakPtr<GraphTask> task_;
};

}  // namespace eg
