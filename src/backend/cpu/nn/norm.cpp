#include "backend/cpu/nn/norm.h"

#include <algorithm>
#include <cmath>

#include "backend/cpu/vector/vector_loop.h"
#include "runtime/thread_pool.h"

namespace eg::cpu {
namespace {

// Columns that threads share out: a multiple of a cache line, or they would write to the same one.
constexpr std::int64_t kColumnGroup = 64;

template <class T, class Body>
void for_each_row(const RowNorm<T>& norm, Body&& body) {
  const std::int64_t grain =
      std::max<std::int64_t>(1, kMinElementsPerTask / std::max<std::int64_t>(1, norm.width));
  parallel_for(0, norm.rows, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) body(row);
  });
}

template <class T>
T mean_of_row(const RowNorm<T>& norm, std::int64_t row) {
  return norm.mean == nullptr ? T{0} : norm.mean[row];
}

}  // namespace

template <class T>
void norm_forward(const RowNorm<T>& norm, double eps, const T* bias, T* out) {
  const auto width = static_cast<double>(norm.width);
  for_each_row(norm, [&](std::int64_t row) {
    const T* const x = norm.x + row * norm.width;
    if (norm.mean != nullptr) {
      norm.mean[row] = static_cast<T>(
          sum_of_vectors<T>(norm.width, [&](auto at) { return at.load(x); }) / width);
    }
    const T mean = mean_of_row(norm, row);
    const double squares = sum_of_vectors<T>(norm.width, [&](auto at) {
      const Vec<T> centered = at.load(x) - mean;
      return centered * centered;
    });
    const auto rstd = static_cast<T>(1 / std::sqrt(squares / width + eps));
    norm.rstd[row] = rstd;
    T* const y = out + row * norm.width;
    for_each_vector<T>(0, norm.width, [&](auto at) {
      Vec<T> value = (at.load(x) - mean) * rstd;
      if (norm.weight != nullptr) value = value * at.load(norm.weight);
      if (bias != nullptr) value = value + at.load(bias);
      at.store(y, value);
    });
  });
}

// With x' = (x - mean) * rstd and g' = g * weight:
// dx = rstd * (g' - mean(g') - x' * mean(g' * x')), where RMS norm has no mean(g').
template <class T>
void norm_backward_input(const RowNorm<T>& norm, const T* g, T* dx) {
  const auto width = static_cast<double>(norm.width);
  for_each_row(norm, [&](std::int64_t row) {
    const T* const x = norm.x + row * norm.width;
    const T* const g_row = g + row * norm.width;
    T* const dx_row = dx + row * norm.width;
    const T mean = mean_of_row(norm, row);
    const T rstd = norm.rstd[row];
    const auto weighted = [&](auto at) {
      return norm.weight == nullptr ? at.load(g_row) : at.load(g_row) * at.load(norm.weight);
    };
    const double dot =
        sum_of_vectors<T>(norm.width, [&](auto at) { return weighted(at) * (at.load(x) - mean); });
    const double sum = norm.mean == nullptr ? 0 : sum_of_vectors<T>(norm.width, weighted);
    const auto mean_g = static_cast<T>(sum / width);
    const auto mean_gx = static_cast<T>(dot * static_cast<double>(rstd) / width);
    for_each_vector<T>(0, norm.width, [&](auto at) {
      const Vec<T> normalized = (at.load(x) - mean) * rstd;
      at.store(dx_row, (weighted(at) - mean_g - normalized * mean_gx) * rstd);
    });
  });
}

template <class T>
void norm_backward_parameters(const RowNorm<T>& norm, const T* g, T* dweight, T* dbias) {
  const std::int64_t groups = (norm.width + kColumnGroup - 1) / kColumnGroup;
  const std::int64_t work = std::max<std::int64_t>(1, norm.rows * kColumnGroup);
  parallel_for(0, groups, (kMinElementsPerTask + work - 1) / work,
               [&](std::int64_t first, std::int64_t last) {
                 const std::int64_t begin = first * kColumnGroup;
                 const std::int64_t end = std::min(last * kColumnGroup, norm.width);
                 if (dweight != nullptr) std::fill(dweight + begin, dweight + end, T{0});
                 if (dbias != nullptr) std::fill(dbias + begin, dbias + end, T{0});
                 for (std::int64_t row = 0; row < norm.rows; ++row) {
                   const T* const x = norm.x + row * norm.width;
                   const T* const g_row = g + row * norm.width;
                   const T mean = mean_of_row(norm, row);
                   const T rstd = norm.rstd[row];
                   for_each_vector<T>(begin, end, [&](auto at) {
                     const Vec<T> gradient = at.load(g_row);
                     if (dweight != nullptr) {
                       at.store(dweight,
                                at.load(dweight) + gradient * ((at.load(x) - mean) * rstd));
                     }
                     if (dbias != nullptr) at.store(dbias, at.load(dbias) + gradient);
                   });
                 }
               });
}

template void norm_forward(const RowNorm<float>&, double, const float*, float*);
template void norm_forward(const RowNorm<double>&, double, const double*, double*);
template void norm_backward_input(const RowNorm<float>&, const float*, float*);
template void norm_backward_input(const RowNorm<double>&, const double*, double*);
template void norm_backward_parameters(const RowNorm<float>&, const float*, float*, float*);
template void norm_backward_parameters(const RowNorm<double>&, const double*, double*, double*);

}  // namespace eg::cpu
