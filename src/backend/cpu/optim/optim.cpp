#include "kernels/optim.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>

#include "backend/cpu/vector/pack_math.h"
#include "backend/cpu/vector/vector_loop.h"
#include "runtime/thread_pool.h"

namespace eg::cpu {
namespace {

using kernel::AdagradOptions;
using kernel::AdamOptions;
using kernel::RmspropOptions;
using kernel::SgdOptions;

// Calls update(cursor) for vectors that cover [0, count), on all threads. `update` is copied, so
// that what it captures is in registers: its stores cannot alias the copy.
template <class T, class Update>
void for_all_vectors(std::int64_t count, const Update& update) {
  parallel_for(0, (count + kLanes<T> - 1) / kLanes<T>, kMinElementsPerTask / kLanes<T>,
               [&](std::int64_t first, std::int64_t last) {
                 const Update local = update;
                 for_each_vector<T>(first * kLanes<T>, std::min(last * kLanes<T>, count), local);
               });
}

// Returns the limit below which multiplying by the smallest of `factors` yields a denormal number.
template <class T>
T flush_limit(std::initializer_list<double> factors) {
  // The factor is clamped so that the limit never reaches a significant size.
  constexpr double kSmallestFactor = 1e-6;
  const double factor = std::clamp(std::abs(std::min(factors)), kSmallestFactor, 1.0);
  return static_cast<T>(static_cast<double>(std::numeric_limits<T>::min()) / factor);
}

// Replaces x by zero where |x| < limit; NaN stays NaN.
template <class T>
Vec<T> flush(Vec<T> x, Vec<T> limit) {
  return vec_abs(x) < limit ? Vec<T>{} : x;
}

template <class T>
Vec<T> constant(double value) {
  return splat(static_cast<T>(value));
}

template <class T>
void sgd_step(const SgdOptions& options, std::int64_t count, T* param, const T* grad,
              T* momentum_buffer) {
  const Vec<T> sign = constant<T>(options.maximize ? -1 : 1);
  const Vec<T> negative_lr = constant<T>(-options.lr);
  const Vec<T> weight_decay = constant<T>(options.weight_decay);
  const Vec<T> momentum = constant<T>(options.momentum);
  const Vec<T> share = constant<T>(1 - options.dampening);
  const Vec<T> limit = splat(flush_limit<T>({options.momentum, options.lr}));
  const bool decays = options.weight_decay != 0;
  const bool has_momentum = options.momentum != 0;
  for_all_vectors<T>(count, [=](auto at) {
    const Vec<T> p = at.load(param);
    Vec<T> g = sign * at.load(grad);
    if (decays) g = g + weight_decay * p;
    if (has_momentum) {
      const Vec<T> buffer =
          flush<T>(options.first ? g : momentum * at.load(momentum_buffer) + share * g, limit);
      at.store(momentum_buffer, buffer);
      g = options.nesterov ? g + momentum * buffer : buffer;
    }
    at.store(param, p + negative_lr * g);
  });
}

/// Returns base to the power of a number of steps, which is a whole number unless a program has set
/// it otherwise. std::pow has tables, which each page that trains would download.
double power(double base, double steps) {
  constexpr double kLargest = 1U << 31U;
  if (!(steps >= 0 && steps < kLargest) || steps != std::floor(steps))
    return vec_pow(splat(base), splat(steps))[0];
  double result = 1;
  double square = base;
  for (auto left = static_cast<std::uint32_t>(steps); left > 0; left /= 2) {
    if (left % 2 == 1) result *= square;
    square *= square;
  }
  return result;
}

template <class T>
void adam_step(const AdamOptions& options, std::int64_t count, T* param, const T* grad, T* exp_avg,
               T* exp_avg_sq, T* max_exp_avg_sq) {
  const double bias_correction1 = 1 - power(options.beta1, options.step);
  const double bias_correction2 = 1 - power(options.beta2, options.step);
  const double step_size = options.lr / bias_correction1;
  const double weight1 = 1 - options.beta1;
  const double weight2 = 1 - options.beta2;

  const Vec<T> sign = constant<T>(options.maximize ? -1 : 1);
  const Vec<T> weight_decay = constant<T>(options.weight_decay);
  const Vec<T> kept = constant<T>(1 - options.lr * options.weight_decay);
  const Vec<T> lerp_weight = constant<T>(weight1);
  const Vec<T> lerp_rest = splat(T{1} - static_cast<T>(weight1));
  const Vec<T> decay2 = constant<T>(options.beta2);
  const Vec<T> share2 = constant<T>(weight2);
  // m * step_size / (sqrt(v) / correction + eps), with one division instead of two.
  const double correction = std::sqrt(bias_correction2);
  const Vec<T> eps = constant<T>(options.eps * correction);
  const Vec<T> negative_step = constant<T>(-step_size * correction);
  // Without eps, even the smallest second moment affects the step of a parameter.
  const bool flushes = options.eps > 0;
  const Vec<T> limit1 = splat(flushes ? flush_limit<T>({weight1, step_size * correction}) : T{0});
  const Vec<T> limit2 = splat(flushes ? flush_limit<T>({options.beta2}) : T{0});
  // The square of a gradient below this only adds a denormal number.
  const Vec<T> gradient_limit = splat(flushes ? std::sqrt(flush_limit<T>({weight2})) : T{0});

  const bool decays = options.weight_decay != 0;
  const bool is_near_start = weight1 < 0.5;
  for_all_vectors<T>(count, [=](auto at) {
    Vec<T> p = at.load(param);
    Vec<T> g = sign * at.load(grad);
    if (decays && options.decoupled) p = p * kept;
    if (decays && !options.decoupled) g = g + weight_decay * p;

    // Interpolates from the nearer end, as torch.lerp does.
    const Vec<T> m_before = at.load(exp_avg);
    const Vec<T> m = flush<T>(
        is_near_start ? m_before + lerp_weight * (g - m_before) : g - (g - m_before) * lerp_rest,
        limit1);
    at.store(exp_avg, m);

    const Vec<T> g_squarable = flush<T>(g, gradient_limit);
    Vec<T> v = flush<T>(decay2 * at.load(exp_avg_sq) + share2 * g_squarable * g_squarable, limit2);
    at.store(exp_avg_sq, v);
    if (max_exp_avg_sq != nullptr) {
      v = vec_maximum(at.load(max_exp_avg_sq), v);
      at.store(max_exp_avg_sq, v);
    }
    at.store(param, p + negative_step * m / (vec_sqrt(v) + eps));
  });
}

template <class T>
void rmsprop_step(const RmspropOptions& options, std::int64_t count, T* param, const T* grad,
                  T* square_avg, T* momentum_buffer, T* grad_avg) {
  const double weight = 1 - options.alpha;
  const Vec<T> sign = constant<T>(options.maximize ? -1 : 1);
  const Vec<T> weight_decay = constant<T>(options.weight_decay);
  const Vec<T> alpha = constant<T>(options.alpha);
  const Vec<T> share = constant<T>(weight);
  const Vec<T> rest = splat(T{1} - static_cast<T>(weight));
  const Vec<T> eps = constant<T>(options.eps);
  const Vec<T> momentum = constant<T>(options.momentum);
  const Vec<T> negative_lr = constant<T>(-options.lr);
  // Without eps, even the smallest average affects the step of a parameter.
  const Vec<T> limit = splat(options.eps > 0 ? flush_limit<T>({options.alpha}) : T{0});
  const Vec<T> buffer_limit = splat(flush_limit<T>({options.momentum, options.lr}));
  const bool decays = options.weight_decay != 0;
  const bool is_near_start = weight < 0.5;
  for_all_vectors<T>(count, [=](auto at) {
    const Vec<T> p = at.load(param);
    Vec<T> g = sign * at.load(grad);
    if (decays) g = g + weight_decay * p;
    Vec<T> v = flush<T>(alpha * at.load(square_avg) + share * g * g, limit);
    at.store(square_avg, v);
    if (grad_avg != nullptr) {
      const Vec<T> before = at.load(grad_avg);
      const Vec<T> mean = is_near_start ? before + share * (g - before) : g - (g - before) * rest;
      at.store(grad_avg, mean);
      v = v - mean * mean;
    }
    const Vec<T> divisor = vec_sqrt(v) + eps;
    if (momentum_buffer != nullptr) {
      const Vec<T> buffer =
          flush<T>(momentum * at.load(momentum_buffer) + g / divisor, buffer_limit);
      at.store(momentum_buffer, buffer);
      at.store(param, p + negative_lr * buffer);
    } else {
      at.store(param, p + negative_lr * g / divisor);
    }
  });
}

template <class T>
void adagrad_step(const AdagradOptions& options, std::int64_t count, T* param, const T* grad,
                  T* sum) {
  const Vec<T> sign = constant<T>(options.maximize ? -1 : 1);
  const Vec<T> weight_decay = constant<T>(options.weight_decay);
  const Vec<T> eps = constant<T>(options.eps);
  const Vec<T> negative_lr = constant<T>(-options.lr);
  const bool decays = options.weight_decay != 0;
  for_all_vectors<T>(count, [=](auto at) {
    const Vec<T> p = at.load(param);
    Vec<T> g = sign * at.load(grad);
    if (decays) g = g + weight_decay * p;
    const Vec<T> total = at.load(sum) + g * g;
    at.store(sum, total);
    at.store(param, p + negative_lr * g / (vec_sqrt(total) + eps));
  });
}

}  // namespace
}  // namespace eg::cpu

namespace eg::kernel {

void SgdStep::compute_on_cpu() const {
  visit_floating(param.dtype(), name, [&]<class T>() {
    cpu::sgd_step(options, count, param.as<T>(), grad.as<T>(), momentum_buffer.as<T>());
  });
}

void AdamStep::compute_on_cpu() const {
  visit_floating(param.dtype(), name, [&]<class T>() {
    cpu::adam_step(options, count, param.as<T>(), grad.as<T>(), exp_avg.as<T>(), exp_avg_sq.as<T>(),
                   max_exp_avg_sq.as<T>());
  });
}

void RmspropStep::compute_on_cpu() const {
  visit_floating(param.dtype(), name, [&]<class T>() {
    cpu::rmsprop_step(options, count, param.as<T>(), grad.as<T>(), square_avg.as<T>(),
                      momentum_buffer.as<T>(), grad_avg.as<T>());
  });
}

void AdagradStep::compute_on_cpu() const {
  visit_floating(param.dtype(), name, [&]<class T>() {
    cpu::adagrad_step(options, count, param.as<T>(), grad.as<T>(), sum.as<T>());
  });
}

}  // namespace eg::kernel
