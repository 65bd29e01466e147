#include "kernels/distance.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "backend/cpu/vector/pack_math.h"
#include "backend/cpu/vector/vector_loop.h"
#include "runtime/thread_pool.h"

namespace eg::cpu {
namespace {

using Floats = Vec<float>;

constexpr std::int64_t kLanesOfFloat = kLanes<float>;
// The number of vectors of columns that are summed together; their rows are transposed into a
// panel.
constexpr std::int64_t kVectors = 4;
constexpr std::int64_t kColumns = kVectors * kLanesOfFloat;

struct Manhattan {
  static Floats add(Floats sum, Floats difference) { return sum + vec_abs(difference); }
  static Floats finish(Floats sum) { return sum; }
};

struct Euclidean {
  static Floats add(Floats sum, Floats difference) { return sum + difference * difference; }
  static Floats finish(Floats sum) { return vec_sqrt(sum); }
};

struct Chebyshev {
  static Floats add(Floats sum, Floats difference) { return vec_maximum(vec_abs(difference), sum); }
  static Floats finish(Floats sum) { return sum; }
};

template <class Norm>
std::array<Floats, kVectors> distances_of_row(const float* row, std::int64_t width,
                                              const float* panel) {
  std::array<Floats, kVectors> sums{};
  for (std::int64_t d = 0; d < width; ++d, panel += kColumns) {
    const Floats value = splat(row[d]);
#pragma GCC unroll 4
    for (std::int64_t v = 0; v < kVectors; ++v) {
      Floats& sum = sums[static_cast<std::size_t>(v)];
      sum = Norm::add(sum, value - WholeCursor<float>{v * kLanesOfFloat, {}}.load(panel));
    }
  }
  for (Floats& sum : sums) sum = Norm::finish(sum);
  return sums;
}

template <class Norm>
void distances_to_panel(const kernel::Distances& call, std::int64_t matrix, std::int64_t column,
                        std::vector<float>& panel) {
  const std::int64_t columns = std::min(call.columns - column, kColumns);
  const float* x2 = call.x2.as<float>() + (matrix * call.columns + column) * call.width;
  for (std::int64_t j = 0; j < columns; ++j) {
    for (std::int64_t d = 0; d < call.width; ++d)
      panel[static_cast<std::size_t>(d * kColumns + j)] = x2[j * call.width + d];
  }
  for (std::int64_t i = 0; i < call.rows; ++i) {
    const std::int64_t row = matrix * call.rows + i;
    const auto sums =
        distances_of_row<Norm>(call.x1.as<float>() + row * call.width, call.width, panel.data());
    std::memcpy(call.distances.as<float>() + row * call.columns + column, sums.data(),
                static_cast<std::size_t>(columns) * sizeof(float));
  }
}

// Adds the contribution of the difference of two rows to the gradient of the first row, for p = 1.
void add_signs(const float* a, const float* b, std::int64_t width, float grad, float* sum) {
  for_each_vector<float>(0, width, [&](auto at) {
    at.store(sum, at.load(sum) + vec_sign(at.load(a) - at.load(b)) * grad);
  });
}

// The same for p = infinity: all components with the largest difference share the gradient.
void add_ties(const float* a, const float* b, std::int64_t width, float distance, float grad,
              float* sum) {
  const auto where_tied = [&](Floats difference, Floats value) {
    const auto is_tied = (vec_abs(difference) == distance) | (difference != difference);
    return is_tied ? value : Floats{};
  };
  Floats counts{};
  for_each_vector<float>(0, width, [&](auto at) {
    counts += at.valid(where_tied(at.load(a) - at.load(b), splat(1.0F)));
  });
  const float share = grad / (counts[0] + counts[1] + counts[2] + counts[3]);
  for_each_vector<float>(0, width, [&](auto at) {
    const Floats difference = at.load(a) - at.load(b);
    at.store(sum, at.load(sum) + where_tied(difference, vec_sign(difference) * share));
  });
}

void gradient_of_row(const kernel::DistancesBackward& call, std::int64_t row) {
  const std::int64_t matrix = row / call.rows;
  const std::int64_t first = matrix * call.rows * call.columns + row % call.rows * call.row_step;
  const float* a = call.x1.as<float>() + row * call.width;
  const float* b = call.x2.as<float>() + matrix * call.columns * call.width;
  float* sum = call.grad_x1.as<float>() + row * call.width;
  std::fill_n(sum, call.width, 0.0F);
  for (std::int64_t j = 0; j < call.columns; ++j, b += call.width) {
    const std::int64_t offset = first + j * call.column_step;
    const float grad = call.grad.as<float>()[offset];
    if (call.p == 1)
      add_signs(a, b, call.width, grad, sum);
    else
      add_ties(a, b, call.width, call.distances.as<float>()[offset], grad, sum);
  }
}

}  // namespace
}  // namespace eg::cpu

namespace eg::kernel {

void Distances::compute_on_cpu() const {
  const std::int64_t panels = (columns + cpu::kColumns - 1) / cpu::kColumns;
  const std::int64_t grain =
      std::max<std::int64_t>(1, kMinElementsPerTask / (rows * width * cpu::kColumns));
  const auto to_panel = p == 1   ? cpu::distances_to_panel<cpu::Manhattan>
                        : p == 2 ? cpu::distances_to_panel<cpu::Euclidean>
                                 : cpu::distances_to_panel<cpu::Chebyshev>;
  parallel_for(0, batch * panels, grain, [&](std::int64_t begin, std::int64_t end) {
    std::vector<float> panel(static_cast<std::size_t>(width * cpu::kColumns));
    for (std::int64_t i = begin; i < end; ++i)
      to_panel(*this, i / panels, i % panels * cpu::kColumns, panel);
  });
}

void DistancesBackward::compute_on_cpu() const {
  const std::int64_t grain =
      std::max<std::int64_t>(1, kMinElementsPerTask / std::max<std::int64_t>(1, columns * width));
  parallel_for(0, batch * rows, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) cpu::gradient_of_row(*this, row);
  });
}

}  // namespace eg::kernel
