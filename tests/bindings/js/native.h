#pragma once

// The bindings as JavaScript calls them: native::runGraph(...), with errors as thrown values.

#include <any>
#include <string>

#include <emscripten/bind.h>

// Written by cmake/BindingsTests.cmake from the sources: all functions with EG_EXPORT, under
// their JavaScript names.
#include "border.h"
#include "border_exports.h"
#include "js/realm.h"

namespace eg::testing::js {

/// Returns the error of the last failed call on this thread, converted as in
/// web/src/runtime/bridge/bridge.ts.
ValuePtr take_error();

/// The last error that take_error() returned on this thread, as text for failures.
std::string& last_error();

/// Returns the result of a native call, or throws the error that it left.
double checked(double result);

/// Calls a function registered with Embind by its JavaScript name.
template <class Result, class... Args>
Result embound(const std::string& name, Args... args) {
  const std::any& body = emscripten::embound_functions().at("eg_" + name);
  const RunningScope scope(Running::kEngine);
  return std::any_cast<Result (*)(Args...)>(body)(std::move(args)...);
}

}  // namespace eg::testing::js
