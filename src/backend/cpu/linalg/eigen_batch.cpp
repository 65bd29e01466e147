#include "backend/cpu/linalg/eigen_batch.h"

#include <algorithm>
#include <vector>

#include "base/checked_int.h"
#include "runtime/thread_pool.h"

namespace eg::cpu {
namespace {

template <class T>
using RowMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

}  // namespace

Matrix load(const MatrixBatch& a, std::int64_t index) {
  return visit_floating(a.dtype, "linalg", [&]<class T>() -> Matrix {
    const T* first = static_cast<const T*>(a.data) + index * a.rows * a.columns;
    return Eigen::Map<const RowMajor<T>>(first, cpu::index(a.rows), cpu::index(a.columns))
        .template cast<double>();
  });
}

void store(DType dtype, void* data, std::int64_t index, const Matrix& value) {
  if (data == nullptr) return;
  visit_floating(dtype, "linalg", [&]<class T>() {
    T* first = static_cast<T*>(data) + index * value.size();
    Eigen::Map<RowMajor<T>>(first, value.rows(), value.cols()) = value.template cast<T>();
  });
}

void store(DType dtype, void* data, std::int64_t index, double value) {
  store(dtype, data, index, Matrix::Constant(1, 1, value));
}

Breakdown for_each_matrix(std::int64_t count, std::int64_t work,
                          const std::function<std::int64_t(std::int64_t)>& factorize) {
  std::vector<std::int64_t> bad(checked_count(count));
  const std::int64_t grain = kMinElementsPerTask / std::max(std::int64_t{1}, work) + 1;
  parallel_for(0, count, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) bad[static_cast<std::size_t>(i)] = factorize(i);
  });
  const auto first = std::find_if(bad.begin(), bad.end(), [](std::int64_t o) { return o != 0; });
  return first == bad.end() ? Breakdown{} : Breakdown{first - bad.begin(), *first};
}

}  // namespace eg::cpu
