#include "callbacks.h"

#include <algorithm>

#include <emscripten/em_js.h>
#include <emscripten/val.h>

#include "base/error.h"
#include "border.h"

// Calls the function `id` with the first `count` words of the frame; returns how many it wrote
// there, or minus the number under which JavaScript keeps what the function threw.
EM_JS(double, eg_call_function, (double id, double count),
      { return Module["callFunction"](id, count); });
// Tells JavaScript that nothing refers to `id` any more.
EM_JS(void, eg_drop_value, (double id), { Module["dropValue"] ?.(id); });

namespace eg::bindings {

JsValue::~JsValue() { eg_drop_value(id_); }

Words JsFunction::operator()(const Words& arguments) const {
  invariant(owner_ == std::this_thread::get_id(),
            "a JavaScript function was called on a thread that it does not belong to.");
  if (frame().size() < arguments.size()) frame().resize(arguments.size());
  std::ranges::copy(arguments, frame().begin());
  const double result = eg_call_function(id(), static_cast<double>(arguments.size()));
  if (result < 0) throw JsException(-result);
  const auto end = frame().begin() + static_cast<std::ptrdiff_t>(result);
  return {frame().begin(), end};
}

std::string JsFunction::name() const {
  return emscripten::val::module_property("functionName")(id()).as<std::string>();
}

}  // namespace eg::bindings
