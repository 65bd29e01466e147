#include "autograd/engine/async_call.h"

#include <exception>
#include <utility>

#include "autograd/engine/graph_task.h"
#include "base/error.h"
#include "runtime/inbox.h"

namespace eg {
namespace {

constinit thread_local const std::shared_ptr<AsyncCall>* current_call = nullptr;

std::exception_ptr canceled() {
  return std::make_exception_ptr(Error(ErrorCode::kInternal, "the call was canceled."));
}

}  // namespace

AsyncCall::AsyncCall(double number) : number_(number), maker_(Inbox::current()) {}
AsyncCall::~AsyncCall() = default;

void AsyncCall::cancel() {
  IntrusivePtr<GraphTask> task;
  {
    const std::scoped_lock lock(mutex_);
    is_canceled_ = true;
    task = task_.lock();
  }
  if (task != nullptr) task->set_exception(canceled());
}

void AsyncCall::begin(GraphTask& task) {
  bool is_canceled = false;
  {
    const std::scoped_lock lock(mutex_);
    // A call made inside of this one is not the one to end.
    if (task_.lock() == nullptr) task_ = WeakPtr<GraphTask>(IntrusivePtr<GraphTask>(&task));
    is_canceled = is_canceled_;
  }
  if (is_canceled) task.set_exception(canceled());
}

double AsyncCall::number_here() const { return maker_ == Inbox::current() ? number_ : 0; }

std::shared_ptr<AsyncCall> AsyncCall::current() {
  return current_call == nullptr ? nullptr : *current_call;
}

AsyncCall::Scope::Scope(std::shared_ptr<AsyncCall> call)
    : call_(std::move(call)), outer_(std::exchange(current_call, &call_)) {}
AsyncCall::Scope::~Scope() { current_call = outer_; }

}  // namespace eg
