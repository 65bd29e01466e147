#pragma once

// Softmax, its logarithm, and softmax of the negative input.

#include "dispatch/function_op.h"

namespace eg {

struct Softmax {
  static constexpr op::Doc doc{"softmax", "exp(input) divided by its sum along dim."};
  static constexpr std::array args{Arg{"input"}, Arg{"dim"}, Arg{"dtype", "null"}};
  static constexpr std::array<std::string_view, 4> samples{"T([3, 4]), 1", "T([2, 3, 5]), 1",
                                                           "T([3, 4]), -2", "T([]), 0"};
  static Tensor call(const Tensor& input, std::int64_t dim, std::optional<DType> dtype = {});

  struct Attrs {
    std::int64_t dim;
  };
  static constexpr std::array<std::string_view, 1> saved_names{"result"};
  static GradList backward(const Backward<Softmax>& b);
};

struct LogSoftmax {
  static constexpr op::Doc doc{"log_softmax",
                               "Logarithm of softmax, exact where softmax is almost zero."};
  static constexpr std::array args = Softmax::args;
  static constexpr std::array samples = Softmax::samples;
  static Tensor call(const Tensor& input, std::int64_t dim, std::optional<DType> dtype = {});

  using Attrs = Softmax::Attrs;
  static constexpr std::array<std::string_view, 1> saved_names{"result"};
  static GradList backward(const Backward<LogSoftmax>& b);
};

struct Softmin {
  static constexpr op::Doc doc{"softmin", "softmax of the negative input."};
  static constexpr std::array args = Softmax::args;
  static constexpr std::array samples = Softmax::samples;
  static Tensor call(const Tensor& input, std::int64_t dim, std::optional<DType> dtype = {});
};

using SoftmaxOps = TypeList<Softmax, LogSoftmax, Softmin>;

}  // namespace eg
