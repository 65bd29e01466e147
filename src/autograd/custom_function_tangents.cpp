// Forward mode through custom functions: the user's jvp gives the outputs their tangents.

#include <algorithm>
#include <cstddef>
#include <utility>

#include "autograd/custom_function.h"
#include "autograd/forward_ad.h"
#include "autograd/graph/variable.h"
#include "autograd/tensor_math.h"
#include "base/error.h"

namespace eg {
namespace {

// Returns results[i], or a copy if another tensor has it as a tangent too: one that is shared could
// not change in place together with one of them.
template <class Given>
Tensor own_tangent(std::size_t i, const TensorList& results, const Given& given) {
  const Tensor& result = results[i];
  const auto is_shared = [&](const Tensor& other) {
    return other.defined() && other.shares_storage_with(result);
  };
  const auto earlier = results.begin() + static_cast<std::ptrdiff_t>(i);
  if (std::none_of(results.begin(), earlier, is_shared) &&
      std::none_of(given.begin(), given.end(),
                   [&](const auto& argument) { return is_shared(argument.tangent); })) {
    return result;
  }
  const NoDualLevelGuard no_level;
  return math::clone(result);
}

// The base of a view, else the tensor itself.
Tensor root_of(const Tensor& t) { return is_view(t) ? view_base(t) : t; }

std::uint32_t version_of(const Tensor& t) {
  return t.defined() && t.has_version() ? t.version() : 0;
}

}  // namespace

template <class... Parts>
void CustomFunctionNode::fail_tangent(std::size_t i, const Parts&... parts) const {
  fail(ErrorCode::kInvalidGradient, function_name_, ": jvp returned for result ", i, ' ', parts...);
}

TensorList CustomFunctionNode::jvp(TensorList) {
  fail(ErrorCode::kInternal, function_name_, " has no jvp.");
}

CustomFunctionNode::ArgumentTangents CustomFunctionNode::argument_tangents() const {
  ArgumentTangents result;
  for (const Argument& argument : arguments_) {
    const Tensor own = tangent(argument.tensor);
    result.push_back({own, version_of(own)});
  }
  return result;
}

TensorList CustomFunctionNode::call_jvp(const ArgumentTangents& given) {
  const NoDualLevelGuard no_level;
  TensorList tangents;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const Tensor& argument = arguments_[i].tensor;
    const bool is_zero = !given[i].tangent.defined() && materialize_grads_ && argument.defined() &&
                         is_differentiable(argument.dtype());
    tangents.push_back(is_zero ? math::zeros_like(argument) : given[i].tangent);
  }
  struct InJvp {
    bool& flag;
    explicit InJvp(bool& of_node) : flag(of_node) { flag = true; }
    ~InJvp() { flag = false; }
  };
  const InJvp in_jvp(is_in_jvp_);
  return jvp(std::move(tangents));
}

void CustomFunctionNode::set_tangents(const TensorList& raw_outputs, const TensorList& outputs) {
  const ArgumentTangents given = argument_tangents();
  const TensorList results = call_jvp(given);
  if (results.size() != outputs.size()) {
    fail(ErrorCode::kInvalidGradient, function_name_, ": jvp returned ", results.size(),
         " tangents, expected ", outputs.size(), ", one per result of forward.");
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Tensor& raw = raw_outputs[i];
    const Tensor& result = results[i];
    if (!raw.defined() || !is_differentiable(raw.dtype()) || contains(non_differentiable_, raw)) {
      if (result.defined()) {
        fail_tangent(i, "a tangent, but that result is not differentiable. Return null for it.");
      }
      continue;
    }
    if (result.defined()) check_tangent(i, outputs[i], result);
    if (contains(dirty_, raw)) {
      set_tangent_in_place(i, outputs[i], result, given);
    } else if (!set_tangent_of_view(i, outputs[i], result, given) && result.defined()) {
      set_tangent(outputs[i], own_tangent(i, results, given));
    }
  }
}

void CustomFunctionNode::check_tangent(std::size_t i, const Tensor& output,
                                       const Tensor& tangent) const {
  if (tangent.shape() != output.shape()) {
    fail_tangent(i, "a tangent of shape ", tangent.shape(), ", expected ", output.shape(), '.');
  }
  if (tangent.dtype() != output.dtype()) {
    fail_tangent(i, "a tangent of dtype ", tangent.dtype(), ", expected ", output.dtype(), '.');
  }
  if (tangent.device() != output.device()) {
    fail_tangent(i, "a tangent on ", tangent.device(), ", expected one on ", output.device(), '.');
  }
}

void CustomFunctionNode::set_tangent_in_place(std::size_t i, const Tensor& output,
                                              const Tensor& tangent,
                                              const ArgumentTangents& given) const {
  for (std::size_t k = 0; k < arguments_.size(); ++k) {
    if (!arguments_[k].tensor.is_same(output)) continue;
    const Tensor& own = given[k].tangent;
    if (!own.defined()) {
      set_tangent(output, tangent);
    } else if (!tangent.defined() || !tangent.is_same(own)) {
      fail_tangent(i,
                   "another tangent than it was given, but forward changes that argument in "
                   "place. Change its tangent in place and return it.");
    } else if (version_of(own) == given[k].version) {
      fail_tangent(i,
                   "the tangent unchanged, but forward changes that argument in place. Change "
                   "its tangent in place too.");
    }
    return;
  }
  fail(ErrorCode::kInvalidArgument,
       "ctx.markDirty() was given a tensor that is not an argument of forward; only arguments need "
       "it.");
}

// Returns false if the output is not a view of an argument.
bool CustomFunctionNode::set_tangent_of_view(std::size_t i, const Tensor& output,
                                             const Tensor& tangent,
                                             const ArgumentTangents& given) const {
  if (!is_view(output)) return false;
  const Tensor base = view_base(output);
  bool is_of_argument = false;
  for (std::size_t k = 0; k < arguments_.size(); ++k) {
    const Tensor& argument = arguments_[k].tensor;
    if (!argument.defined() || !root_of(argument).is_same(base)) continue;
    is_of_argument = true;
    const Tensor& own = given[k].tangent;
    if (!own.defined()) continue;
    if (!tangent.defined() || !is_view(tangent)) {
      fail_tangent(i,
                   "a tangent that is no view, but that result is a view of an argument, or the "
                   "argument itself. Return the same view of the argument's tangent.");
    }
    if (!view_base(tangent).is_same(root_of(own))) {
      fail_tangent(i,
                   "a view of another tensor than the tangent of the argument that the result "
                   "is a view of. Return the same view of that tangent.");
    }
    set_view_tangent(output, tangent);
    return true;
  }
  if (is_of_argument) set_tangent(output, tangent);
  return is_of_argument;
}

}  // namespace eg
