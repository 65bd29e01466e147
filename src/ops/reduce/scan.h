#pragma once

// Running sums, products and logarithms of sums along a dimension.
//
// The gradient of each is a sum over the results that follow an element. Those of products and
// logarithms are taken as a recurrence from the end, s[i] = g[i] + f[i + 1] s[i + 1], which needs
// no division: zeros, and every order of derivative, come out right in one pass.

#include "dispatch/function_op.h"

namespace eg {

/// The dimension of a scan, from the front.
struct ScanAttrs {
  std::int64_t dim;
};

struct Cumsum {
  static constexpr op::Doc doc{"cumsum", "Sums of the elements up to each, along dim."};
  static constexpr std::array args{Arg{"input"}, Arg{"dim"}, Arg{"dtype", "null"}};
  static constexpr std::array<std::string_view, 4> samples{"T([4]), 0", "T([2, 3, 2]), 1",
                                                           "T([2, 3]), -1", "T([]), 0"};
  static constexpr bool in_place = true;
  static Tensor call(const Tensor& input, std::int64_t dim, std::optional<DType> dtype = {});

  using Attrs = ScanAttrs;
  static GradList backward(const Backward<Cumsum>& b);
};

struct Cumprod {
  static constexpr op::Doc doc{"cumprod", "Products of the elements up to each, along dim."};
  static constexpr std::array args = Cumsum::args;
  static constexpr std::array samples = Cumsum::samples;
  static constexpr bool in_place = true;
  static Tensor call(const Tensor& input, std::int64_t dim, std::optional<DType> dtype = {});

  using Attrs = ScanAttrs;
  static constexpr std::array<std::string_view, 2> saved_names{"self", "result"};
  static GradList backward(const Backward<Cumprod>& b);
};

struct Logcumsumexp {
  static constexpr op::Doc doc{
      "logcumsumexp", "Logarithms of the sums of exponentials up to each element, along dim."};
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
      "Differences of neighbours along dim, taken n times, of input and what is put "
      "before and after it."};
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
