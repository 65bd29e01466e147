#pragma once

// The border as JavaScript sees it: native::runGraph(...), errors as thrown values.

#include <any>
#include <string>

#include <emscripten/bind.h>

// Written by cmake/BindingsTests.cmake from the sources: all that stands after EG_EXPORT, under
// JavaScript's names.
#include "boundary.h"
#include "boundary_exports.h"
#include "js/realm.h"

namespace eg::testing::js {

/// The error that the last failed call on this thread has left, as web/src/runtime/bridge.ts makes
/// it.
ValuePtr take_error();

/// The last error that take_error() returned on this thread, as text for failures.
std::string& last_error();

/// Returns the result of a native call, or throws the error that it left.
double checked(double result);

/// Calls a function that Embind has, by JavaScript's name.
template <class Result, class... Args>
Result embound(const std::string& name, Args... args) {
  const std::any& body = emscripten::embound_functions().at("eg_" + name);
  return std::any_cast<Result (*)(Args...)>(body)(std::move(args)...);
}

}  // namespace eg::testing::js
