#include "backend/cpu/reduce/scan.h"

#include <algorithm>
#include <cmath>

#include "runtime/thread_pool.h"

namespace eg::cpu {
namespace {

template <class T>
using Accumulator = std::conditional_t<std::is_floating_point_v<T>, double, std::uint64_t>;

// Integers wrap around.
template <class A>
A combine(Scan kind, A a, A b) {
  if (kind == Scan::kSum) return a + b;
  if (kind == Scan::kProd) return a * b;
  if constexpr (std::is_floating_point_v<A>) {
    const A high = a != a || a > b ? a : b;
    const A low = a != a || a > b ? b : a;
    // Equal infinities have no difference.
    return high == low && std::isinf(high) ? high : high + std::log1p(std::exp(low - high));
  } else {
    return a;
  }
}

// Calls visit(first element) for every row.
template <class Visit>
void for_each_row(const Rows& rows, Visit&& visit) {
  const std::int64_t grain = kMinElementsPerTask / std::max<std::int64_t>(1, rows.size) + 1;
  parallel_for(0, rows.outer * rows.inner, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r)
      visit(r / rows.inner * rows.size * rows.inner + r % rows.inner);
  });
}

template <class T>
void scan_rows(Scan kind, const Rows& rows, const T* in, T* out) {
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

void scan(Scan kind, const Rows& rows, const void* in, void* out) {
  if (rows.outer * rows.size * rows.inner == 0) return;
  if (rows.dtype == DType::kInt64) {
    scan_rows(kind, rows, static_cast<const std::int64_t*>(in), static_cast<std::int64_t*>(out));
    return;
  }
  visit_floating(rows.dtype, "scan", [&]<class T>() {
    scan_rows(kind, rows, static_cast<const T*>(in), static_cast<T*>(out));
  });
}

void recurrence(const Rows& rows, const void* in, const void* factor, void* out) {
  if (rows.outer * rows.size * rows.inner == 0) return;
  visit_floating(rows.dtype, "scan", [&]<class T>() {
    const T* terms = static_cast<const T*>(in);
    const T* factors = static_cast<const T*>(factor);
    T* results = static_cast<T*>(out);
    for_each_row(rows, [&](std::int64_t first) {
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

}  // namespace eg::cpu
