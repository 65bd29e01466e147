#include "kernels/channel_norm.h"

#include <array>
#include <cmath>

#include "backend/cpu/vector/vector_loop.h"
#include "runtime/thread_pool.h"

namespace eg::cpu {
namespace {

// Calls body(channel) for all channels. Each channel is processed by a single thread, so sums do
// not depend on the number of threads.
template <class Norm, class Body>
void for_each_channel(const Norm& norm, Body&& body) {
  const std::int64_t grain = kMinElementsPerTask / (norm.outer * norm.inner) + 1;
  parallel_for(0, norm.channels, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t channel = begin; channel < end; ++channel) body(channel);
  });
}

// Calls body(offset) for every contiguous piece of a channel.
template <class Norm, class Body>
void for_each_piece(const Norm& norm, std::int64_t channel, Body&& body) {
  for (std::int64_t i = 0; i < norm.outer; ++i) body((i * norm.channels + channel) * norm.inner);
}

template <class T>
void follow(const kernel::OptionalOut& running, std::int64_t channel, T observed, double momentum) {
  if (!running) return;
  T& average = running.as<T>()[channel];
  average = average * static_cast<T>(1 - momentum) + observed * static_cast<T>(momentum);
}

template <class T>
void normalize(const kernel::ChannelNorm& norm) {
  const T* const weight = norm.weight.as<T>();
  const T* const bias = norm.bias.as<T>();
  const auto count = static_cast<double>(norm.outer * norm.inner);
  for_each_channel(norm, [&](std::int64_t channel) {
    double sum = 0;
    for_each_piece(norm, channel, [&](std::int64_t offset) {
      const T* const x = norm.x.as<T>() + offset;
      sum += sum_of_vectors<T>(norm.inner, [&](auto at) { return at.load(x); });
    });
    const T mean = static_cast<T>(sum / count);
    double squares = 0;
    for_each_piece(norm, channel, [&](std::int64_t offset) {
      const T* const x = norm.x.as<T>() + offset;
      squares += sum_of_vectors<T>(norm.inner, [&](auto at) {
        const Vec<T> centered = at.load(x) - mean;
        return centered * centered;
      });
    });
    const double rstd = 1 / std::sqrt(squares / count + norm.eps);
    norm.mean.as<T>()[channel] = mean;
    const T variance = static_cast<T>(squares / (count - 1));
    if (norm.variance) norm.variance.as<T>()[channel] = variance;
    follow(norm.running.mean, channel, mean, norm.running.momentum);
    follow(norm.running.variance, channel, variance, norm.running.momentum);
    norm.rstd.as<T>()[channel] = static_cast<T>(rstd);
    const T scale = static_cast<T>(weight == nullptr ? rstd : rstd * weight[channel]);
    const T shift = bias == nullptr ? T{0} : bias[channel];
    for_each_piece(norm, channel, [&](std::int64_t offset) {
      const T* const x = norm.x.as<T>() + offset;
      T* const y = norm.y.as<T>() + offset;
      for_each_vector<T>(0, norm.inner,
                         [&](auto at) { at.store(y, (at.load(x) - mean) * scale + shift); });
    });
  });
}

// dx = rstd * weight * (g - mean(g) - x' * mean(g * x')), with x' = (x - mean) * rstd.
template <class T>
void backward(const kernel::ChannelNormBackward& norm) {
  const T* const weight = norm.weight.as<T>();
  const auto count = static_cast<double>(norm.outer * norm.inner);
  for_each_channel(norm, [&](std::int64_t channel) {
    const T mean = norm.mean.as<T>()[channel];
    const double rstd = norm.rstd.as<T>()[channel];
    double sum = 0;
    double dot = 0;
    for_each_piece(norm, channel, [&](std::int64_t offset) {
      const T* const x = norm.x.as<T>() + offset;
      const T* const g = norm.grad_y.as<T>() + offset;
      const std::array<double, 2> sums = sums_of_vectors<T, 2>(norm.inner, [&](auto at) {
        const Vec<T> gradient = at.load(g);
        return Vecs<T, 2>{{gradient, gradient * (at.load(x) - mean)}};
      });
      sum += sums[0];
      dot += sums[1];
    });
    if (norm.grad_weight) norm.grad_weight.as<T>()[channel] = static_cast<T>(dot * rstd);
    if (norm.grad_bias) norm.grad_bias.as<T>()[channel] = static_cast<T>(sum);
    if (!norm.grad_x) return;
    const T mean_g = static_cast<T>(sum / count);
    const T slope = static_cast<T>(dot * rstd * rstd / count);
    const T scale = static_cast<T>(weight == nullptr ? rstd : rstd * weight[channel]);
    for_each_piece(norm, channel, [&](std::int64_t offset) {
      const T* const x = norm.x.as<T>() + offset;
      const T* const g = norm.grad_y.as<T>() + offset;
      T* const dx = norm.grad_x.as<T>() + offset;
      for_each_vector<T>(0, norm.inner, [&](auto at) {
        at.store(dx, (at.load(g) - mean_g - (at.load(x) - mean) * slope) * scale);
      });
    });
  });
}

}  // namespace
}  // namespace eg::cpu

namespace eg::kernel {

void ChannelNorm::compute_on_cpu() const {
  visit_floating(x.dtype(), name, [&]<class T>() { cpu::normalize<T>(*this); });
}

void ChannelNormBackward::compute_on_cpu() const {
  visit_floating(x.dtype(), name, [&]<class T>() { cpu::backward<T>(*this); });
}

}  // namespace eg::kernel
