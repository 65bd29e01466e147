#include "kernels/softmax.h"

#include "backend/cpu/nn/softmax_rows.h"

namespace eg::cpu {
namespace {

using kernel::SoftmaxKind;

template <class T>
void softmax_row(const T* x, std::int64_t count, T* y) {
  const double sum =
      sum_exp(x, count, largest_of(x, count), [&](auto at, Vec<T> value) { at.store(y, value); });
  const auto scale = static_cast<T>(1 / sum);
  for_each_vector<T>(0, count, [&](auto at) { at.store(y, at.load(y) * scale); });
}

template <class T>
void log_softmax_row(const T* x, std::int64_t count, T* y) {
  const T largest = largest_of(x, count);
  const T log_sum = log_sum_exp(x, count, largest);
  for_each_vector<T>(0, count, [&](auto at) { at.store(y, at.load(x) - largest - log_sum); });
}

template <class T, class At>
void softmax_columns(At at, const Rows& rows, const T* x, T* y) {
  const Vec<T> largest = largest_of_columns<T>(at, x, rows);
  Vec<T> sum{};
  for (std::int64_t i = 0; i < rows.size; ++i) {
    const Vec<T> value = vec_exp(at.load(x + i * rows.inner) - largest);
    sum += value;
    at.store(y + i * rows.inner, value);
  }
  const Vec<T> scale = T{1} / sum;
  for (std::int64_t i = 0; i < rows.size; ++i)
    at.store(y + i * rows.inner, at.load(y + i * rows.inner) * scale);
}

template <class T, class At>
void log_softmax_columns(At at, const Rows& rows, const T* x, T* y) {
  const Vec<T> largest = largest_of_columns<T>(at, x, rows);
  const Vec<T> log_sum = log_sum_exp_columns<T>(at, x, rows, largest);
  for (std::int64_t i = 0; i < rows.size; ++i) {
    at.store(y + i * rows.inner, at.load(x + i * rows.inner) - largest - log_sum);
  }
}

template <class T>
void forward(SoftmaxKind kind, const Rows& rows, const T* in, T* out) {
  const bool is_log = kind == SoftmaxKind::kLog;
  const std::int64_t block = rows.size * rows.inner;
  for_each_row(
      rows,
      [&](std::int64_t o) {
        if (is_log)
          log_softmax_row(in + o * block, rows.size, out + o * block);
        else
          softmax_row(in + o * block, rows.size, out + o * block);
      },
      [&](std::int64_t o, std::int64_t begin, std::int64_t end) {
        for_each_vector<T>(begin, end, [&](auto at) {
          if (is_log)
            log_softmax_columns(at, rows, in + o * block, out + o * block);
          else
            softmax_columns(at, rows, in + o * block, out + o * block);
        });
      });
}

// Returns the gradient of the input: y (g - sum(g y)), or g - exp(y) sum(g) for log-softmax.
template <class T, class At>
Vec<T> input_gradient(SoftmaxKind kind, At at, Vec<T> g, Vec<T> y, Vec<T> sum) {
  return kind == SoftmaxKind::kLog ? g - exp_at<T>(at, y) * sum : y * (g - sum);
}

template <class T>
void backward(SoftmaxKind kind, const Rows& rows, const T* grad, const T* out, T* grad_in) {
  const std::int64_t block = rows.size * rows.inner;
  const auto term = [kind](Vec<T> g, Vec<T> y) { return kind == SoftmaxKind::kLog ? g : g * y; };
  for_each_row(
      rows,
      [&](std::int64_t o) {
        const T* g = grad + o * block;
        const T* y = out + o * block;
        const double total =
            sum_of_vectors<T>(rows.size, [&](auto at) { return term(at.load(g), at.load(y)); });
        const Vec<T> sum(splat(static_cast<T>(total)));
        for_each_vector<T>(0, rows.size, [&](auto at) {
          at.store(grad_in + o * block, input_gradient<T>(kind, at, at.load(g), at.load(y), sum));
        });
      },
      [&](std::int64_t o, std::int64_t begin, std::int64_t end) {
        for_each_vector<T>(begin, end, [&](auto at) {
          Vec<T> sum{};
          for (std::int64_t i = o * block; i < (o + 1) * block; i += rows.inner) {
            sum += term(at.load(grad + i), at.load(out + i));
          }
          for (std::int64_t i = o * block; i < (o + 1) * block; i += rows.inner) {
            at.store(grad_in + i,
                     input_gradient<T>(kind, at, at.load(grad + i), at.load(out + i), sum));
          }
        });
      });
}

}  // namespace

}  // namespace eg::cpu

namespace eg::kernel {

void Softmax::compute_on_cpu() const {
  // The number of empty rows can be too large to iterate over.
  if (rows.size == 0) return;
  visit_floating(x.dtype(), name,
                 [&]<class T>() { cpu::forward(kind, rows, x.as<T>(), y.as<T>()); });
}

void SoftmaxBackward::compute_on_cpu() const {
  if (rows.size == 0) return;
  visit_floating(y.dtype(), name, [&]<class T>() {
    cpu::backward(kind, rows, grad_y.as<T>(), y.as<T>(), grad_x.as<T>());
  });
}

}  // namespace eg::kernel
