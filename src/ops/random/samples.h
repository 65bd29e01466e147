#pragma once

// Random tensors with separate parameters for each element, among them the samples from which the
// package's distributions are built. After manual_seed(n) they are the same as PyTorch's.

#include "dispatch/function_op.h"
#include "ops/random/random.h"

namespace eg {

struct Multinomial {
  static constexpr op::Doc doc{
      "multinomial",
      "Indices drawn at random from each row of input, whose elements are their weights."};
  static constexpr std::array args{Arg{"input"}, Arg{"num_samples"}, Arg{"replacement", "false"}};
  static constexpr bool takes_generator = true;
  static constexpr std::array<std::string_view, 2> samples{"T([2, 4], 0.1, 1), 3",
                                                           "T([4], 0.1, 1), 5, true"};
  static Tensor call(const Tensor& input, std::int64_t num_samples, bool replacement = false);
};

struct Poisson : NoGradient<Poisson> {
  static constexpr op::Doc doc{"poisson", "Poisson samples with the rates in input."};
  static constexpr std::array args{Arg{"input"}};
  static constexpr bool takes_generator = true;
  static constexpr std::array<std::string_view, 1> samples{"T([3], 1, 5)"};
  static Tensor call(const Tensor& input);
};

struct Binomial {
  static constexpr op::Doc doc{
      "binomial", "The number of successes in count random trials of probability prob."};
  static constexpr std::array args{Arg{"count"}, Arg{"prob"}};
  static constexpr bool takes_generator = true;
  static constexpr bool has_gradient_of_its_own = true;
  static constexpr std::array<std::string_view, 1> samples{"T([3], 4, 9), T([3], 0.1, 0.9)"};
  static Tensor call(const Tensor& count, const Tensor& prob);

  struct Attrs {};
  static GradList backward(const Backward<Binomial>& b);
};

/// Also normal(mean, std, size) of two numbers.
struct Normal {
  static constexpr op::Doc doc{
      "normal", "Normal random numbers, each with its own mean and standard deviation."};
  static constexpr Audience audience = Audience::kFactory;
  static constexpr std::array args{Arg{"mean"}, Arg{"std", "1"}, Arg{"size", "null"},
                                   Arg{"dtype", "null"}};
  static constexpr bool takes_generator = true;
  static constexpr bool has_gradient_of_its_own = true;
  static constexpr std::array<std::string_view, 3> samples{"T([3]), T([2, 1], 1, 2)", "T([3]), 2",
                                                           "1, 2, [3]"};
  static Tensor call(const Operand& mean, const Operand& std, const std::optional<Dims>& size = {},
                     std::optional<DType> dtype = {});

  struct Attrs {};
  static GradList backward(const Backward<Normal>& b);
};

struct Rrelu {
  static constexpr op::Doc doc{
      "rrelu", "Leaky ReLU whose slopes are random numbers in [lower, upper) in training."};
  static constexpr std::array args{Arg{"input"}, Arg{"lower", "0.125"},
                                   Arg{"upper", "0.3333333333333333"}, Arg{"training", "false"}};
  static constexpr std::array<std::string_view, 2> samples{"T([4])", "T([4]), 0.1, 0.4, true"};
  static Tensor call(const Tensor& input, double lower = 0.125, double upper = 1.0 / 3,
                     bool training = false);
};

struct StandardGamma {
  static constexpr op::Doc doc{"standard_gamma", "Gamma samples of scale 1 and shape alpha."};
  static constexpr Audience audience = Audience::kInternal;
  static constexpr std::array args{Arg{"alpha"}};
  static constexpr bool has_gradient_of_its_own = true;
  static constexpr std::array<std::string_view, 1> samples{"T([3], 0.5, 3)"};
  static Tensor call(const Tensor& alpha);

  struct Attrs {};
  static constexpr std::array<std::string_view, 2> saved_names{"self", "result"};
  static GradList backward(const Backward<StandardGamma>& b);
};

struct SampleDirichlet {
  static constexpr op::Doc doc{"sample_dirichlet",
                               "Dirichlet samples, a row for each row of concentrations alpha."};
  static constexpr Audience audience = Audience::kInternal;
  static constexpr std::array args{Arg{"alpha"}};
  static constexpr bool has_gradient_of_its_own = true;
  static constexpr std::array<std::string_view, 1> samples{"T([2, 3], 0.5, 3)"};
  static Tensor call(const Tensor& alpha);

  struct Attrs {};
  static constexpr std::array<std::string_view, 2> saved_names{"self", "result"};
  static GradList backward(const Backward<SampleDirichlet>& b);
};

struct GeometricInPlace : NoGradient<GeometricInPlace> {
  static constexpr op::Doc doc{
      "geometric_", "Sets the elements of input to the number of trials up to the first success."};
  static constexpr std::array args{Arg{"input"}, Arg{"p"}};
  static constexpr bool takes_generator = true;
  static constexpr std::array<std::string_view, 1> samples{"T([3]), 0.25"};
  static Tensor call(const Tensor& input, double p);
};

struct CauchyInPlace : NoGradient<CauchyInPlace> {
  static constexpr op::Doc doc{"cauchy_", "Sets the elements of input to Cauchy samples."};
  static constexpr std::array args{Arg{"input"}, Arg{"median", "0"}, Arg{"sigma", "1"}};
  static constexpr bool takes_generator = true;
  static constexpr std::array<std::string_view, 1> samples{"T([3])"};
  static Tensor call(const Tensor& input, double median = 0, double sigma = 1);
};

struct LogNormalInPlace : NoGradient<LogNormalInPlace> {
  static constexpr op::Doc doc{"log_normal_", "Sets the elements of input to log-normal samples."};
  static constexpr std::array args{Arg{"input"}, Arg{"mean", "1"}, Arg{"std", "2"}};
  static constexpr bool takes_generator = true;
  static constexpr std::array<std::string_view, 1> samples{"T([3])"};
  static Tensor call(const Tensor& input, double mean = 1, double std = 2);
};

using SampleOps = TypeList<Multinomial, Poisson, Binomial, Normal, Rrelu, StandardGamma,
                           SampleDirichlet, GeometricInPlace, CauchyInPlace, LogNormalInPlace>;

}  // namespace eg
