#include "js/native.h"

namespace eg::testing::js {

namespace {

ValuePtr error_of_text(const std::string& text) {
  const std::size_t end = text.find('\n');
  if (end == std::string::npos)
    return std::make_shared<ErrorValue>("OutOfMemory", "out of memory.");
  const std::string code = text.substr(0, end);
  const std::string message = text.substr(end + 1);
  if (code == "JsError") {
    ValuePtr thrown = Realm::own().held(std::stod(message));
    native::dropThrown();
    return thrown;
  }
  if (code != "JsCopy") return std::make_shared<ErrorValue>(code, message);
  const std::size_t middle = message.find('\n');
  return std::make_shared<ErrorValue>(message.substr(0, middle), message.substr(middle + 1));
}

}  // namespace

ValuePtr take_error() {
  ValuePtr error = error_of_text(embound<std::string>("takeError"));
  last_error() = described(error);
  return error;
}

std::string& last_error() {
  static thread_local std::string text;
  return text;
}

double checked(double result) {
  if (result == bindings::kFailed) throw Thrown{take_error()};
  return result;
}

}  // namespace eg::testing::js
