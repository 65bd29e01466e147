#include "backend/cpu/elementwise/strided.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "backend/cpu/vector/half_rows.h"
#include "kernels/copy.h"
#include "runtime/thread_pool.h"

namespace eg::cpu {
namespace {

// Rows shorter than this are not worth a call of memcpy.
constexpr std::int64_t kMinMemcpyElements = 8;

template <class To, class From>
To convert(From value) {
  if constexpr (std::is_same_v<To, bool>) {
    return value != From{0};
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    // What a C++ cast leaves undefined gets x86's answer, which is what PyTorch's users see.
    if constexpr (sizeof(To) < sizeof(std::int64_t)) {
      return static_cast<To>(convert<std::int64_t>(value));
    } else {
      constexpr auto kLimit = static_cast<From>(9223372036854775808.0);
      const bool fits = value >= -kLimit && value < kLimit;
      return fits ? static_cast<To>(value) : std::numeric_limits<To>::min();
    }
  } else {
    return static_cast<To>(value);
  }
}

template <class To, class From>
void convert_row(void* to, std::int64_t to_step, const void* from, std::int64_t from_step,
                 std::int64_t count) {
  auto* out = static_cast<To*>(to);
  const auto* in = static_cast<const From*>(from);
  if constexpr (std::is_same_v<To, From>) {
    if (to_step == 1 && from_step == 1 && count >= kMinMemcpyElements) {
      std::memcpy(out, in, static_cast<std::size_t>(count) * sizeof(To));
      return;
    }
  }
  for (std::int64_t i = 0; i < count; ++i) out[i * to_step] = convert<To>(in[i * from_step]);
}

void* at(void* data, DType dtype, std::int64_t element) {
  return static_cast<char*>(data) + element * static_cast<std::int64_t>(item_size(dtype));
}
const void* at(const void* data, DType dtype, std::int64_t element) {
  return static_cast<const char*>(data) + element * static_cast<std::int64_t>(item_size(dtype));
}

using RowFunction = void (*)(void*, std::int64_t, const void*, std::int64_t, std::int64_t);

RowFunction row_function(DType to, DType from) {
  return visit_dtype(to, [&]<class To>() {
    return visit_dtype(from, [&]<class From>() -> RowFunction { return convert_row<To, From>; });
  });
}

// Rows to or from half precision, by way of float32.
void convert_halves(void* to, DType to_dtype, std::int64_t to_step, const void* from,
                    DType from_dtype, std::int64_t from_step, std::int64_t count) {
  constexpr std::int64_t kTile = 256;
  std::array<std::uint16_t, kTile> halves{};
  std::array<float, kTile> floats{};
  for (std::int64_t done = 0; done < count; done += kTile) {
    const std::int64_t some = std::min(count - done, kTile);
    const void* const source = at(from, from_dtype, done * from_step);
    void* const target = at(to, to_dtype, done * to_step);
    if (is_half(from_dtype)) {
      convert_row<std::uint16_t, std::uint16_t>(halves.data(), 1, source, from_step, some);
      widen_halves(from_dtype, halves.data(), floats.data(), some);
    } else {
      row_function(DType::kFloat32, from_dtype)(floats.data(), 1, source, from_step, some);
    }
    if (is_half(to_dtype)) {
      narrow_halves(to_dtype, floats.data(), halves.data(), some);
      convert_row<std::uint16_t, std::uint16_t>(target, to_step, halves.data(), 1, some);
    } else {
      row_function(to_dtype, DType::kFloat32)(target, to_step, floats.data(), 1, some);
    }
  }
}

// Converts rows of real elements.
class PartConversion {
 public:
  PartConversion(DType to, DType from) : to_(to), from_(from) {
    if (to == from && is_half(to))
      convert_ = convert_row<std::uint16_t, std::uint16_t>;
    else if (!is_half(to) && !is_half(from))
      convert_ = row_function(to, from);
  }

  void operator()(void* to, std::int64_t to_step, const void* from, std::int64_t from_step,
                  std::int64_t count) const {
    if (convert_ != nullptr)
      convert_(to, to_step, from, from_step, count);
    else
      convert_halves(to, to_, to_step, from, from_, from_step, count);
  }

 private:
  DType to_;
  DType from_;
  RowFunction convert_ = nullptr;
};

// Converts rows of elements from one dtype to another. A complex number is two real ones side by
// side: what there is to convert are parts, one or two steps apart.
class RowConversion {
 public:
  RowConversion(DType to, DType from)
      : to_(to), from_(from), convert_parts_(real_dtype(to), real_dtype(from)) {}

  void operator()(void* to, std::int64_t to_step, const void* from, std::int64_t from_step,
                  std::int64_t count) const {
    if (!is_complex(to_) && !is_complex(from_)) {
      convert_parts_(to, to_step, from, from_step, count);
    } else if (is_complex(to_) && is_complex(from_)) {
      if (to_step == 1 && from_step == 1) return convert_parts_(to, 1, from, 1, 2 * count);
      convert_parts_(to, 2 * to_step, from, 2 * from_step, count);
      convert_parts_(second_part(to, to_), 2 * to_step, second_part(from, from_), 2 * from_step,
                     count);
    } else if (is_complex(to_)) {
      constexpr double kZero = 0;
      convert_parts_(to, 2 * to_step, from, from_step, count);
      PartConversion(real_dtype(to_), DType::kFloat64)(second_part(to, to_), 2 * to_step, &kZero, 0,
                                                       count);
    } else {
      convert_parts_(to, to_step, from, 2 * from_step, count);
      if (to_ == DType::kBool) join_truth(static_cast<bool*>(to), to_step, from, from_step, count);
    }
  }

 private:
  static void* second_part(void* data, DType dtype) {
    return static_cast<char*>(data) + item_size(dtype) / 2;
  }
  static const void* second_part(const void* data, DType dtype) {
    return static_cast<const char*>(data) + item_size(dtype) / 2;
  }
  // A number with an imaginary part alone is not zero either.
  void join_truth(bool* to, std::int64_t to_step, const void* from, std::int64_t from_step,
                  std::int64_t count) const {
    for (std::int64_t i = 0; i < count; ++i) {
      bool has_imaginary = false;
      const auto* part = static_cast<const char*>(second_part(from, from_)) +
                         i * from_step * static_cast<std::int64_t>(item_size(from_));
      convert_parts_(&has_imaginary, 1, part, 1, 1);
      to[i * to_step] |= has_imaginary;
    }
  }

  DType to_;
  DType from_;
  PartConversion convert_parts_;
};

// Calls visit(element offset of the row in `operand`, packed offset, row length) for the rows, or
// parts of rows, that make up elements [begin, begin + count).
template <class Visit>
void for_each_row(const Loop& loop, const Operand& operand, std::int64_t begin, std::int64_t count,
                  Visit&& visit) {
  const std::size_t inner = loop.sizes.size() - 1;
  Dims index(loop.sizes.size());
  std::int64_t rest = begin;
  std::int64_t offset = 0;
  for (std::size_t d = inner + 1; d-- > 0;) {
    index[d] = rest % loop.sizes[d];
    rest /= loop.sizes[d];
    offset += index[d] * operand.strides[d];
  }
  for (std::int64_t done = 0; done < count;) {
    const std::int64_t row = std::min(loop.sizes[inner] - index[inner], count - done);
    visit(offset, done, row);
    done += row;
    offset -= index[inner] * operand.strides[inner];
    index[inner] = 0;
    for (std::size_t d = inner; d-- > 0;) {
      offset += operand.strides[d];
      if (++index[d] < loop.sizes[d]) break;
      offset -= loop.sizes[d] * operand.strides[d];
      index[d] = 0;
    }
  }
}

}  // namespace

Loop make_loop(const Shape& shape, std::span<Operand> operands) {
  if (shape.size() == 1) return {shape, operands};
  SmallVector<std::size_t, 6> order;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] != 1) order.push_back(d);
  }
  // Stable insertion by the step sizes of the first operand that tells two dimensions apart.
  const auto is_inner = [&](std::size_t a, std::size_t b) {
    for (const Operand& operand : operands) {
      const std::int64_t step_a = std::abs(operand.strides[a]);
      const std::int64_t step_b = std::abs(operand.strides[b]);
      if (step_a == 0 || step_b == 0) continue;
      if (step_a != step_b) return step_a < step_b;
    }
    return false;
  };
  for (std::size_t i = 1; i < order.size(); ++i) {
    for (std::size_t j = i; j > 0 && is_inner(order[j - 1], order[j]); --j) {
      std::swap(order[j - 1], order[j]);
    }
  }

  Loop loop{{}, operands};
  SmallVector<std::size_t, 6> firsts;  // the innermost source dimension of each merged one
  for (const std::size_t d : order) {
    const bool merges =
        !firsts.empty() && std::all_of(operands.begin(), operands.end(), [&](const Operand& o) {
          return o.strides[firsts.back()] == o.strides[d] * shape[d];
        });
    if (merges) {
      loop.sizes.back() *= shape[d];
      firsts.back() = d;
    } else {
      loop.sizes.push_back(shape[d]);
      firsts.push_back(d);
    }
  }
  for (Operand& operand : operands) {
    Strides strides;
    for (const std::size_t d : firsts) strides.push_back(operand.strides[d]);
    if (strides.empty()) strides.push_back(1);
    operand.strides = std::move(strides);
  }
  if (loop.sizes.empty()) loop.sizes.push_back(1);
  return loop;
}

void convert_elements(void* to, DType to_dtype, std::int64_t to_step, const void* from,
                      DType from_dtype, std::int64_t from_step, std::int64_t count) {
  RowConversion(to_dtype, from_dtype)(to, to_step, from, from_step, count);
}

bool is_linear(const Loop& loop, const Operand& operand) {
  return loop.sizes.size() == 1 ? operand.strides[0] == 1
                                : operand.strides == contiguous_strides(loop.sizes);
}

bool is_constant(const Operand& operand) {
  return std::all_of(operand.strides.begin(), operand.strides.end(),
                     [](std::int64_t stride) { return stride == 0; });
}

void gather(const Loop& loop, const Operand& source, std::int64_t begin, std::int64_t count,
            void* packed, DType dtype) {
  const RowConversion convert_elements(dtype, source.memory.dtype);
  const std::int64_t step = source.strides[loop.sizes.size() - 1];
  for_each_row(
      loop, source, begin, count, [&](std::int64_t offset, std::int64_t done, std::int64_t row) {
        convert_elements(at(packed, dtype, done), 1,
                         at(source.memory.address(), source.memory.dtype, offset), step, row);
      });
}

void scatter(const Loop& loop, const Operand& destination, std::int64_t begin, std::int64_t count,
             const void* packed, DType dtype) {
  const RowConversion convert_elements(destination.memory.dtype, dtype);
  const std::int64_t step = destination.strides[loop.sizes.size() - 1];
  for_each_row(loop, destination, begin, count,
               [&](std::int64_t offset, std::int64_t done, std::int64_t row) {
                 convert_elements(
                     at(destination.memory.address(), destination.memory.dtype, offset), step,
                     at(packed, dtype, done), 1, row);
               });
}

}  // namespace eg::cpu

namespace eg::kernel {

void Fill::compute_on_cpu() const {
  if (is_half(y.dtype())) {
    const auto element = value.to<float>();
    cpu::convert_elements(y.bytes(), y.dtype(), 1, &element, DType::kFloat32, 0, count);
    return;
  }
  visit_any_dtype(y.dtype(), [&]<class T>() {
    T* data = y.as<T>();
    const T element = value.to<T>();
    parallel_for(0, count, kMinElementsPerTask, [&](std::int64_t begin, std::int64_t end) {
      std::fill(data + begin, data + end, element);
    });
  });
}

void Copy::compute_on_cpu() const {
  if (numel(shape) == 0) return;
  std::array<Operand, 2> operands{Operand{to.view(), to_strides},
                                  Operand{from.view(), from_strides}};
  const cpu::Loop loop = cpu::make_loop(shape, operands);
  const cpu::RowConversion convert_elements(to.dtype(), from.dtype());
  const std::size_t inner = loop.sizes.size() - 1;
  const std::int64_t rows = loop.numel() / loop.sizes[inner];
  const auto copy_row = [&](std::int64_t row, std::int64_t begin, std::int64_t end) {
    std::int64_t to_place = begin * operands[0].strides[inner];
    std::int64_t from_place = begin * operands[1].strides[inner];
    for (std::size_t d = inner; d-- > 0;) {
      const std::int64_t index = row % loop.sizes[d];
      row /= loop.sizes[d];
      to_place += index * operands[0].strides[d];
      from_place += index * operands[1].strides[d];
    }
    convert_elements(cpu::at(to.bytes(), to.dtype(), to_place), operands[0].strides[inner],
                     cpu::at(from.bytes(), from.dtype(), from_place), operands[1].strides[inner],
                     end - begin);
  };
  if (rows == 1) {
    parallel_for(0, loop.sizes[inner], kMinElementsPerTask,
                 [&](std::int64_t begin, std::int64_t end) { copy_row(0, begin, end); });
    return;
  }
  const std::int64_t rows_per_task =
      std::max<std::int64_t>(1, kMinElementsPerTask / loop.sizes[inner]);
  parallel_for(0, rows, rows_per_task, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) copy_row(row, 0, loop.sizes[inner]);
  });
}

}  // namespace eg::kernel
