#include "kernels/norm.h"

#include <algorithm>
#include <cmath>

#include "backend/cpu/vector/vector_loop.h"
#include "runtime/thread_pool.h"

namespace eg::cpu {
namespace {

// Columns are divided among threads in multiples of this: a cache line, so that no two threads
// write to the same one.
constexpr std::int64_t kColumnGroup = 64;

template <class Body>
void for_each_row(std::int64_t rows, std::int64_t width, Body&& body) {
  const std::int64_t grain =
      std::max<std::int64_t>(1, kMinElementsPerTask / std::max<std::int64_t>(1, width));
  parallel_for(0, rows, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) body(row);
  });
}

template <class T>
void normalize(const kernel::RowNorm& norm) {
  const T* const weight = norm.weight.as<T>();
  const T* const bias = norm.bias.as<T>();
  T* const means = norm.mean.as<T>();
  const auto width = static_cast<double>(norm.width);
  for_each_row(norm.rows, norm.width, [&](std::int64_t row) {
    const T* const x = norm.x.as<T>() + row * norm.width;
    if (means != nullptr) {
      means[row] = static_cast<T>(
          sum_of_vectors<T>(norm.width, [&](auto at) { return at.load(x); }) / width);
    }
    const T mean = means == nullptr ? T{0} : means[row];
    const double squares = sum_of_vectors<T>(norm.width, [&](auto at) {
      const Vec<T> centered = at.load(x) - mean;
      return centered * centered;
    });
    const auto rstd = static_cast<T>(1 / std::sqrt(squares / width + norm.eps));
    norm.rstd.as<T>()[row] = rstd;
    T* const y = norm.y.as<T>() + row * norm.width;
    for_each_vector<T>(0, norm.width, [&](auto at) {
      Vec<T> value = (at.load(x) - mean) * rstd;
      if (weight != nullptr) value = value * at.load(weight);
      if (bias != nullptr) value = value + at.load(bias);
      at.store(y, value);
    });
  });
}

// With x' = (x - mean) * rstd and g' = g * weight:
// dx = rstd * (g' - mean(g') - x' * mean(g' * x')), where RMS norm has no mean(g').
template <class T>
void backward_input(const kernel::RowNormBackwardInput& norm) {
  const T* const weight = norm.weight.as<T>();
  const T* const means = norm.mean.as<T>();
  const auto width = static_cast<double>(norm.width);
  for_each_row(norm.rows, norm.width, [&](std::int64_t row) {
    const T* const x = norm.x.as<T>() + row * norm.width;
    const T* const g = norm.grad_y.as<T>() + row * norm.width;
    T* const dx = norm.grad_x.as<T>() + row * norm.width;
    const T mean = means == nullptr ? T{0} : means[row];
    const T rstd = norm.rstd.as<T>()[row];
    const auto weighted = [&](auto at) {
      return weight == nullptr ? at.load(g) : at.load(g) * at.load(weight);
    };
    const auto [whole, dot] = sums_of_vectors<T, 2>(norm.width, [&](auto at) {
      const Vec<T> gradient = weighted(at);
      return Vecs<T, 2>{{gradient, gradient * (at.load(x) - mean)}};
    });
    const double sum = means == nullptr ? 0 : whole;
    const auto mean_g = static_cast<T>(sum / width);
    const double rate = rstd;
    const auto slope = static_cast<T>(dot * rate * rate / width);
    for_each_vector<T>(0, norm.width, [&](auto at) {
      at.store(dx, (weighted(at) - mean_g - (at.load(x) - mean) * slope) * rstd);
    });
  });
}

// Adds the contribution of `kRows` rows, starting at `first`, to the gradients of columns.
// Processing several rows at once avoids reading and writing the sums for each.
template <int kRows, class T>
void add_rows(const kernel::RowNormBackwardParameters& norm, std::int64_t first, std::int64_t begin,
              std::int64_t end) {
  const T* const x = norm.x.as<T>() + first * norm.width;
  const T* const g = norm.grad_y.as<T>() + first * norm.width;
  T* const dweight = norm.grad_weight.as<T>();
  T* const dbias = norm.grad_bias.as<T>();
  T means[kRows] = {};
  T rstds[kRows];
  for (int i = 0; i < kRows; ++i) {
    if (norm.mean) means[i] = norm.mean.as<T>()[first + i];
    rstds[i] = norm.rstd.as<T>()[first + i];
  }
  for_each_vector<T>(begin, end, [&](auto at) {
    if (dweight != nullptr) {
      Vec<T> sum = at.load(dweight);
#pragma GCC unroll 4
      for (int i = 0; i < kRows; ++i) {
        const Vec<T> normalized = (at.load(x + i * norm.width) - means[i]) * rstds[i];
        sum += at.load(g + i * norm.width) * normalized;
      }
      at.store(dweight, sum);
    }
    if (dbias != nullptr) {
      Vec<T> sum = at.load(dbias);
#pragma GCC unroll 4
      for (int i = 0; i < kRows; ++i) sum += at.load(g + i * norm.width);
      at.store(dbias, sum);
    }
  });
}

template <class T>
void backward_parameters(const kernel::RowNormBackwardParameters& norm) {
  constexpr int kRows = 4;
  const std::int64_t groups = (norm.width + kColumnGroup - 1) / kColumnGroup;
  const std::int64_t work = std::max<std::int64_t>(1, norm.rows * kColumnGroup);
  parallel_for(0, groups, (kMinElementsPerTask + work - 1) / work,
               [&](std::int64_t first, std::int64_t last) {
                 const std::int64_t begin = first * kColumnGroup;
                 const std::int64_t end = std::min(last * kColumnGroup, norm.width);
                 for (const kernel::OptionalOut& sums : {norm.grad_weight, norm.grad_bias})
                   if (sums) std::fill(sums.as<T>() + begin, sums.as<T>() + end, T{0});
                 std::int64_t row = 0;
                 for (; row + kRows <= norm.rows; row += kRows)
                   add_rows<kRows, T>(norm, row, begin, end);
                 for (; row < norm.rows; ++row) add_rows<1, T>(norm, row, begin, end);
               });
}

}  // namespace
}  // namespace eg::cpu

namespace eg::kernel {

void RowNorm::compute_on_cpu() const {
  visit_floating(x.dtype(), name, [&]<class T>() { cpu::normalize<T>(*this); });
}

void RowNormBackwardInput::compute_on_cpu() const {
  visit_floating(x.dtype(), name, [&]<class T>() { cpu::backward_input<T>(*this); });
}

void RowNormBackwardParameters::compute_on_cpu() const {
  visit_floating(x.dtype(), name, [&]<class T>() { cpu::backward_parameters<T>(*this); });
}

}  // namespace eg::kernel
