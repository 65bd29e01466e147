#include "border.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <stdexcept>

#include <emscripten/bind.h>
#include <emscripten/val.h>

#include "callbacks.h"
#include "runtime/accelerator.h"

namespace eg::bindings {
namespace {

// Enough for all ops except those with long lists.
constexpr std::size_t kInitialFrameWords = 256;

struct StoredError {
  /// Empty if there was no memory for it.
  std::string text;
  /// Holds a thrown value in JavaScript's table until JavaScript has retrieved it.
  std::shared_ptr<JsValue> thrown;
};

StoredError& stored_error() {
  static thread_local StoredError error;
  return error;
}

std::string take_error() { return std::exchange(stored_error().text, {}); }

StoredError current_error() {
  try {
    throw;
  } catch (const Error& error) {
    return {std::string(error_code_name(error.code())) + '\n' + error.what(), nullptr};
  } catch (const JsException& error) {
    if (!error.thrown()->is_of_this_thread()) return {"JsCopy\n" + error.description(), nullptr};
    return {"JsError\n" + std::to_string(static_cast<std::int64_t>(error.thrown()->id())),
            error.thrown()};
  } catch (const std::bad_alloc&) {
    return {};
  } catch (const std::length_error&) {
    return {};
  } catch (const std::exception& error) {
    return {std::string("Internal\n") + error.what(), nullptr};
  }
}

}  // namespace

// Releases what a JavaScript function threw, after takeError() has returned its number.
EG_EXPORT("dropThrown")
void drop_thrown() {
  const NativeCall call(StackNeed::kNone);
  stored_error().thrown.reset();
}

// Reserves room for `words` in this thread's frame and returns the frame's address.
EG_EXPORT("frame")
double reserve_frame(double words) {
  return guard([&] {
    return reinterpret_cast<std::uintptr_t>(frame(static_cast<std::size_t>(words)).data());
  });
}

namespace {

struct Frames {
  std::vector<double> own = std::vector<double>(kInitialFrameWords);
  /// What FrameGuard saves; has the capacity for it.
  std::vector<double> saved = std::vector<double>(kInitialFrameWords);
};

Frames& frames() {
  static thread_local Frames frames;
  return frames;
}

}  // namespace

std::vector<double>& frame(std::size_t words) {
  Frames& all = frames();
  if (all.own.size() < words) {
    all.saved.reserve(words);
    all.own.resize(words);
  }
  return all.own;
}

FrameGuard::FrameGuard() { frames().saved = frames().own; }

FrameGuard::~FrameGuard() { std::ranges::copy(frames().saved, frames().own.begin()); }

NewHandles::~NewHandles() {
  for (const Handle handle : handles_) handles().release(std::abs(handle));
}

void append_number(std::string& out, double value) {
  out += emscripten::val(value).call<std::string>("toString");
}

Handle return_tensor(Tensor tensor) {
  if (!tensor.defined()) return 0;
  check_has_dtype(tensor.device(), tensor.dtype());
  return handles().insert(std::move(tensor));
}

Handle return_result(Tensor tensor) {
  if (!tensor.defined()) return 0;
  check_has_dtype(tensor.device(), tensor.dtype());
  return handles().insert_result(std::move(tensor));
}

void store_error() {
  try {
    stored_error() = current_error();
  } catch (const std::bad_alloc&) {
    stored_error() = {};
  }
}

EMSCRIPTEN_BINDINGS(border) { emscripten::function("eg_takeError", &take_error); }

}  // namespace eg::bindings
