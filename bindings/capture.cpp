// eg.capture: functions that are recorded once and replayed from then on.

#include "border.h"
#include "callbacks.h"
#include "dispatch/capture/captured_function.h"
#include "runtime/recording.h"

namespace eg::bindings {
namespace {

// Returns the tensors whose handles are at the front of the frame.
TensorList tensors_in_frame(int count) {
  TensorList list;
  list.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i)
    list.push_back(handles().get(frame()[static_cast<std::size_t>(i)]));
  return list;
}

}  // namespace

// Starts recording the work of this thread, for a function of the tensors in the frame; writes
// handles of copies of these. Returns the handle of the recording.
EG_EXPORT("beginCapture")
double begin_capture(int count) {
  return guard<StackNeed::kToEnd>([&] {
    const auto function = make_intrusive<CapturedFunction>(tensors_in_frame(count));
    const TensorList& places = function->places();
    NewHandles made(places.size() + 1);
    for (std::size_t i = 0; i < places.size(); ++i) frame()[i] = made.add(return_tensor(places[i]));
    const Handle handle = made.add(handles().insert(function));
    function->record();
    made.keep();
    return handle;
  });
}

// Ends the recording; the function's results are in the frame.
EG_EXPORT("endCapture")
double end_capture(Handle handle, int count) {
  return guard([&] {
    handles().get_captured(handle)->finish(tensors_in_frame(count));
    return 0;
  });
}

// Aborts the recording, which cannot be used then.
EG_EXPORT("stopCapture")
void stop_capture(Handle handle) {
  guard<StackNeed::kNone>([&] {
    handles().get_captured(handle)->stop();
    return 0;
  });
}

// Replays a recording with the tensors in the frame; returns the number of result handles.
EG_EXPORT("callCaptured")
double call_captured(Handle handle, int count) {
  return guard<StackNeed::kMuch>([&] {
    // Held because the function may dispose itself during the call.
    const IntrusivePtr<CapturedFunction> function = handles().get_captured(handle);
    return return_tensors(function->call(tensors_in_frame(count)));
  });
}

// Marks a tensor as replaced by another one: functions that were captured with it are outdated.
EG_EXPORT("outdate")
void outdate(Handle handle) {
  guard([&] {
    const Tensor& t = handles().get(handle);
    invalidate_recordings(t.storage()->data(), t.device());
    return 0;
  });
}

// Calls a function now and each time the recording in progress is replayed.
EG_EXPORT("runLive")
double run_live_function(double id) {
  return guard<StackNeed::kMuch>([&] {
    const auto function = received<JsFunction>(id);
    run_live([function] { (*function)(); });
    return 0;
  });
}

}  // namespace eg::bindings
