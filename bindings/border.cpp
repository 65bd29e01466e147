#include "border.h"

#include <new>

#include <emscripten/bind.h>

namespace eg::bindings {
namespace {

// Enough for every op but those over long lists.
constexpr std::size_t kInitialFrameWords = 256;

std::string& kept_error() {
  static thread_local std::string error;
  return error;
}

std::string take_error() { return std::exchange(kept_error(), {}); }

// The address of the frame, after making room for `words`.
double reserve_frame(double words) {
  const auto count = static_cast<std::size_t>(words);
  if (frame().size() < count) frame().resize(count);
  return static_cast<double>(reinterpret_cast<std::uintptr_t>(frame().data()));
}

}  // namespace

std::vector<double>& frame() {
  static thread_local std::vector<double> words(kInitialFrameWords);
  return words;
}

void keep_error() {
  try {
    throw;
  } catch (const Error& error) {
    kept_error() = std::string(error_code_name(error.code())) + '\n' + error.what();
  } catch (const JsException&) {
    kept_error() = "JsError\n";
  } catch (const std::bad_alloc&) {
    kept_error() =
        "OutOfMemory\nout of memory. Free tensors with dispose(), `using` or eg.scope().";
  } catch (const std::exception& error) {
    kept_error() = std::string("Internal\n") + error.what();
  }
}

EMSCRIPTEN_BINDINGS(border) {
  emscripten::function("frame", &reserve_frame);
  emscripten::function("takeError", &take_error);
}

}  // namespace eg::bindings
