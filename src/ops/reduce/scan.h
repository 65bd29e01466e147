#pragma once

// Running sums, products and logarithms of sums along a dimension.
//
// The gradient of each is a sum over the results from an element on. For products and logarithms it
// is computed as a recurrence from the end, s[i] = g[i] + f[i + 1] s[i + 1], in one pass and
// without division, so that zeros and all orders of derivatives are correct.

#include "dispatch/function_op.h"

namespace eg {

/// The dimension of a scan; not negative.
struct ScanAttrs {
  std::int64_t dim;
};

struct Cumsum {
  static constexpr op::Doc doc{"cumsum", "Running sums along dim."};
  static constexpr std::array args{Arg{"input"}, Arg{"dim"}, Arg{"dtype", "null"}};
  static constexpr std::array<std::string_view, 4> samples{"T([4]), 0", "T([2, 3, 2]), 1",
                                                           "T([2, 3]), -1", "T([]), 0"};
  static constexpr bool in_place = true;
  static Tensor call(const Tensor& input, std::int64_t dim, std::optional<DType> dtype = {});

  using Attrs = ScanAttrs;
  static GradList backward(const Backward<Cumsum>& b);
};

struct Cumprod {
  static constexpr op::Doc doc{"cumprod", "Running products along dim."};
  static constexpr std::array args = Cumsum::args;
  static constexpr std::array samples = Cumsum::samples;
  static constexpr bool in_place = true;
  static Tensor call(const Tensor& input, std::int64_t dim, std::optional<DType> dtype = {});

  using Attrs = ScanAttrs;
  static constexpr std::array<std::string_view, 2> saved_names{"self", "result"};
  static GradList backward(const Backward<Cumprod>& b);
};

struct Logcumsumexp {
  static constexpr op::Doc doc{"logcumsumexp",
                               "Logarithms of running sums of exp(input) along dim."};
  static constexpr std::array args{Arg{"input"}, Arg{"dim"}};
  static constexpr std::array samples = Cumsum::samples;
  static Tensor call(const Tensor& input, std::int64_t dim);

  using Attrs = ScanAttrs;
  static constexpr std::array<std::string_view, 2> saved_names{"self", "result"};
  static GradList backward(const Backward<Logcumsumexp>& b);
};

struct Diff {
  static constexpr op::Doc doc{
      "diff",
      "Differences of neighbors along dim, taken n times; prepend and append are joined to input "
      "first."};
  static constexpr std::array args{Arg{"input"}, Arg{"n", "1"}, Arg{"dim", "-1"},
                                   Arg{"prepend", "null"}, Arg{"append", "null"}};
  static constexpr std::array<std::string_view, 4> samples{
      "T([5])", "T([4, 3]), 2, 0", "T([2, 3]), 1, -1, T([2, 1]), T([2, 2])", "T([3]), 5"};
  static Tensor call(const Tensor& input, std::int64_t n = 1, std::int64_t dim = -1,
                     const std::optional<Tensor>& prepend = {},
                     const std::optional<Tensor>& append = {});
};

using ScanOps = TypeList<Cumsum, Cumprod, Logcumsumexp, Diff>;

}  // namespace eg
