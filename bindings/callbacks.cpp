#include "callbacks.h"

#include <algorithm>

#include <emscripten/em_js.h>
#include <emscripten/val.h>

#include "autograd/engine/graph_task.h"
#include "autograd/engine/stand_in.h"
#include "autograd/grad_mode.h"
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
  description_ =
      emscripten::val::module_property("describeThrown")(thrown_->id()).as<std::string>();
}

void JsFunction::run_here(const Words& arguments, const Taker& take) const {
  std::ranges::copy(arguments, frame(arguments.size()).begin());
  const double result = eg_call_function(id(), static_cast<double>(arguments.size()));
  if (result < 0) throw JsException(-result);
  const auto end = frame().begin() + static_cast<std::ptrdiff_t>(result);
  take({frame().begin(), end});
}

void JsFunction::run(const Words& arguments, const Taker& take) const {
  if (value_.is_of_this_thread()) return run_here(arguments, take);
  const AutogradState state = autograd_state();
  Recording* const noted_in = recording();
  GraphTask* const task = GraphTask::current();
  Node* const node = GraphTask::current_node();
  const EnginePlace place = EnginePlace::here();
  value_.owner()->call([&] {
    const AutogradStateGuard modes(state);
    const RecordingGuard noted(noted_in);
    const EvaluationGuard evaluation(task, node);
    const StandInGuard in_place_of_the_caller(place);
    try {
      run_here(arguments, take);
    } catch (JsException& error) {
      error.describe();
      throw;
    }
  });
}

std::string JsFunction::name() const {
  std::string name;
  value_.owner()->call(
      [&] { name = emscripten::val::module_property("functionName")(id()).as<std::string>(); });
  return name;
}

}  // namespace eg::bindings
