#include "ops/nn/channel_norm.h"

#include <algorithm>

#include "formulas/all.h"
#include "ops/create/copy.h"
#include "ops/nn/fused_batch_norm.h"
#include "ops/nn/norm.h"
#include "ops/reduce/reduction.h"
#include "ops/shape/view.h"

namespace eg {
namespace {

using Parameter = std::optional<Tensor>;

void check_normalized(const Tensor& input, std::int64_t min_dims, std::string_view op) {
  check(input.ndim() >= min_dims, ErrorCode::kShapeMismatch, op, "input must have at least ",
        min_dims, " dimensions, got ", input.ndim(), '.');
  check(is_floating(input.dtype()), ErrorCode::kDtypeMismatch, op,
        "expected float32 or float64, got ", input.dtype(), '.');
}

void check_channels(const Parameter& parameter, const Tensor& input, std::string_view name,
                    std::string_view op) {
  if (!parameter) return;
  check(parameter->shape() == Shape{input.size(1)}, ErrorCode::kShapeMismatch, op, name,
        " must be a vector of one element per channel, got shape ", parameter->shape(),
        " for input of shape ", input.shape(), '.');
  check(is_floating(parameter->dtype()), ErrorCode::kDtypeMismatch, op, name,
        " must be floating-point, got ", parameter->dtype(), '.');
}

// A vector of one number per channel, viewed so that it broadcasts to the input.
Var per_channel(const Tensor& parameter, const Tensor& input) {
  Shape shape(static_cast<std::size_t>(input.ndim()), 1);
  shape[1] = input.size(1);
  return View::call(parameter, shape);
}

Tensor scale_and_shift(const Tensor& normalized, const Parameter& weight, const Parameter& bias) {
  if (weight && bias) {
    return eg::call<op::Addcmul>(per_channel(*bias, normalized), normalized,
                                 per_channel(*weight, normalized));
  }
  if (weight) return normalized * per_channel(*weight, normalized);
  if (bias) return normalized + per_channel(*bias, normalized);
  return normalized;
}

// All dimensions except that of the channels.
Dims batch_dims(const Tensor& input) {
  Dims dims{0};
  for (std::int64_t d = 2; d < input.ndim(); ++d) dims.push_back(d);
  return dims;
}

// The new value of a running statistic. It is written once nothing can fail any more. An empty
// batch changes nothing, because it has no mean.
Parameter moved(const Parameter& running, const Tensor& observed, double momentum,
                const Tensor& input) {
  if (!running || input.numel() == 0) return running;
  const GradModeGuard no_grad(false);
  return detach(*running) * (1 - momentum) + detach(observed) * momentum;
}

void write_running(const Parameter& running, const Parameter& value) {
  const GradModeGuard no_grad(false);
  if (running) CopyInPlace::call(*running, *value);
}

// Layer norm of the input divided into `rows` consecutive parts.
Tensor normalize_rows(const Tensor& input, std::int64_t rows, double eps) {
  const std::int64_t width = rows == 0 ? 0 : input.numel() / rows;
  const Tensor flat = Reshape::call(input, {rows, width});
  return Reshape::call(LayerNorm::call(flat, {width}, {}, {}, eps), input.shape());
}

// (input - mean) / sqrt(variance + eps) * weight + bias with given statistics. They are combined
// per channel first, so that the input is read only once.
Tensor normalize_by(const Tensor& input, const Tensor& mean, const Tensor& variance,
                    const Parameter& weight, const Parameter& bias, double eps) {
  Var scale = rsqrt(variance + eps);
  if (weight) scale = scale * *weight;
  Var shift = -(mean * scale);
  if (bias) shift = shift + *bias;
  return scale_and_shift(input, scale, shift);
}

// Composed of ops, for devices and mixed dtypes that the kernel does not support.
BatchNormed composed_batch_norm(const Tensor& input, const Parameter& weight, const Parameter& bias,
                                double eps) {
  const Dims dims = batch_dims(input);
  const Tensor mean = Mean::call(input, dims, true);
  const Var centered = input - mean;
  const Tensor variance = Variance::call(input, dims, 0, true);
  const Tensor normalized = centered * rsqrt(variance + eps);
  const Tensor result = scale_and_shift(normalized, weight, bias);
  const GradModeGuard no_grad(false);
  const Dims per_channel{input.size(1)};
  const std::int64_t channels = std::max<std::int64_t>(1, input.size(1));
  const double count = static_cast<double>(input.numel()) / static_cast<double>(channels);
  return {result, View::call(detach(mean), per_channel),
          View::call(detach(variance), per_channel) * (count / (count - 1))};
}

}  // namespace

Tensor BatchNorm::call(const Tensor& input, const Parameter& running_mean,
                       const Parameter& running_var, const Parameter& weight, const Parameter& bias,
                       bool training, double momentum, double eps) {
  check_normalized(input, 2, doc.name);
  check_channels(weight, input, "weight", doc.name);
  check_channels(bias, input, "bias", doc.name);
  check_channels(running_mean, input, "running_mean", doc.name);
  check_channels(running_var, input, "running_var", doc.name);
  if (!training) {
    check(running_mean && running_var, ErrorCode::kInvalidArgument, doc.name,
          "runningMean and runningVar are required unless training.");
    return normalize_by(input, *running_mean, *running_var, weight, bias, eps);
  }
  const std::int64_t count = input.numel() / std::max<std::int64_t>(1, input.size(1));
  check(count != 1, ErrorCode::kShapeMismatch, doc.name,
        "training needs more than one value per channel, got input of shape ", input.shape(), '.');
  const bool is_fused = can_fuse_batch_norm(input, weight, bias);
  const RunningStatistics running{running_mean, running_var, momentum};
  if (is_fused && can_fuse_running(running, input))
    return fused_batch_norm(input, weight, bias, eps, running).result;
  const BatchNormed normed = is_fused ? fused_batch_norm(input, weight, bias, eps, {})
                                      : composed_batch_norm(input, weight, bias, eps);
  const Parameter mean = moved(running_mean, normed.mean, momentum, input);
  const Parameter var = moved(running_var, normed.unbiased_variance, momentum, input);
  write_running(running_mean, mean);
  write_running(running_var, var);
  return normed.result;
}

Tensor GroupNorm::call(const Tensor& input, std::int64_t num_groups, const Parameter& weight,
                       const Parameter& bias, double eps) {
  check_normalized(input, 2, doc.name);
  check(num_groups > 0 && input.size(1) % num_groups == 0, ErrorCode::kInvalidArgument, doc.name,
        "numGroups must divide the number of channels, got ", num_groups, " for input of shape ",
        input.shape(), '.');
  check_channels(weight, input, "weight", doc.name);
  check_channels(bias, input, "bias", doc.name);
  const std::int64_t rows = input.size(0) * num_groups;
  check(rows == 0 || input.numel() != num_groups, ErrorCode::kShapeMismatch, doc.name,
        "a group needs more than one value, got input of shape ", input.shape(), '.');
  return scale_and_shift(normalize_rows(input, rows, eps), weight, bias);
}

Tensor InstanceNorm::call(const Tensor& input, const Parameter& running_mean,
                          const Parameter& running_var, const Parameter& weight,
                          const Parameter& bias, bool use_input_stats, double momentum,
                          double eps) {
  check_normalized(input, 2, doc.name);
  if (!use_input_stats) {
    check(running_mean && running_var, ErrorCode::kInvalidArgument, doc.name,
          "runningMean and runningVar are required unless useInputStats.");
    return BatchNorm::call(input, running_mean, running_var, weight, bias, false, momentum, eps);
  }
  check_channels(weight, input, "weight", doc.name);
  check_channels(bias, input, "bias", doc.name);
  check_channels(running_mean, input, "running_mean", doc.name);
  check_channels(running_var, input, "running_var", doc.name);
  const std::int64_t rows = input.size(0) * input.size(1);
  check(rows == 0 || input.numel() != rows, ErrorCode::kShapeMismatch, doc.name,
        "a channel needs more than one value per sample, got input of shape ", input.shape(), '.');
  const Tensor result = scale_and_shift(normalize_rows(input, rows, eps), weight, bias);
  if (running_mean || running_var) {
    const Tensor channels = Flatten::call(detach(input), 2);
    const Tensor variance = Mean::call(Variance::call(channels, Dims{2}), Dims{0});
    const Parameter mean = moved(running_mean, Mean::call(channels, Dims{0, 2}), momentum, input);
    const Parameter var = moved(running_var, variance, momentum, input);
    write_running(running_mean, mean);
    write_running(running_var, var);
  }
  return result;
}

}  // namespace eg
