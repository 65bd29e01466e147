// Products of two sparse matrices, row by row (Gustavson's algorithm). Every element is a sum in
// the order of the left row's values, so that results never depend on the number of threads.

#include <algorithm>
#include <vector>

#include "backend/cpu/matrix/sparse_matrix.h"

namespace eg::cpu {
namespace {

// Rows of the product that make a task: each task has memory for a whole row.
std::int64_t rows_per_task(const Csr& left, const Csr& right) {
  const std::int64_t nnz_of_row = right.starts[right.rows] / std::max<std::int64_t>(1, right.rows);
  return std::max(left.rows_per_task(nnz_of_row), items_per_task(1) * right.columns / (1 << 16));
}

void count(const kernel::SparseProductCounts& call) {
  const Csr left(call.left);
  const Csr right(call.right);
  auto* const counts = call.counts.as<std::int64_t>();
  parallel_for(0, left.rows, rows_per_task(left, right), [&](std::int64_t begin, std::int64_t end) {
    // The last row that had an element in each column.
    std::vector<std::int64_t> last(static_cast<std::size_t>(right.columns), -1);
    for (std::int64_t row = begin; row < end; ++row) {
      std::int64_t found = 0;
      for (std::int64_t k = left.starts[row]; k < left.starts[row + 1]; ++k) {
        const std::int64_t inner = left.column[k];
        for (std::int64_t j = right.starts[inner]; j < right.starts[inner + 1]; ++j) {
          auto& seen = last[static_cast<std::size_t>(right.column[j])];
          found += seen == row ? 0 : 1;
          seen = row;
        }
      }
      counts[row] = found;
    }
  });
}

// The columns of one row of the product and, at each of them, its sum.
template <class T>
struct Row {
  explicit Row(std::int64_t columns)
      : sums(static_cast<std::size_t>(columns)), has(static_cast<std::size_t>(columns)) {}

  void add(std::int64_t column, T value, std::int64_t* columns) {
    const auto at = static_cast<std::size_t>(column);
    if (has[at] != 0) {
      sums[at] += value;
    } else {
      has[at] = 1;
      sums[at] = value;
      columns[count++] = column;
    }
  }

  /// Writes the row in the order of its columns, and forgets it.
  void write(std::int64_t* columns, T* values) {
    constexpr std::int64_t kSortCost = 8;
    const auto width = static_cast<std::int64_t>(has.size());
    if (count * kSortCost < width) {
      std::sort(columns, columns + count);
    } else {
      for (std::int64_t c = 0, at = 0; c < width; ++c)
        if (has[static_cast<std::size_t>(c)] != 0) columns[at++] = c;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      const auto at = static_cast<std::size_t>(columns[i]);
      values[i] = sums[at];
      has[at] = 0;
    }
    count = 0;
  }

  std::vector<T> sums;
  std::vector<std::uint8_t> has;
  std::int64_t count = 0;
};

template <class T>
void multiply_sparse(const kernel::SparseProduct& call) {
  const Csr left(call.left);
  const Csr right(call.right);
  const T* const left_values = call.left_values.as<T>();
  const T* const right_values = call.right_values.as<T>();
  const auto* const starts = call.row_starts.as<std::int64_t>();
  auto* const columns = call.column_indices.as<std::int64_t>();
  T* const values = call.values.as<T>();
  parallel_for(0, left.rows, rows_per_task(left, right), [&](std::int64_t begin, std::int64_t end) {
    Row<T> sums(right.columns);
    for (std::int64_t row = begin; row < end; ++row) {
      std::int64_t* const own = columns + starts[row];
      for (std::int64_t k = left.starts[row]; k < left.starts[row + 1]; ++k) {
        const std::int64_t inner = left.column[k];
        for (std::int64_t j = right.starts[inner]; j < right.starts[inner + 1]; ++j)
          sums.add(right.column[j], left_values[k] * right_values[j], own);
      }
      sums.write(own, values + starts[row]);
    }
  });
}

// Calls `visit(row, dense)` for each row, where `dense` has the gradient of that row of the product
// at its columns. Other columns of it have no meaning, and no value is multiplied with them.
template <class T, class Visit>
void for_each_row_of_gradient(const Csr& product, const T* grad, std::int64_t begin,
                              std::int64_t end, Visit&& visit) {
  std::vector<T> dense(static_cast<std::size_t>(product.columns));
  for (std::int64_t row = begin; row < end; ++row) {
    for (std::int64_t k = product.starts[row]; k < product.starts[row + 1]; ++k)
      dense[static_cast<std::size_t>(product.column[k])] = grad[k];
    visit(row, dense.data());
  }
}

template <class T>
void left_gradient(const kernel::SparseProductGradients& call, T* out) {
  const Csr left(call.left);
  const Csr right(call.right);
  const Csr product(call.product);
  const T* const values = call.right_values.as<T>();
  const auto row_of_left = [&](std::int64_t row, const T* dense) {
    for (std::int64_t k = left.starts[row]; k < left.starts[row + 1]; ++k) {
      const std::int64_t inner = left.column[k];
      T sum{};
      for (std::int64_t j = right.starts[inner]; j < right.starts[inner + 1]; ++j)
        sum += values[j] * dense[right.column[j]];
      out[k] = sum;
    }
  };
  parallel_for(0, left.rows, rows_per_task(left, right), [&](std::int64_t begin, std::int64_t end) {
    for_each_row_of_gradient(product, call.grad.as<T>(), begin, end, row_of_left);
  });
}

// On one thread, because each row of the product adds to many rows of the right factor.
template <class T>
void right_gradient(const kernel::SparseProductGradients& call, T* out) {
  const Csr left(call.left);
  const Csr right(call.right);
  const T* const values = call.left_values.as<T>();
  for_each_row_of_gradient(
      Csr(call.product), call.grad.as<T>(), 0, left.rows, [&](std::int64_t row, const T* dense) {
        for (std::int64_t k = left.starts[row]; k < left.starts[row + 1]; ++k) {
          const std::int64_t inner = left.column[k];
          for (std::int64_t j = right.starts[inner]; j < right.starts[inner + 1]; ++j)
            out[j] += values[k] * dense[right.column[j]];
        }
      });
}

}  // namespace
}  // namespace eg::cpu

namespace eg::kernel {

void SparseProductCounts::compute_on_cpu() const { cpu::count(*this); }

void SparseProduct::compute_on_cpu() const {
  cpu::visit_fractional(values.dtype(), [&]<class T>() { cpu::multiply_sparse<T>(*this); });
}

void SparseProductGradients::compute_on_cpu() const {
  cpu::visit_fractional(grad.dtype(), [&]<class T>() {
    if (left_grad) cpu::left_gradient<T>(*this, left_grad.as<T>());
    if (right_grad) cpu::right_gradient<T>(*this, right_grad.as<T>());
  });
}

}  // namespace eg::kernel
