// Maps tensor layouts to gemm. Sequences of equally spaced matrices go to gemm as one batch, or, if
// they all share the same right operand, as one tall product. float and double use the packed
// kernels of gemm/, other types a plain loop.

#include "kernels/matmul.h"

#include <algorithm>
#include <array>
#include <complex>
#include <type_traits>

#include "backend/cpu/elementwise/strided.h"
#include "backend/cpu/matrix/gemm/gemm.h"
#include "runtime/thread_pool.h"

namespace eg::cpu {
namespace {

using kernel::MatrixProduct;

// Minimum number of multiplications per task, so that the work outweighs waking a thread.
constexpr std::int64_t kMinWorkPerTask = 256 * 1024;

template <class T>
struct Batch {
  std::int64_t count;
  const T* a;
  std::int64_t stride_a;
  const T* b;
  std::int64_t stride_b;
  T* c;
  std::int64_t stride_c;
};

// Integers are multiplied as unsigned ones, because they wrap around.
template <class T>
struct Factor {
  using type = std::make_unsigned_t<T>;
};
template <class T>
struct Factor<std::complex<T>> {
  using type = std::complex<T>;
};

// For the types that gemm has no kernels for.
template <class T>
void multiply_row(const MatrixProduct& p, const T* a, const T* b, T* c) {
  using Wrapping = typename Factor<T>::type;
  const auto alpha = static_cast<Wrapping>(p.alpha.to<T>());
  const auto beta = static_cast<Wrapping>(p.beta.to<T>());
  for (std::int64_t j = 0; j < p.sizes.n; ++j) {
    c[j] = beta == Wrapping{0}
               ? T{0}
               : static_cast<T>(static_cast<Wrapping>(beta * static_cast<Wrapping>(c[j])));
  }
  for (std::int64_t q = 0; q < p.sizes.k; ++q) {
    const auto factor =
        static_cast<Wrapping>(alpha * static_cast<Wrapping>(a[q * p.a_layout.column_stride]));
    const T* const row = b + q * p.b_layout.row_stride;
    for (std::int64_t j = 0; j < p.sizes.n; ++j) {
      const auto term = static_cast<Wrapping>(row[j * p.b_layout.column_stride]);
      c[j] = static_cast<T>(static_cast<Wrapping>(static_cast<Wrapping>(c[j]) + factor * term));
    }
  }
}

template <class T>
void multiply_batch(const MatrixProduct& p, const Batch<T>& batch) {
  const std::int64_t m = p.sizes.m;
  const std::int64_t n = p.sizes.n;
  const std::int64_t k = p.sizes.k;
  if constexpr (std::is_floating_point_v<T>) {
    gemm::batched_gemm<T>(
        batch.count, m, n, k, p.alpha.to<T>(),
        {batch.a, p.a_layout.row_stride, p.a_layout.column_stride}, batch.stride_a,
        {batch.b, p.b_layout.row_stride, p.b_layout.column_stride}, batch.stride_b, p.beta.to<T>(),
        batch.c, batch.stride_c, p.c_layout.row_stride, p.bias.as<T>());
  } else if constexpr (!std::is_same_v<T, bool>) {
    const std::int64_t work = std::max<std::int64_t>(1, n * k);
    parallel_for(0, batch.count * m, (kMinWorkPerTask + work - 1) / work,
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t row = begin; row < end; ++row) {
                     const std::int64_t i = row / m;
                     const std::int64_t r = row % m;
                     multiply_row(p, batch.a + i * batch.stride_a + r * p.a_layout.row_stride,
                                  batch.b + i * batch.stride_b,
                                  batch.c + i * batch.stride_c + r * p.c_layout.row_stride);
                   }
                 });
  }
}

// Merges the batch dimensions into as few as possible and passes the innermost one to gemm.
template <class T>
void multiply_batches(const MatrixProduct& p) {
  // Only the strides matter here.
  std::array<Operand, 3> operands{Operand{{}, p.c_layout.batch_strides},
                                  Operand{{}, p.a_layout.batch_strides},
                                  Operand{{}, p.b_layout.batch_strides}};
  const Loop loop = make_loop(p.sizes.batch, operands);
  const std::size_t inner = loop.sizes.size() - 1;
  const std::int64_t count = loop.sizes[inner];
  const std::int64_t runs = loop.numel() / count;
  const auto multiply_runs = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t run = begin; run < end; ++run) {
      std::array<std::int64_t, 3> offset{};
      std::int64_t rest = run;
      for (std::size_t d = inner; d-- > 0;) {
        const std::int64_t index = rest % loop.sizes[d];
        rest /= loop.sizes[d];
        for (std::size_t o = 0; o < 3; ++o) offset[o] += index * operands[o].strides[d];
      }
      multiply_batch<T>(
          p, {count, p.a.as<T>() + offset[1], operands[1].strides[inner], p.b.as<T>() + offset[2],
              operands[2].strides[inner], p.c.as<T>() + offset[0], operands[0].strides[inner]});
    }
  };
  // With enough runs, each thread computes whole runs; otherwise each run is divided among threads
  // inside gemm.
  const std::int64_t work = std::max<std::int64_t>(1, count * p.sizes.m * p.sizes.n * p.sizes.k);
  const bool shares_runs = runs >= 2 * num_threads();
  parallel_for(0, runs, shares_runs ? (kMinWorkPerTask + work - 1) / work : runs, multiply_runs);
}

}  // namespace
}  // namespace eg::cpu

namespace eg::kernel {

void MatrixProduct::compute_on_cpu() const {
  if (sizes.m == 0 || sizes.n == 0 || numel(sizes.batch) == 0) return;
  visit_any_dtype(c.dtype(), [&]<class T>() {
    if (!sizes.batch.empty())
      cpu::multiply_batches<T>(*this);
    else
      cpu::multiply_batch<T>(*this, {1, a.as<T>(), 0, b.as<T>(), 0, c.as<T>(), 0});
  });
}

}  // namespace eg::kernel
