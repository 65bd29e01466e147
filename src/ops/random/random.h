#pragma once

// Random tensors, and in-place ops that fill tensors with random numbers, drawn from the default
// generator. After manual_seed(n) the numbers are the same as PyTorch's (runtime/random.h).

#include "dispatch/factories.h"
#include "dispatch/function_op.h"

namespace eg {

struct Rand {
  static constexpr op::Doc doc{"rand", "Uniform random numbers in [0, 1)."};
  static constexpr Audience audience = Audience::kFactory;
  static constexpr std::array args{Arg{"size"}, Arg{"dtype", "null"}};
  static constexpr bool takes_generator = true;
  static constexpr std::array<std::string_view, 1> samples{"[2, 3]"};
  static Tensor call(const Dims& size, std::optional<DType> dtype = {});
};

struct Randn {
  static constexpr op::Doc doc{"randn",
                               "Normal random numbers of mean 0 and standard deviation 1."};
  static constexpr Audience audience = Audience::kFactory;
  static constexpr std::array args{Arg{"size"}, Arg{"dtype", "null"}};
  static constexpr bool takes_generator = true;
  static constexpr std::array<std::string_view, 1> samples{"[2, 3]"};
  static Tensor call(const Dims& size, std::optional<DType> dtype = {});
};

/// Also randint(high, size).
struct Randint {
  static constexpr op::Doc doc{"randint",
                               "Random integers in [low, high); randint(high, size) begins at 0."};
  static constexpr Audience audience = Audience::kFactory;
  static constexpr std::array args{Arg{"low"}, Arg{"high"}, Arg{"size", "null"},
                                   Arg{"dtype", "null"}};
  static constexpr bool takes_generator = true;
  static constexpr std::array<std::string_view, 2> samples{"5, [3]", "1, 5, [3]"};
  static Tensor call(std::int64_t low, const Dims& high, const std::optional<Dims>& size = {},
                     std::optional<DType> dtype = {});
};

struct Randperm {
  static constexpr op::Doc doc{"randperm", "The integers below n in random order."};
  static constexpr Audience audience = Audience::kFactory;
  static constexpr std::array args{Arg{"n"}, Arg{"dtype", "null"}};
  static constexpr bool takes_generator = true;
  static constexpr std::array<std::string_view, 1> samples{"5"};
  static Tensor call(std::int64_t n, std::optional<DType> dtype = {});
};

struct RandLike {
  static constexpr op::Doc doc{"rand_like",
                               "Uniform random numbers in [0, 1) in the shape of input."};
  static constexpr Audience audience = Audience::kFactory;
  static constexpr std::array args{Arg{"input"}, Arg{"dtype", "null"}};
  static constexpr bool takes_generator = true;
  static constexpr std::array<std::string_view, 1> samples{"T([3])"};
  static Tensor call(const Tensor& input, std::optional<DType> dtype = {});
};

struct RandnLike {
  static constexpr op::Doc doc{"randn_like", "Normal random numbers in the shape of input."};
  static constexpr Audience audience = Audience::kFactory;
  static constexpr std::array args{Arg{"input"}, Arg{"dtype", "null"}};
  static constexpr bool takes_generator = true;
  static constexpr std::array<std::string_view, 1> samples{"T([3])"};
  static Tensor call(const Tensor& input, std::optional<DType> dtype = {});
};

/// Base of ops whose results do not depend on the values of the input: the gradient is zero.
template <class Op>
struct NoGradient {
  struct Attrs {};
  static GradList backward(const Backward<Op>& b) { return {full_like(b.grad(), 0)}; }
};

struct UniformInPlace : NoGradient<UniformInPlace> {
  static constexpr op::Doc doc{
      "uniform_", "Sets the elements of input to uniform random numbers in [from, to)."};
  static constexpr std::array args{Arg{"input"}, Arg{"from", "0"}, Arg{"to", "1"}};
  static constexpr bool takes_generator = true;
  static constexpr std::array<std::string_view, 1> samples{"T([3])"};
  static Tensor call(const Tensor& input, double from = 0, double to = 1);
};

struct NormalInPlace : NoGradient<NormalInPlace> {
  static constexpr op::Doc doc{"normal_", "Sets the elements of input to normal random numbers."};
  static constexpr std::array args{Arg{"input"}, Arg{"mean", "0"}, Arg{"std", "1"}};
  static constexpr bool takes_generator = true;
  static constexpr std::array<std::string_view, 1> samples{"T([3])"};
  static Tensor call(const Tensor& input, double mean = 0, double std = 1);
};

/// Also random_(to).
struct RandomInPlace : NoGradient<RandomInPlace> {
  static constexpr op::Doc doc{
      "random_",
      "Sets the elements of input to random integers in [from, to), or in the range of its dtype."};
  static constexpr std::array args{Arg{"input"}, Arg{"from", "null"}, Arg{"to", "null"}};
  static constexpr bool takes_generator = true;
  static constexpr std::array<std::string_view, 1> samples{"T([3])"};
  static Tensor call(const Tensor& input, std::optional<Scalar> from = {},
                     std::optional<Scalar> to = {});
};

struct ExponentialInPlace : NoGradient<ExponentialInPlace> {
  static constexpr op::Doc doc{
      "exponential_",
      "Sets the elements of input to exponentially distributed numbers of rate lambd."};
  static constexpr std::array args{Arg{"input"}, Arg{"lambd", "1"}};
  static constexpr bool takes_generator = true;
  static constexpr std::array<std::string_view, 1> samples{"T([3])"};
  static Tensor call(const Tensor& input, double lambd = 1);
};

struct BernoulliInPlace : NoGradient<BernoulliInPlace> {
  static constexpr op::Doc doc{"bernoulli_",
                               "Sets the elements of input to 1 with probability p, else to 0."};
  static constexpr std::array args{Arg{"input"}, Arg{"p", "0.5"}};
  static constexpr bool takes_generator = true;
  static constexpr std::array<std::string_view, 1> samples{"T([3]), 0.25"};
  static Tensor call(const Tensor& input, double p = 0.5);
};

struct Bernoulli : NoGradient<Bernoulli> {
  static constexpr op::Doc doc{"bernoulli", "1 with the probability in input, else 0."};
  static constexpr std::array args{Arg{"input"}};
  static constexpr bool takes_generator = true;
  static constexpr std::array<std::string_view, 1> samples{"T([3], 0, 1)"};
  static Tensor call(const Tensor& input);
};

struct Dropout {
  static constexpr op::Doc doc{
      "dropout",
      "In training, zeroes elements with probability p and scales the others by 1 / (1 - p)."};
  static constexpr std::array args{Arg{"input"}, Arg{"p", "0.5"}, Arg{"training", "true"}};
  static constexpr std::array<std::string_view, 2> samples{"T([4]), 0.5", "T([4]), 0.5, false"};
  static Tensor call(const Tensor& input, double p = 0.5, bool training = true);

  struct Attrs {
    double keep;  ///< the probability that an element is kept
  };
  static constexpr std::array<std::string_view, 1> saved_names{"mask"};
  static GradList backward(const Backward<Dropout>& b);
};

using RandomOps =
    TypeList<Rand, Randn, Randint, Randperm, RandLike, RandnLike, UniformInPlace, NormalInPlace,
             RandomInPlace, ExponentialInPlace, BernoulliInPlace, Bernoulli, Dropout>;

}  // namespace eg
