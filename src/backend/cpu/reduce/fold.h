#pragma once

// Folds many numbers into one: the inner loops of all reductions.
//
// A fold is a neutral element, a `map` applied to each element and an associative `combine`,
// written in the vocabulary of formulas, so that it runs on packs and on single numbers. Elements
// are folded in blocks: within a block in the element type, over several packs at once; the results
// of blocks are combined in `Total`, which is double for floats. A float32 sum of any length is
// thus as accurate as a short one, at the speed of plain float32 additions, and the order of
// operations depends on the shape alone.

#include <cstdint>
#include <limits>

#include "backend/cpu/vector/pack.h"

namespace eg::cpu {

/// The type in which the results of blocks are combined.
template <class T>
using Total = std::conditional_t<std::is_floating_point_v<T>, double, T>;

namespace fold {

// The combining operations of folds, on packs and on single numbers: NaN takes precedence, integers
// wrap around.
template <class T>
T plus(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  } else {
    return a + b;
  }
}
template <class T>
T times(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  } else {
    return a * b;
  }
}
template <class T>
T larger(T a, T b) {
  return a > b || a != a ? a : b;
}
template <class T>
T smaller(T a, T b) {
  return a < b || a != a ? a : b;
}
template <class T>
Pack<T> larger(Pack<T> a, Pack<T> b) {
  return maximum(a, b);
}
template <class T>
Pack<T> smaller(Pack<T> a, Pack<T> b) {
  return minimum(a, b);
}

template <class T>
inline constexpr T kLargest =
    std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity()
                                         : std::numeric_limits<T>::max();
template <class T>
inline constexpr T kSmallest =
    std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                         : std::numeric_limits<T>::lowest();

// `padding` is an element that does not change the result; `shift` is a parameter given for each
// result.

struct Sum {
  template <class T>
  static T neutral() {
    return 0;
  }
  template <class T>
  static T padding(T) {
    return 0;
  }
  static auto map(auto x, auto) { return x; }
  static auto combine(auto a, auto b) { return plus(a, b); }
};

struct Prod {
  template <class T>
  static T neutral() {
    return 1;
  }
  template <class T>
  static T padding(T) {
    return 1;
  }
  static auto map(auto x, auto) { return x; }
  static auto combine(auto a, auto b) { return times(a, b); }
};

struct Max {
  template <class T>
  static T neutral() {
    return kSmallest<T>;
  }
  template <class T>
  static T padding(T) {
    return kSmallest<T>;
  }
  static auto map(auto x, auto) { return x; }
  static auto combine(auto a, auto b) { return larger(a, b); }
};

struct Min {
  template <class T>
  static T neutral() {
    return kLargest<T>;
  }
  template <class T>
  static T padding(T) {
    return kLargest<T>;
  }
  static auto map(auto x, auto) { return x; }
  static auto combine(auto a, auto b) { return smaller(a, b); }
};

struct SumAbs : Sum {
  static auto map(auto x, auto) { return abs(x); }
};

struct SumSquares : Sum {
  static auto map(auto x, auto) { return x * x; }
};

struct CountNonzero : Sum {
  static auto map(auto x, auto) { return where(x != 0, decltype(x)(1), decltype(x)(0)); }
};

/// Squares of distances to `shift`: a variance around a known mean.
struct SumCenteredSquares : Sum {
  template <class T>
  static T padding(T shift) {
    return shift;
  }
  static auto map(auto x, auto shift) { return (x - shift) * (x - shift); }
};

/// exp(x - shift): a sum of exponentials that cannot overflow when shift is the largest x.
struct SumExp : Sum {
  template <class T>
  static T padding(T) {
    return kSmallest<T>;
  }
  static auto map(auto x, auto shift) { return exp(x - shift); }
};

struct MaxAbs : Max {
  template <class T>
  static T padding(T) {
    return 0;
  }
  static auto map(auto x, auto) { return abs(x); }
};

struct MinAbs : Min {
  static auto map(auto x, auto) { return abs(x); }
};

}  // namespace fold

/// Elements that are folded before their result is added to the total.
inline constexpr std::int64_t kFoldBlock = 512;
/// The same for columns, where each row adds one element.
inline constexpr std::int64_t kFoldRows = 64;
/// Packs folded in parallel, to hide the latency of an addition.
inline constexpr int kFoldPacks = 4;

/// Reads a partial pack.
template <class T>
Pack<T> load_partial(const T* from, std::int64_t count, T padding) {
  Pack<T> pack;
  for (int i = 0; i < kLanes<T>; ++i) pack.v[i] = i < count ? from[i] : padding;
  return pack;
}

template <class T>
void store_partial(Pack<T> pack, T* to, std::int64_t count) {
  for (int i = 0; i < kLanes<T>; ++i) {
    if (i < count) to[i] = pack.v[i];
  }
}

/// Folds up to kFoldBlock packed elements.
template <class F, class T>
Total<T> fold_block(const T* x, std::int64_t count, T shift = {}) {
  constexpr int kStep = kLanes<T>;
  const Pack<T> shifts(splat(shift));
  Pack<T> result(splat(F::template neutral<T>()));
  std::int64_t i = 0;
  if (count >= kFoldPacks * kStep) {
    Pack<T> partial[kFoldPacks];
    for (Pack<T>& p : partial) p = result;
    for (; i + kFoldPacks * kStep <= count; i += kFoldPacks * kStep) {
      for (int j = 0; j < kFoldPacks; ++j) {
        partial[j] = F::combine(partial[j], F::map(Pack<T>::load(x + i + j * kStep), shifts));
      }
    }
    result = F::combine(F::combine(partial[0], partial[1]), F::combine(partial[2], partial[3]));
  }
  for (; i + kStep <= count; i += kStep)
    result = F::combine(result, F::map(Pack<T>::load(x + i), shifts));
  if (i < count) {
    const Pack<T> rest = load_partial(x + i, count - i, F::template padding<T>(shift));
    result = F::combine(result, F::map(rest, shifts));
  }
  Total<T> total = result.v[0];
  for (int lane = 1; lane < kStep; ++lane) {
    total = F::combine(total, static_cast<Total<T>>(result.v[lane]));
  }
  return total;
}

/// Folds `count` packed elements into `total`.
template <class F, class T>
void fold_row(const T* x, std::int64_t count, T shift, Total<T>& total) {
  for (; count > kFoldBlock; count -= kFoldBlock, x += kFoldBlock) {
    total = F::combine(total, fold_block<F>(x, kFoldBlock, shift));
  }
  total = F::combine(total, fold_block<F>(x, count, shift));
}

/// Folds `width` columns in parallel: totals[c] accumulates x[r * row_step + c] for every row r.
template <class F, class T>
void fold_columns(const T* x, std::int64_t row_step, std::int64_t rows, std::int64_t width,
                  const T* shifts, Total<T>* totals) {
  constexpr int kStep = kLanes<T>;
  const auto add = [&](Pack<T> partial, std::int64_t column, std::int64_t lanes) {
    for (int i = 0; i < lanes; ++i) {
      totals[column + i] = F::combine(totals[column + i], static_cast<Total<T>>(partial.v[i]));
    }
  };
  for (; rows > 0; rows -= kFoldRows, x += kFoldRows * row_step) {
    const std::int64_t block = rows < kFoldRows ? rows : kFoldRows;
    std::int64_t c = 0;
    for (; c + kFoldPacks * kStep <= width; c += kFoldPacks * kStep) {
      Pack<T> partial[kFoldPacks];
      Pack<T> shift[kFoldPacks];
      for (int j = 0; j < kFoldPacks; ++j) {
        partial[j] = Pack<T>(splat(F::template neutral<T>()));
        shift[j] = shifts == nullptr ? Pack<T>(0) : Pack<T>::load(shifts + c + j * kStep);
      }
      const T* row = x + c;
      for (std::int64_t r = 0; r < block; ++r, row += row_step) {
        for (int j = 0; j < kFoldPacks; ++j) {
          partial[j] = F::combine(partial[j], F::map(Pack<T>::load(row + j * kStep), shift[j]));
        }
      }
      for (int j = 0; j < kFoldPacks; ++j) add(partial[j], c + j * kStep, kStep);
    }
    for (; c < width; c += kStep) {
      const std::int64_t lanes = width - c < kStep ? width - c : kStep;
      const Pack<T> shift = shifts == nullptr ? Pack<T>(0) : load_partial(shifts + c, lanes, T{0});
      Pack<T> partial(splat(F::template neutral<T>()));
      const T* row = x + c;
      for (std::int64_t r = 0; r < block; ++r, row += row_step) {
        const Pack<T> element =
            lanes == kStep ? Pack<T>::load(row) : load_partial(row, lanes, T{0});
        partial = F::combine(partial, F::map(element, shift));
      }
      add(partial, c, lanes);
    }
  }
}

}  // namespace eg::cpu
