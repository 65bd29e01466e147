#include "kernels/scan.h"

#include <algorithm>
#include <cmath>

#include "runtime/thread_pool.h"

namespace eg::cpu {
namespace {

using kernel::Rows;
using kernel::ScanKind;

template <class T>
using Accumulator = std::conditional_t<std::is_floating_point_v<T>, double, std::uint64_t>;

// Integers wrap around.
template <class A>
A combine(ScanKind kind, A a, A b) {
  if (kind == ScanKind::kSum) return a + b;
  if (kind == ScanKind::kProd) return a * b;
  if constexpr (std::is_floating_point_v<A>) {
    const A high = a != a || a > b ? a : b;
    const A low = a != a || a > b ? b : a;
    // The difference of equal infinities is NaN.
    return high == low && std::isinf(high) ? high : high + std::log1p(std::exp(low - high));
  } else {
    return a;
  }
}

// Calls visit(first element) for every row.
template <class Visit>
void for_each_row(const Rows& rows, Visit&& visit) {
  const std::int64_t grain = kMinElementsPerTask / std::max<std::int64_t>(1, rows.size) + 1;
  parallel_for(0, rows.positions(), grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r)
      visit(r / rows.inner * rows.size * rows.inner + r % rows.inner);
  });
}

template <class T>
void scan_rows(ScanKind kind, const Rows& rows, const T* in, T* out) {
  for_each_row(rows, [&](std::int64_t first) {
    auto total = static_cast<Accumulator<T>>(in[first]);
    out[first] = in[first];
    const std::int64_t end = first + rows.size * rows.inner;
    for (std::int64_t i = first + rows.inner; i < end; i += rows.inner) {
      total = combine(kind, total, static_cast<Accumulator<T>>(in[i]));
      out[i] = static_cast<T>(total);
    }
  });
}

}  // namespace

}  // namespace eg::cpu

namespace eg::kernel {

void Scan::compute_on_cpu() const {
  if (rows.numel() == 0) return;
  const auto scan = [&]<class T>() { cpu::scan_rows(kind, rows, x.as<T>(), y.as<T>()); };
  if (x.dtype() == DType::kInt64) return scan.operator()<std::int64_t>();
  visit_floating(x.dtype(), name, scan);
}

void Recurrence::compute_on_cpu() const {
  if (rows.numel() == 0) return;
  visit_floating(x.dtype(), name, [&]<class T>() {
    const T* terms = x.as<T>();
    const T* factors = factor.as<T>();
    T* results = y.as<T>();
    cpu::for_each_row(rows, [&](std::int64_t first) {
      double previous = terms[first];
      results[first] = terms[first];
      const std::int64_t end = first + rows.size * rows.inner;
      for (std::int64_t i = first + rows.inner; i < end; i += rows.inner) {
        previous = terms[i] + factors[i] * previous;
        results[i] = static_cast<T>(previous);
      }
    });
  });
}

}  // namespace eg::kernel
