#include "dispatch/capture/captured_function.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "autograd/grad_mode.h"
#include "autograd/graph/basic_nodes.h"
#include "autograd/graph/saved_variable.h"
#include "autograd/graph/variable.h"
#include "dispatch/factories.h"

namespace eg {
namespace {

constexpr std::string_view kName = "capture";

constexpr auto* kNoGraph =
    "[capture] the result of a captured function has no graph. Call backward() inside the "
    "function, or compute gradients there with autograd.grad().";

// True when backward could still run through the graph of `t`: no saved tensor has been released.
bool has_graph(const Tensor& t) {
  if (!requires_grad(t)) return false;
  std::vector<Node*> pending;
  std::unordered_set<Node*> seen;
  const auto visit = [&](Node* node) {
    if (node != nullptr && seen.insert(node).second) pending.push_back(node);
  };
  const IntrusivePtr<Node> root = grad_fn(t);
  for (visit(root.get()); !pending.empty();) {
    Node* const node = pending.back();
    pending.pop_back();
    try {
      for (const auto& [name, variable] : node->saved_variables()) (void)variable->unpack(*node);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kGraphFreed) return false;
    }
    for (const Edge& edge : node->next_edges()) visit(edge.function.get());
  }
  return true;
}

void refuse_tangents() {
  check(
      !ops_carry_tangents(), ErrorCode::kInvalidArgument, kName,
      "captured functions do not support forward-mode tangents. Use them outside of dualLevel().");
}

}  // namespace

CapturedFunction::CapturedFunction(const TensorList& inputs) {
  refuse_in_recording("another function was to be captured,", "Capture them one after the other.");
  refuse_tangents();
  step_.tensors = &tensors_;
  for (const Tensor& input : inputs) {
    places_.push_back(contiguous_copy(input));
    tensors_.add_input_buffer(places_.back());
  }
}

void CapturedFunction::record() {
  recorded_graphs_ = ops_are_recorded();
  default_dtype_ = default_dtype();
  autocast_ = autograd_state().autocast;
  detail::thread_recording = &step_;
}

void CapturedFunction::stop() {
  if (recording() == &step_) detail::thread_recording = nullptr;
}

void CapturedFunction::finish(const TensorList& results) {
  stop();
  for (std::size_t i = 0; i < places_.size(); ++i) {
    check(!grad(places_[i]).defined(), ErrorCode::kInvalidArgument, kName, "input ", i,
          " received a gradient, which a captured function cannot pass to the tensor it is called "
          "with. Compute it with autograd.grad() and return it.");
  }
  for (const Tensor& t : results) {
    step_.note_left(t.storage()->data(), t.device());
    results_.push_back({t.alias(), has_graph(t)});
  }
  tensors_.finish();
  step_.finish();
}

void CapturedFunction::check_modes(const TensorList& inputs) const {
  refuse_tangents();
  check(default_dtype() == default_dtype_ && autograd_state().autocast == autocast_,
        ErrorCode::kInvalidArgument, kName,
        "the default dtype or autocast has changed since the function was captured. Restore them, "
        "or set them inside the function.");
  const auto needs_graph = [](const Tensor& t) { return requires_grad(t); };
  if (ops_are_recorded() && !recorded_graphs_) {
    check(!tensors_.uses_gradients() && std::ranges::none_of(inputs, needs_graph),
          ErrorCode::kInvalidArgument, kName,
          "the function was captured under noGrad() or inferenceMode(): call it in the same mode.");
  }
  check(ops_are_recorded() || !recorded_graphs_ || !tensors_.has_backward(),
        ErrorCode::kInvalidArgument, kName,
        "the function calls backward(), so it cannot be called under noGrad() or inferenceMode().");
}

void CapturedFunction::check_inputs(const TensorList& inputs) const {
  check(inputs.size() == places_.size(), ErrorCode::kInvalidArgument, kName, "expected ",
        places_.size(), " inputs, as when it was captured, got ", inputs.size(), '.');
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
    const bool needs_graph = recorded_graphs_ && ops_are_recorded() && requires_grad(t);
    check(!needs_graph || requires_grad(place), ErrorCode::kInvalidArgument, kName, "input ", i,
          " requires a gradient but did not when the function was captured. Capture it with such "
          "an input, or pass x.detach().");
  }
}

TensorList CapturedFunction::call(const TensorList& inputs) {
  refuse_in_recording("a captured function was to be called,", "Call the function itself.");
  check_inputs(inputs);
  check_modes(inputs);
  tensors_.check();
  const ReplayGuard playing;
  tensors_.begin_replay();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    copy_data(places_[i], inputs[i]);
    places_[i].bump_version();
  }
  step_.play();
  TensorList results;
  results.reserve(results_.size());
  for (const auto& [place, has_graph] : results_) {
    results.push_back(contiguous_copy(place));
    if (has_graph && ops_are_recorded()) {
      set_history(results.back(), make_intrusive<ErrorNode>(kNoGraph, EdgeList()));
    }
  }
  return results;
}

void run_live(const std::function<void()>& work) {
  Recording* const noted = recording();
  noted == nullptr ? work() : noted->tensors->run_live(work);
}

}  // namespace eg
