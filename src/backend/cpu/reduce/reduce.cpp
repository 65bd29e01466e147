// Speed depends on which dimension is innermost in memory. If it is reduced, each result is the
// fold of packed rows. If it is kept, adjacent results are folded in parallel, a tile of columns at
// a time. Everything else, and every other dtype, is first gathered into a tile. Large reductions
// to few results are divided into chunks; their number depends on the shape, never on the number of
// threads, so results are reproducible bit for bit.

#include "kernels/reduce.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "backend/cpu/reduce/fold.h"
#include "backend/cpu/reduce/runs.h"
#include "base/checked_int.h"
#include "base/error.h"
#include "runtime/thread_pool.h"

namespace eg::cpu {
namespace {

using kernel::Fold;
using kernel::In;
using kernel::Reduction;

// Columns folded in parallel: their totals stay in the L1 cache.
constexpr std::int64_t kTileColumns = 256;
constexpr std::int64_t kGatherBytes = 4096;
// The maximum number of tasks that a reduction is divided into.
constexpr std::int64_t kMaxTasks = 32;

template <class T>
struct FoldKernels {
  Total<T> neutral;
  void (*row)(const T*, std::int64_t, T, Total<T>&);
  void (*columns)(const T*, std::int64_t, std::int64_t, std::int64_t, const T*, Total<T>*);
  Total<T> (*combine)(Total<T>, Total<T>);
};

template <class F, class T>
constexpr FoldKernels<T> kernels_of() {
  return {F::template neutral<Total<T>>(), fold_row<F, T>, fold_columns<F, T>,
          [](Total<T> a, Total<T> b) { return F::combine(a, b); }};
}

template <class T>
FoldKernels<T> find_kernels(Fold kind) {
  switch (kind) {
    case Fold::kSum:
      return kernels_of<fold::Sum, T>();
    case Fold::kProd:
      return kernels_of<fold::Prod, T>();
    case Fold::kMax:
      return kernels_of<fold::Max, T>();
    case Fold::kMin:
      return kernels_of<fold::Min, T>();
    case Fold::kCountNonzero:
      return kernels_of<fold::CountNonzero, T>();
    default:
      break;
  }
  if constexpr (std::is_floating_point_v<T>) {
    switch (kind) {
      case Fold::kSumAbs:
        return kernels_of<fold::SumAbs, T>();
      case Fold::kSumSquares:
        return kernels_of<fold::SumSquares, T>();
      case Fold::kSumCenteredSquares:
        return kernels_of<fold::SumCenteredSquares, T>();
      case Fold::kSumExp:
        return kernels_of<fold::SumExp, T>();
      case Fold::kMaxAbs:
        return kernels_of<fold::MaxAbs, T>();
      case Fold::kMinAbs:
        return kernels_of<fold::MinAbs, T>();
      default:
        break;
    }
  }
  fail(ErrorCode::kInternal,
       "this reduction has no kernel. This is a bug in edgegrad, please report it.");
}

template <class T>
class Reducer {
 public:
  Reducer(const kernel::Reduce& call, Loop kept, Loop reduced)
      : reduction_(call.reduction),
        in_(call.x),
        kept_(std::move(kept)),
        reduced_(std::move(reduced)),
        out_(call.y.as<T>()),
        shifts_(call.shifts.as<T>()),
        kernels_(find_kernels<T>(call.reduction.fold)) {
    const bool same_dtype = in_.dtype() == dtype_of<T>();
    packed_rows_ = same_dtype && reduced_.operands[0].strides.back() == 1;
    columns_ = same_dtype && !packed_rows_ && kept_.sizes.back() > 1 &&
               kept_.operands[0].strides.back() == 1 && kept_.operands[1].strides.back() == 1;
    width_ = columns_ ? kept_.sizes.back() : 1;
    tile_ = std::min(width_, kTileColumns);
    tiles_ = (width_ + tile_ - 1) / tile_;
  }

  void run() {
    const std::int64_t count = reduced_.numel();
    const std::int64_t groups = kept_.numel() / width_ * tiles_;
    const std::int64_t chunk = chunk_size(count, groups);
    const std::int64_t chunks = std::max<std::int64_t>(1, (count + chunk - 1) / chunk);
    const std::int64_t work = std::max<std::int64_t>(1, std::min(chunk, count) * tile_);
    const std::int64_t grain = std::max<std::int64_t>(1, kMinElementsPerTask / work);
    std::vector<Total<T>> partial(checked_count(chunks > 1 ? chunks * groups * tile_ : 0));
    parallel_for(0, groups * chunks, grain, [&](std::int64_t begin, std::int64_t end) {
      std::array<Total<T>, kTileColumns> totals;
      for (std::int64_t task = begin; task < end; ++task) {
        const Group group = find_group(task / chunks);
        std::fill_n(totals.begin(), group.width, kernels_.neutral);
        const std::int64_t first = task % chunks * chunk;
        fold(group, first, std::min(chunk, count - first), totals.data());
        if (chunks == 1)
          finish(group, totals.data());
        else
          std::copy_n(totals.begin(), group.width, partial.data() + task * tile_);
      }
    });
    if (chunks == 1) return;
    for (std::int64_t g = 0; g < groups; ++g) {
      const Group group = find_group(g);
      Total<T>* totals = partial.data() + g * chunks * tile_;
      for (std::int64_t c = 1; c < chunks; ++c) {
        for (std::int64_t i = 0; i < group.width; ++i) {
          totals[i] = kernels_.combine(totals[i], totals[c * tile_ + i]);
        }
      }
      finish(group, totals);
    }
  }

 private:
  /// Adjacent results that are folded together.
  struct Group {
    std::int64_t in;   // offset of the first element
    std::int64_t out;  // offset of the first result
    std::int64_t width;
  };

  // Returns the elements per chunk of the reduced dimensions; depends on the shape alone.
  std::int64_t chunk_size(std::int64_t count, std::int64_t groups) const {
    const std::int64_t tasks = std::min(kMaxTasks, count * groups * tile_ / kMinElementsPerTask);
    if (tasks <= groups) return std::max<std::int64_t>(count, 1);
    const std::int64_t chunks = tasks / groups;
    const std::int64_t unit = columns_ ? kFoldRows : kFoldBlock;
    return ((count + chunks - 1) / chunks + unit - 1) / unit * unit;
  }

  Group find_group(std::int64_t index) const {
    const std::size_t dims = kept_.sizes.size() - (columns_ ? 1 : 0);
    const std::int64_t column = index % tiles_ * tile_;
    index /= tiles_;
    return {offset_at(kept_, kept_.operands[1], index, dims) + column,
            offset_at(kept_, kept_.operands[0], index, dims) + column,
            std::min(tile_, width_ - column)};
  }

  void fold(const Group& group, std::int64_t first, std::int64_t count, Total<T>* totals) const {
    const T* shifts = shifts_ == nullptr ? nullptr : shifts_ + group.out;
    const Operand& source = reduced_.operands[0];
    if (columns_) {
      for_each_run(reduced_, source, first, count, [&](std::int64_t offset, std::int64_t length) {
        kernels_.columns(data() + group.in + offset, source.strides.back(), length, group.width,
                         shifts, totals);
      });
      return;
    }
    const T shift = shifts == nullptr ? T{0} : *shifts;
    if (packed_rows_) {
      for_each_run(reduced_, source, first, count, [&](std::int64_t offset, std::int64_t length) {
        kernels_.row(data() + group.in + offset, length, shift, *totals);
      });
      return;
    }
    constexpr std::int64_t kTileElements = kGatherBytes / sizeof(T);
    alignas(64) std::array<T, kTileElements> tile;
    Operand shifted = source;
    shifted.memory.offset += group.in * static_cast<std::int64_t>(item_size(in_.dtype()));
    for (std::int64_t done = 0; done < count; done += kTileElements) {
      const std::int64_t part = std::min(kTileElements, count - done);
      gather(reduced_, shifted, first + done, part, tile.data(), dtype_of<T>());
      kernels_.row(tile.data(), part, shift, *totals);
    }
  }

  void finish(const Group& group, const Total<T>* totals) const {
    for (std::int64_t i = 0; i < group.width; ++i) {
      Total<T> value = totals[i];
      if constexpr (std::is_floating_point_v<T>) {
        value /= reduction_.divisor;
        if (reduction_.root) value = std::sqrt(value);
      }
      out_[group.out + i] = static_cast<T>(value);
    }
  }

  const T* data() const { return in_.as<T>(); }

  const Reduction& reduction_;
  In in_;
  Loop kept_;     // operands: results, elements
  Loop reduced_;  // operand: elements
  T* out_;
  const T* shifts_;
  FoldKernels<T> kernels_;
  bool packed_rows_;
  bool columns_;
  std::int64_t width_;  // adjacent results in memory
  std::int64_t tile_;
  std::int64_t tiles_;
};

}  // namespace
}  // namespace eg::cpu

namespace eg::kernel {

void Reduce::compute_on_cpu() const {
  const cpu::SplitShape split = cpu::split_shape(shape, dims, x_strides);
  if (numel(split.kept) == 0) return;
  std::array<Operand, 2> kept{Operand{y.view(), contiguous_strides(split.kept)},
                              Operand{x.view(), split.kept_strides}};
  std::array<Operand, 1> reduced{Operand{x.view(), split.reduced_strides}};
  const cpu::Loop kept_loop = cpu::make_loop(split.kept, kept);
  const cpu::Loop reduced_loop = cpu::make_loop(split.reduced, reduced);
  visit_dtype(reduction.compute, [&]<class T>() {
    if constexpr (std::is_floating_point_v<T> || std::is_same_v<T, std::int64_t>)
      cpu::Reducer<T>(*this, kept_loop, reduced_loop).run();
    else
      fail(ErrorCode::kDtypeMismatch, "reductions do not support ", reduction.compute, '.');
  });
}

}  // namespace eg::kernel
