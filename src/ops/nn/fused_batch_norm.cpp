#include "ops/nn/fused_batch_norm.h"

#include <span>
#include <utility>

#include "dispatch/factories.h"
#include "dispatch/optional_memory.h"
#include "dispatch/record.h"
#include "formulas/vocabulary.h"
#include "kernels/channel_norm.h"
#include "ops/create/copy.h"
#include "ops/nn/norm_gradients.h"
#include "ops/shape/view.h"

namespace eg {
namespace {

// If fewer elements of a channel than this are adjacent in the input, it is rearranged first.
constexpr std::int64_t kFewTogether = 16;

Tensor swapped(const Tensor& t) {
  Shape shape = t.shape();
  Strides strides = t.strides();
  std::swap(shape[0], shape[1]);
  std::swap(strides[0], strides[1]);
  return t.alias(shape, strides, t.offset());
}

// The layout in which the kernel reads an input.
struct Channels {
  explicit Channels(const Tensor& input)
      : outer(input.size(0)),
        channels(input.size(1)),
        inner(input.numel() / (outer * channels)),
        is_swapped(outer > 1 && inner < kFewTogether) {
    if (is_swapped) inner *= std::exchange(outer, 1);
  }

  std::int64_t count() const { return outer * inner; }
  Tensor arranged(const Tensor& t) const { return packed(is_swapped ? swapped(t) : t); }
  Tensor arranged_back(const Tensor& t) const { return is_swapped ? packed(swapped(t)) : t; }
  Tensor empty_like(const Tensor& t) const {
    return Tensor::empty(is_swapped ? swapped(t).shape() : t.shape(), t.dtype(), t.device());
  }

  std::int64_t outer;
  std::int64_t channels;
  std::int64_t inner;
  bool is_swapped;
};

struct FusedBatchNorm {
  static constexpr op::Doc doc{"native_batch_norm", "Batch norm in one kernel."};
  struct Attrs {
    double eps;
  };
  static constexpr std::array<std::string_view, 4> saved_names{"input", "weight", "result1",
                                                               "result2"};
  static GradList backward(const Backward<FusedBatchNorm>& b);
};

GradList fused_gradients(const Tensor& input, const Tensor& weight, const Tensor& mean,
                         const Tensor& rstd, const Tensor& grad, const NormNeeds& needs) {
  const Channels channels(input);
  const Tensor x = channels.arranged(input);
  const Tensor g = channels.arranged(grad);
  const Tensor scale = packed(weight);
  GradList grads(3);
  if (needs[0]) grads[0] = channels.empty_like(input);
  for (std::size_t i = 1; i < 3; ++i)
    if (needs[i]) grads[i] = Tensor::empty(mean.shape(), mean.dtype(), mean.device());
  run(kernel::ChannelNormBackward{channels.outer, channels.channels, channels.inner, x.memory(),
                                  optional_memory(scale), mean.memory(), rstd.memory(), g.memory(),
                                  optional_memory(grads[0]), optional_memory(grads[1]),
                                  optional_memory(grads[2])});
  if (needs[0]) grads[0] = channels.arranged_back(grads[0]);
  return grads;
}

GradList differentiable_gradients(const Tensor& input, const Tensor& weight, const Tensor& grad,
                                  double eps, const NormNeeds& needs) {
  Shape per_channel(static_cast<std::size_t>(input.ndim()), 1);
  per_channel[1] = input.size(1);
  const Tensor shaped = weight.defined() ? View::call(weight, per_channel) : weight;
  const double count = static_cast<double>(input.numel()) / static_cast<double>(input.size(1));
  GradList grads =
      norm_gradients({count, eps, true, per_channel, per_channel, input, shaped}, grad, needs);
  for (std::size_t i = 1; i < 3; ++i)
    if (needs[i]) grads[i] = View::call(grads[i], Dims{input.size(1)});
  return grads;
}

// Changes a tensor in place, as an op that copies into it would.
template <class Write>
void changing(const Tensor& t, Write&& write) {
  change_in_place<CopyInPlace>(t, std::span<const Tensor>(&t, 1), {t.device()}, write);
}

GradList FusedBatchNorm::backward(const Backward<FusedBatchNorm>& b) {
  const NormNeeds needs{b.needs(0), b.needs(1), b.needs(2)};
  return ops_are_differentiated()
             ? differentiable_gradients(b.saved(0), b.saved(1), b.grad(), b.attrs().eps, needs)
             : fused_gradients(b.saved(0), b.saved(1), b.saved(2), b.saved(3), b.grad(), needs);
}

}  // namespace

bool can_fuse_batch_norm(const Tensor& input, const std::optional<Tensor>& weight,
                         const std::optional<Tensor>& bias) {
  const auto fits = [&](const std::optional<Tensor>& parameter) {
    return !parameter ||
           (parameter->device() == input.device() && parameter->dtype() == input.dtype());
  };
  return input.numel() > 0 && fits(weight) && fits(bias);
}

bool can_fuse_running(const RunningStatistics& running, const Tensor& input) {
  const auto fits = [&](const std::optional<Tensor>& t) {
    return t && t->device() == input.device() && t->dtype() == input.dtype() &&
           t->is_contiguous() && !t->shares_storage_with(input) &&
           !should_record(std::span<const Tensor>(&*t, 1));
  };
  return fits(running.mean) && fits(running.variance) &&
         !running.mean->shares_storage_with(*running.variance);
}

BatchNormed fused_batch_norm(const Tensor& input, const std::optional<Tensor>& weight,
                             const std::optional<Tensor>& bias, double eps,
                             const RunningStatistics& running) {
  const Channels channels(input);
  const auto per_channel = [&] {
    return Tensor::empty({channels.channels}, input.dtype(), input.device());
  };
  const BatchNormed normed{channels.empty_like(input), per_channel(),
                           running.variance ? Tensor() : per_channel()};
  const Tensor rstd = per_channel();
  const Tensor x = channels.arranged(input);
  const Tensor scale = packed(weight.value_or(Tensor()));
  const Tensor shift = packed(bias.value_or(Tensor()));
  const Tensor running_mean = running.mean.value_or(Tensor());
  const Tensor running_variance = running.variance.value_or(Tensor());
  const auto normalize = [&] {
    run(kernel::ChannelNorm{
        channels.outer,
        channels.channels,
        channels.inner,
        eps,
        x.memory(),
        optional_memory(scale),
        optional_memory(shift),
        normed.result.memory(),
        normed.mean.memory(),
        optional_memory(normed.unbiased_variance),
        rstd.memory(),
        {running.momentum, optional_memory(running_mean), optional_memory(running_variance)}});
  };
  if (running.mean) {
    const GradModeGuard no_grad(false);
    changing(running_mean, [&] { changing(running_variance, normalize); });
  } else {
    normalize();
  }
  const Tensor weights = weight.value_or(Tensor());
  const Tensor result = record<FusedBatchNorm>(channels.arranged_back(normed.result),
                                               {input, weights, bias.value_or(Tensor())}, {eps},
                                               {{input}, {weights}, {normed.mean}, {rstd}});
  return {result, normed.mean, normed.unbiased_variance};
}

}  // namespace eg
