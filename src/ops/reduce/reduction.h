#pragma once

// Sums, products and logical reductions, of all elements or along dimensions.

#include "dispatch/function_op.h"
#include "ops/reduce/minmax.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/statistics.h"

namespace eg {

struct Sum {
  static constexpr op::Doc doc{"sum", "Sum of all elements or along dim; int64 for integers."};
  static constexpr bool takes_sparse = true;
  static constexpr std::array args{Arg{"input"}, Arg{"dim", "null"}, Arg{"keepdim", "false"},
                                   Arg{"dtype", "null"}};
  static constexpr std::array<std::string_view, 5> samples{"T([2, 3, 4])", "T([2, 3, 4]), 1",
                                                           "T([2, 3, 4]), [0, -1], true",
                                                           "T([3]), -1, true", "T([])"};
  static Tensor call(const Tensor& input, const std::optional<Dims>& dim = {}, bool keepdim = false,
                     std::optional<DType> dtype = {});

  struct Attrs {
    Shape input_shape;
    ReducedDims reduced;
  };
  static GradList backward(const Backward<Sum>& b);
};

struct Mean {
  static constexpr op::Doc doc{"mean", "Mean of all elements or along dim."};
  static constexpr std::array args = Sum::args;
  static constexpr std::array samples = Sum::samples;
  static Tensor call(const Tensor& input, const std::optional<Dims>& dim = {}, bool keepdim = false,
                     std::optional<DType> dtype = {});

  using Attrs = Sum::Attrs;
  static GradList backward(const Backward<Mean>& b);
};

struct Prod {
  static constexpr op::Doc doc{"prod", "Product of all elements or along dim; int64 for integers."};
  static constexpr std::array args = Sum::args;
  static constexpr std::array<std::string_view, 5> samples{
      "T([2, 3])", "T([2, 3, 4]), 1", "T([2, 3]), -1, true", "T([5], 0.5, 2)", "T([])"};
  static Tensor call(const Tensor& input, std::optional<std::int64_t> dim = {},
                     bool keepdim = false, std::optional<DType> dtype = {});

  struct Attrs {
    ReducedDims reduced;
  };
  static constexpr std::array<std::string_view, 2> saved_names{"self", "result"};
  static GradList backward(const Backward<Prod>& b);
};

struct Any {
  static constexpr op::Doc doc{"any", "Whether any element is nonzero, of all or along dim."};
  static constexpr std::array args{Arg{"input"}, Arg{"dim", "null"}, Arg{"keepdim", "false"}};
  static constexpr std::array<std::string_view, 3> samples{"B([2, 3])", "B([2, 3]), 1",
                                                           "B([2, 3]), 0, true"};
  static Tensor call(const Tensor& input, const std::optional<Dims>& dim = {},
                     bool keepdim = false);
};

struct All {
  static constexpr op::Doc doc{"all", "Whether every element is nonzero, of all or along dim."};
  static constexpr std::array args = Any::args;
  static constexpr std::array samples = Any::samples;
  static Tensor call(const Tensor& input, const std::optional<Dims>& dim = {},
                     bool keepdim = false);
};

/// Sums over broadcast dimensions, so that the result has exactly `shape`.
Tensor sum_to_shape(const Tensor& t, const Shape& shape);

using ReductionOps = Concat<TypeList<Sum, Mean, Prod, Any, All>, MinmaxOps, StatisticsOps>;

}  // namespace eg
