#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <vector>

#include "backend/cpu/linalg/elimination.h"
#include "base/checked_int.h"
#include "base/dtype.h"
#include "kernels/linalg.h"

namespace eg::cpu {

/// Writes a breakdown to those outputs that the caller asked for. By default, reports that there
/// was none.
void report(const kernel::Breakdown& breakdown, std::int64_t matrix = -1, std::int64_t order = 0);

/// Runs `factorize(index)` for all matrices of a batch and reports the first breakdown. `factorize`
/// returns the order at which it broke down, or 0. `work` is the approximate number of operations
/// per matrix.
void for_each_matrix(std::int64_t count, std::int64_t work, const kernel::Breakdown& breakdown,
                     const std::function<std::int64_t(std::int64_t)>& factorize);

/// Calls `visit` with the type that matrices of a dtype are computed in.
template <class Visit>
void visit_matrices(DType dtype, Visit&& visit) {
  if (is_complex(dtype)) return visit.template operator()<Complex>();
  visit_floating(dtype, "linalg", visit);
}

/// Matrix `i` of a batch, `count` numbers that are computed in T: in place, or complex64 as a copy.
template <class T>
class MatrixToRead {
 public:
  MatrixToRead(const kernel::In& batch, std::int64_t i, std::int64_t count) {
    if (batch.dtype() != DType::kComplex64) {
      data_ = batch.as<T>() + i * count;
      return;
    }
    if constexpr (std::is_same_v<T, Complex>) {
      const auto* const from = batch.as<std::complex<float>>() + i * count;
      copy_.assign(from, from + count);
      data_ = copy_.data();
    }
  }
  MatrixToRead(const MatrixToRead&) = delete;
  MatrixToRead& operator=(const MatrixToRead&) = delete;

  const T* data() const { return data_; }

 private:
  const T* data_ = nullptr;
  std::vector<T> copy_;
};

/// The same for a result; a copy is written back when it goes out of scope.
template <class T>
class MatrixToWrite {
 public:
  MatrixToWrite(const kernel::Out& batch, std::int64_t i, std::int64_t count) {
    if (batch.dtype() != DType::kComplex64) {
      data_ = batch.as<T>() + i * count;
      return;
    }
    narrow_ = batch.as<std::complex<float>>() + i * count;
    copy_.resize(checked_count(count));
    data_ = copy_.data();
  }
  MatrixToWrite(const MatrixToWrite&) = delete;
  MatrixToWrite& operator=(const MatrixToWrite&) = delete;
  ~MatrixToWrite() {
    if constexpr (std::is_same_v<T, Complex>)
      std::ranges::transform(copy_, narrow_, [](Complex z) { return std::complex<float>(z); });
  }

  T* data() const { return data_; }

 private:
  T* data_ = nullptr;
  std::complex<float>* narrow_ = nullptr;
  std::vector<T> copy_;
};

}  // namespace eg::cpu
