// eg.capture: functions that are run once and played from then on.

#include "border.h"
#include "callbacks.h"
#include "dispatch/captured_function.h"
#include "runtime/recording.h"

namespace eg::bindings {
namespace {

// The tensors whose handles the frame begins with.
TensorList tensors_in_frame(int count) {
  TensorList list;
  list.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i)
    list.push_back(handles().get(frame()[static_cast<std::size_t>(i)]));
  return list;
}

}  // namespace

EG_EXPORT("beginCapture")
double begin_capture(int count) {
  return guard([&] {
    const auto function = make_intrusive<CapturedFunction>(tensors_in_frame(count));
    return_tensors(function->places());
    const Handle handle = handles().insert(function);
    function->record();
    return handle;
  });
}

EG_EXPORT("endCapture")
double end_capture(Handle handle, int count) {
  return guard([&] {
    handles().get_captured(handle)->finish(tensors_in_frame(count));
    return 0;
  });
}

EG_EXPORT("stopCapture")
void stop_capture(Handle handle) {
  guard([&] {
    handles().get_captured(handle)->stop();
    return 0;
  });
}

EG_EXPORT("callCaptured")
double call_captured(Handle handle, int count) {
  return guard([&] {
    // It may be disposed of in what it calls.
    const IntrusivePtr<CapturedFunction> function = handles().get_captured(handle);
    return return_tensors(function->call(tensors_in_frame(count)));
  });
}

// The tensor of the handle is about to be replaced by another one under the same name.
EG_EXPORT("outdate")
void outdate(Handle handle) {
  guard([&] {
    const Tensor& t = handles().get(handle);
    invalidate_recordings(t.storage()->data(), t.device());
    return 0;
  });
}

EG_EXPORT("runLive")
double run_live_function(double id) {
  const auto function = std::make_shared<JsFunction>(id);
  return guard([&] {
    run_live([function] { (*function)(); });
    return 0;
  });
}

}  // namespace eg::bindings
