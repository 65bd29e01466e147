#include "callbacks.h"

#include <algorithm>

#include <emscripten/em_js.h>
#include <emscripten/val.h>

#include "autograd/engine/engine_context.h"
#include "autograd/engine/graph_task.h"
#include "autograd/grad_mode.h"
#include "autograd/held_modes.h"
#include "border.h"

// Calls the function `id` with the first `count` words of the frame, for an asynchronous call whose
// outcome the function `call` gets, or 0. Returns the number of words that it wrote there or, if it
// threw, the negated number of the error in JavaScript's table.
EM_JS(double, eg_call_function, (double id, double count, double call),
      { return Module["callFunction"](id, count, call); });
// Tells JavaScript that C++ no longer refers to `id`.
EM_JS(void, eg_drop_value, (double id), { Module["dropValue"] ?.(id); });

namespace eg::bindings {

namespace {

// Tells JavaScript that nothing refers to a value of this thread any more.
void drop_value(double id) {
  // The numbers of a thread that has ended mean nothing to this one.
  if (detail::call_state.has_ended) return;
  const JavaScriptCall call;
  eg_drop_value(id);
}

}  // namespace

JsValue::JsValue(double id) : id_(id), release_(Inbox::reserve([id] { drop_value(id); })) {}

JsValue::~JsValue() {
  if (is_of_this_thread()) {
    drop_value(id_);
  } else {
    owner_->post(release_);
  }
}

ReceivedValue::~ReceivedValue() {
  if (id_ != 0) drop_value(id_);
}

void JsException::describe() {
  try {
    const JavaScriptCall call;
    description_ =
        emscripten::val::module_property("describeThrown")(thrown_->id()).as<std::string>();
  } catch (...) {
    // For example, after a stack overflow.
    description_ = R"({"name":"Error","message":"The thrown value cannot be described."})";
  }
}

Arguments::~Arguments() {
  for (const double handle : handles_) handles().release(handle);
}

Arguments& Arguments::add(const Tensor& tensor) {
  // Otherwise the handle would be lost where there is no memory for its word.
  words_.reserve(words_.size() + 1);
  handles_.reserve(handles_.size() + 1);
  const Handle handle = return_tensor(tensor);
  words_.push_back(handle);
  if (handle != 0) handles_.push_back(handle);
  return *this;
}

void Arguments::take_over() {
  for (const double handle : handles_) handles().take_over(handle);
}

void Arguments::transfer() {
  std::ranges::copy(words_, frame(words_.size()).begin());
  handles_ = {};
}

Words JsFunction::call_here(double id, Arguments& arguments) {
  arguments.transfer();
  const double result = [&] {
    const GraphTask* const task = GraphTask::current();
    const bool is_async = task != nullptr && task->async_call != nullptr;
    const double async_call = is_async ? task->async_call->number_here() : 0;
    const JavaScriptCall call;
    return eg_call_function(id, static_cast<double>(arguments.size()), async_call);
  }();
  if (result < 0) throw JsException(-result);
  const auto end = frame().begin() + static_cast<std::ptrdiff_t>(result);
  return {frame().begin(), end};
}

// A call that runs on another thread. It owns everything it needs because the waiting thread
// continues if the other thread is considered dead, although that may still be running the call.
struct JsFunction::RemoteCall {
  double id;
  Arguments arguments;
  std::function<void(const Words&)> take;
  HeldModes modes = {};
  Recording* recorded_in = recording();
  IntrusivePtr<GraphTask> task = IntrusivePtr<GraphTask>(GraphTask::current());
  IntrusivePtr<Node> node = IntrusivePtr<Node>(GraphTask::current_node());
  EngineContext place = EngineContext::here();

  void run() {
    // Moved here so that they are released before the caller continues: it may check what is still
    // alive.
    const HeldModes held = std::move(modes);
    const IntrusivePtr<GraphTask> of_task = std::move(task);
    const IntrusivePtr<Node> of_node = std::move(node);
    const AutogradStateGuard state(held.state());
    const RecordingGuard noted(recorded_in);
    const EvaluationGuard evaluation(of_task.get(), of_node.get());
    const EngineContextGuard context_of_caller(place);
    arguments.take_over();
    try {
      take(call_here(id, arguments));
    } catch (JsException& error) {
      error.describe();
      throw;
    }
  }
};

void JsFunction::call_there(Arguments&& arguments, std::function<void(const Words&)> take) const {
  const auto call = std::make_shared<RemoteCall>(
      RemoteCall{.id = id(), .arguments = std::move(arguments), .take = std::move(take)});
  value_.owner()->call([call] { call->run(); });
}

std::string JsFunction::name() const {
  const auto name = std::make_shared<std::string>();
  value_.owner()->call([name, id = id()] {
    const JavaScriptCall call;
    *name = emscripten::val::module_property("functionName")(id).as<std::string>();
  });
  return *name;
}

}  // namespace eg::bindings
