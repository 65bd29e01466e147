#include "dispatch/captured_function.h"

#include "dispatch/factories.h"

namespace eg {
namespace {

constexpr std::string_view kName = "capture";

TensorList copies(const TensorList& tensors) {
  TensorList made;
  made.reserve(tensors.size());
  for (const Tensor& t : tensors) made.push_back(contiguous_copy(t));
  return made;
}

}  // namespace

CapturedFunction::CapturedFunction(const TensorList& inputs) {
  refuse_in_recording("another function was to be captured,", "Capture them one after the other.");
  places_ = copies(inputs);
}

void CapturedFunction::record() { detail::thread_recording = &step_; }

void CapturedFunction::stop() {
  if (recording() == &step_) detail::thread_recording = nullptr;
}

void CapturedFunction::finish(const TensorList& results) {
  stop();
  for (const Tensor& t : results) results_.push_back(t.alias());
  step_.finish();
}

void CapturedFunction::check_inputs(const TensorList& inputs) const {
  check(inputs.size() == places_.size(), ErrorCode::kInvalidArgument, kName, "expected ",
        places_.size(), " inputs, as it was captured with, got ", inputs.size(), '.');
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& t = inputs[i];
    const Tensor& place = places_[i];
    check(t.device() == place.device(), ErrorCode::kDeviceMismatch, kName, "input ", i, " was on '",
          place.device(), "' when the function was captured, got one on '", t.device(), "'.");
    check(t.dtype() == place.dtype(), ErrorCode::kDtypeMismatch, kName, "input ", i, " was ",
          place.dtype(), " when the function was captured, got ", t.dtype(), '.');
    check(t.shape() == place.shape(), ErrorCode::kShapeMismatch, kName, "input ", i, " had shape ",
          place.shape(), " when the function was captured, got ", t.shape(),
          ". Capture it again for another shape.");
  }
}

TensorList CapturedFunction::call(const TensorList& inputs) {
  refuse_in_recording("a captured function was to be called,", "Call the function itself.");
  check_inputs(inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) copy_data(places_[i], inputs[i]);
  step_.play();
  return copies(results_);
}

void run_live(std::function<void()> work) {
  // Nobody else derives from it.
  auto* const step = static_cast<kernel::CapturedStep*>(recording());
  step == nullptr ? work() : step->run_live(std::move(work));
}

}  // namespace eg
