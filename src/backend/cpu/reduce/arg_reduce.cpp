#include <algorithm>
#include <array>

#include "backend/cpu/reduce/fold.h"
#include "backend/cpu/reduce/runs.h"
#include "kernels/reduce.h"
#include "runtime/thread_pool.h"

namespace eg::cpu {
namespace {

using kernel::In;

constexpr std::int64_t kTileColumns = 128;

template <class F, class T>
bool beats(T a, T b) {
  return F::combine(a, b) == a ? a != b : a != a && b == b;
}

// The functions in which max and min differ.
template <class T>
struct Search {
  Total<T> (*extreme)(const T*, std::int64_t, T);
  bool (*beats)(T, T);
  void (*columns)(const T*, std::int64_t, std::int64_t, std::int64_t, T*, std::int64_t*);
};

// Searches a row: the extreme of a block is found with packs, and its index only when it is a new
// best.
template <class T>
class RowSearch {
 public:
  explicit RowSearch(const Search<T>& search) : search_(search) {}

  void add(const T* x, std::int64_t count) {
    const T extreme = static_cast<T>(search_.extreme(x, count, T{0}));
    if (seen_ == 0 || search_.beats(extreme, best_)) {
      best_ = extreme;
      std::int64_t i = 0;
      while (x[i] != extreme && !(x[i] != x[i])) ++i;
      index_ = seen_ + i;
    }
    seen_ += count;
  }
  T best() const { return best_; }
  std::int64_t index() const { return index_; }

 private:
  const Search<T>& search_;
  T best_{};
  std::int64_t index_ = 0;
  std::int64_t seen_ = 0;
};

template <class F, class T>
void search_columns(const T* x, std::int64_t step, std::int64_t rows, std::int64_t width, T* best,
                    std::int64_t* index) {
  std::copy_n(x, width, best);
  std::fill_n(index, width, 0);
  for (std::int64_t r = 1; r < rows; ++r) {
    const T* row = x + r * step;
    for (std::int64_t c = 0; c < width; ++c) {
      const bool is_better = beats<F>(row[c], best[c]);
      best[c] = is_better ? row[c] : best[c];
      index[c] = is_better ? r : index[c];
    }
  }
}

template <class F, class T>
constexpr Search<T> kSearch{fold_block<F, T>, beats<F, T>, search_columns<F, T>};

template <class T>
void search_rows(const Search<T>& search, const Loop& kept, const Loop& reduced, const In& in,
                 T* values, std::int64_t* indices) {
  const std::int64_t count = reduced.sizes[0];
  const std::int64_t step = reduced.operands[0].strides[0];
  const T* data = in.as<T>();
  const bool columns = in.dtype() == dtype_of<T>() && step != 1 && kept.sizes.back() > 1 &&
                       kept.operands[0].strides.back() == 1 && kept.operands[1].strides.back() == 1;
  const std::int64_t width = columns ? kept.sizes.back() : 1;
  const std::int64_t tile = std::min(width, kTileColumns);
  const std::int64_t tiles = (width + tile - 1) / tile;
  const std::size_t outer_dims = kept.sizes.size() - (columns ? 1 : 0);

  const auto visit = [&](std::int64_t group) {
    const std::int64_t column = group % tiles * tile;
    const std::int64_t from = offset_at(kept, kept.operands[1], group / tiles, outer_dims) + column;
    const std::int64_t to = offset_at(kept, kept.operands[0], group / tiles, outer_dims) + column;
    if (columns) {
      search.columns(data + from, step, count, std::min(tile, width - column), values + to,
                     indices + to);
      return;
    }
    RowSearch<T> row(search);
    std::array<T, kFoldBlock> packed;
    Operand source = reduced.operands[0];
    source.memory.offset += from * static_cast<std::int64_t>(item_size(in.dtype()));
    for (std::int64_t done = 0; done < count; done += kFoldBlock) {
      const std::int64_t block = std::min(kFoldBlock, count - done);
      if (in.dtype() == dtype_of<T>() && step == 1) {
        row.add(data + from + done, block);
      } else {
        gather(reduced, source, done, block, packed.data(), dtype_of<T>());
        row.add(packed.data(), block);
      }
    }
    values[to] = row.best();
    indices[to] = row.index();
  };
  const std::int64_t work = std::max<std::int64_t>(1, count * tile);
  parallel_for(0, kept.numel() / width * tiles,
               std::max<std::int64_t>(1, kMinElementsPerTask / work),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t group = begin; group < end; ++group) visit(group);
               });
}

}  // namespace
}  // namespace eg::cpu

namespace eg::kernel {

void ArgReduce::compute_on_cpu() const {
  const cpu::SplitShape split = cpu::split_shape(shape, {dim}, x_strides);
  if (numel(shape) == 0) return;
  std::array<Operand, 2> kept{Operand{indices.view(), contiguous_strides(split.kept)},
                              Operand{x.view(), split.kept_strides}};
  std::array<Operand, 1> reduced{Operand{x.view(), split.reduced_strides}};
  const cpu::Loop kept_loop = cpu::make_loop(split.kept, kept);
  const cpu::Loop reduced_loop = cpu::make_loop(split.reduced, reduced);
  visit_dtype(x.dtype(), [&]<class T>() {
    // Narrow integers are searched as int64, in which their order is the same.
    using Compute = std::conditional_t<std::is_floating_point_v<T>, T, std::int64_t>;
    cpu::search_rows(
        largest ? cpu::kSearch<cpu::fold::Max, Compute> : cpu::kSearch<cpu::fold::Min, Compute>,
        kept_loop, reduced_loop, x, values.as<Compute>(), indices.as<std::int64_t>());
  });
}

}  // namespace eg::kernel
