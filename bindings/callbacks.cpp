#include "callbacks.h"

#include <algorithm>

#include <emscripten/em_js.h>
#include <emscripten/val.h>

#include "autograd/engine/engine_context.h"
#include "autograd/engine/graph_task.h"
#include "autograd/grad_mode.h"
#include "autograd/held_modes.h"
#include "border.h"

// Calls the function `id` with the first `count` words of the frame; returns how many it wrote
// there, or minus the number under which JavaScript keeps what the function threw.
EM_JS(double, eg_call_function, (double id, double count),
      { return Module["callFunction"](id, count); });
// Tells JavaScript that nothing refers to `id` any more.
EM_JS(void, eg_drop_value, (double id), { Module["dropValue"] ?.(id); });

namespace eg::bindings {

JsValue::~JsValue() {
  if (is_of_this_thread()) {
    eg_drop_value(id_);
  } else {
    owner_->post([id = id_] { eg_drop_value(id); });
  }
}

void JsException::describe() {
  try {
    description_ =
        emscripten::val::module_property("describeThrown")(thrown_->id()).as<std::string>();
  } catch (...) {
    // As where the stack is used up.
    description_ = R"({"name":"Error","message":"What was thrown cannot be described."})";
  }
}

Arguments::~Arguments() {
  for (const double handle : handles_) handles().release(handle);
}

Arguments& Arguments::add(const Tensor& tensor) {
  const Handle handle = return_tensor(tensor);
  words_.push_back(handle);
  if (handle != 0) handles_.push_back(handle);
  return *this;
}

void Arguments::hand_over() {
  std::ranges::copy(words_, frame(words_.size()).begin());
  handles_ = {};
}

Words JsFunction::call_here(double id, Arguments& arguments) {
  arguments.hand_over();
  const double result = eg_call_function(id, static_cast<double>(arguments.size()));
  if (result < 0) throw JsException(-result);
  const auto end = frame().begin() + static_cast<std::ptrdiff_t>(result);
  return {frame().begin(), end};
}

// A call that another thread runs. It has all that it needs: the thread that waits for it goes on
// when the other one is taken for dead, which may still be running it.
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
    // Let go of before the caller has its answer, for it may look at what is left.
    const HeldModes held = std::move(modes);
    const IntrusivePtr<GraphTask> of_task = std::move(task);
    const IntrusivePtr<Node> of_node = std::move(node);
    const AutogradStateGuard state(held.state());
    const RecordingGuard noted(recorded_in);
    const EvaluationGuard evaluation(of_task.get(), of_node.get());
    const EngineContextGuard in_place_of_the_caller(place);
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
    *name = emscripten::val::module_property("functionName")(id).as<std::string>();
  });
  return *name;
}

}  // namespace eg::bindings
