// Substitutes for the JavaScript side of the bindings: the functions of EM_JS, Emscripten and
// the module.

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include <emscripten/eventloop.h>
#include <emscripten/proxying.h>
#include <emscripten/val.h>
#include <gtest/gtest.h>

#include "border.h"
#include "js/failing_memory.h"
#include "js/realm.h"
#include "js/worker.h"

using eg::testing::js::ErrorValue;
using eg::testing::js::FunctionValue;
using eg::testing::js::Realm;
using eg::testing::js::Running;
using eg::testing::js::RunningScope;
using eg::testing::js::Thrown;
using eg::testing::js::Value;
using eg::testing::js::ValuePtr;
using eg::testing::js::Words;

namespace {

// The engine's own threads run no JavaScript, so it is an error to request it from them.
Realm* realm_for(const char* what) {
  Realm* const realm = Realm::current();
  if (realm == nullptr) ADD_FAILURE() << what << " on a thread that has no JavaScript.";
  return realm;
}

template <class T>
std::shared_ptr<T> held_as(double id, const char* what) {
  Realm* const realm = realm_for(what);
  const ValuePtr value = realm == nullptr ? nullptr : realm->held(id);
  auto typed = std::dynamic_pointer_cast<T>(value);
  if (value != nullptr && typed == nullptr) ADD_FAILURE() << what << " of another kind of value.";
  return typed;
}

emscripten::val describe_thrown(const emscripten::val& id) {
  const RunningScope scope(Running::kJavaScript);
  const auto error = held_as<ErrorValue>(id.as<double>(), "describeThrown");
  if (error == nullptr) return emscripten::val(std::string("unknown"));
  if (!error->can_be_described) eg::testing::js::throw_error("toString throws");
  return emscripten::val(error->code + '\n' + error->message);
}

emscripten::val function_name(const emscripten::val& id) {
  const RunningScope scope(Running::kJavaScript);
  const auto function = held_as<FunctionValue>(id.as<double>(), "functionName");
  const bool is_named = function != nullptr && !function->name.empty();
  return emscripten::val(is_named ? function->name : std::string("<anonymous>"));
}

emscripten::val show_warning(const emscripten::val& message) {
  const RunningScope scope(Running::kJavaScript);
  eg::testing::js::warnings().push_back(message.as<std::string>());
  return emscripten::val(0.0);
}

emscripten::val capture_stack(const emscripten::val&) {
  return emscripten::val(std::string("Error\n    at stand-in"));
}

}  // namespace

extern "C" {

void eg_refuse_call(bool /*is_stopped*/) { throw std::logic_error("the engine has failed"); }

double eg_call_function(double id, double count, double /*call*/) {
  const RunningScope scope(Running::kJavaScript);
  const auto function = held_as<FunctionValue>(id, "a call");
  if (function == nullptr) std::abort();
  const auto begin = eg::bindings::frame().begin();
  const Words words(begin, begin + static_cast<std::ptrdiff_t>(count));
  try {
    const Words results = function->body(words);
    std::ranges::copy(results, eg::bindings::frame(results.size()).begin());
    return static_cast<double>(results.size());
  } catch (const Thrown& thrown) {
    return -Realm::own().hold(thrown.value);
  }
}

void eg_drop_value(double id) {
  const RunningScope scope(Running::kJavaScript);
  if (Realm* const realm = realm_for("letting go of a value")) realm->drop(id);
}

void eg_thread_started() {
  const RunningScope scope(Running::kJavaScript);
  eg::testing::js::Worker::started();
}

void emscripten_runtime_keepalive_push() {
  const RunningScope scope(Running::kJavaScript);
  Realm::own();
}

void emscripten_exit_with_live_runtime() {
  const RunningScope scope(Running::kJavaScript);
  Realm& realm = Realm::own();
  realm.loop().run();
  eg::testing::js::Worker::over();
}

em_proxying_queue* emscripten_proxy_get_system_queue() { return nullptr; }

int emscripten_proxy_async(em_proxying_queue*, pthread_t thread, void (*work)(void*),
                           void* argument) {
  const RunningScope scope(Running::kJavaScript);
  const auto task = [work, argument] {
    const RunningScope in_engine(Running::kEngine);
    work(argument);
  };
  return Realm::post_to(thread, task) ? 1 : 0;
}
}

namespace emscripten {

val val::module_property(const char* name) {
  const RunningScope scope(Running::kJavaScript);
  if (Realm::current() == nullptr) return {};
  const std::string_view asked(name);
  if (asked == "describeThrown") return val(Function(&describe_thrown));
  if (asked == "functionName") return val(Function(&function_name));
  if (asked == "showWarning") return val(Function(&show_warning));
  if (asked == "captureStack") return val(Function(&capture_stack));
  ADD_FAILURE() << "The module has no " << name << " here.";
  return {};
}

std::string val::text_of(double number, const std::string& method) {
  if (method != "toString") ADD_FAILURE() << "A number has no " << method << " here.";
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  return {text.data(), end};
}

}  // namespace emscripten
