#pragma once

// Ops that create tensors. The dtype is the last argument; if it is left out and no other argument
// determines it, it is the default dtype, float32. The forms named *_like take shape, dtype and
// layout from a tensor. Random tensors are in ops/random/random.h.

#include "dispatch/function_op.h"
#include "ops/random/random.h"

namespace eg {

struct Zeros {
  static constexpr op::Doc doc{"zeros", "A tensor of zeros."};
  static constexpr Audience audience = Audience::kFactory;
  static constexpr std::array args{Arg{"size"}, Arg{"dtype", "null"}};
  static constexpr std::array<std::string_view, 1> samples{"[2, 3]"};
  static Tensor call(const Dims& size, std::optional<DType> dtype = {});
};

struct Ones {
  static constexpr op::Doc doc{"ones", "A tensor of ones."};
  static constexpr Audience audience = Audience::kFactory;
  static constexpr std::array args{Arg{"size"}, Arg{"dtype", "null"}};
  static constexpr std::array<std::string_view, 1> samples{"[2]"};
  static Tensor call(const Dims& size, std::optional<DType> dtype = {});
};

struct Full {
  static constexpr op::Doc doc{"full", "A tensor filled with one value, which sets its dtype."};
  static constexpr Audience audience = Audience::kFactory;
  static constexpr std::array args{Arg{"size"}, Arg{"fill_value"}, Arg{"dtype", "null"}};
  static constexpr std::array<std::string_view, 1> samples{"[2], 3"};
  static Tensor call(const Dims& size, Scalar fill_value, std::optional<DType> dtype = {});
};

struct Empty {
  static constexpr op::Doc doc{"empty", "A tensor with uninitialized values."};
  static constexpr Audience audience = Audience::kFactory;
  static constexpr std::array args{Arg{"size"}, Arg{"dtype", "null"}};
  static constexpr std::array<std::string_view, 1> samples{"[0, 2]"};
  static Tensor call(const Dims& size, std::optional<DType> dtype = {});
};

struct Arange {
  static constexpr op::Doc doc{
      "arange",
      "Numbers from start to end, which is excluded, spaced by step; arange(end) starts at 0."};
  static constexpr Audience audience = Audience::kFactory;
  static constexpr std::array args{Arg{"start"}, Arg{"end", "null"}, Arg{"step", "1"},
                                   Arg{"dtype", "null"}};
  static constexpr std::array<std::string_view, 2> samples{"5", "1, 7, 2"};
  static Tensor call(Scalar start, std::optional<Scalar> end = {}, Scalar step = 1,
                     std::optional<DType> dtype = {});
};

struct Linspace {
  static constexpr op::Doc doc{"linspace",
                               "steps evenly spaced numbers from start to end, both included."};
  static constexpr Audience audience = Audience::kFactory;
  static constexpr std::array args{Arg{"start"}, Arg{"end"}, Arg{"steps"}, Arg{"dtype", "null"}};
  static constexpr std::array<std::string_view, 1> samples{"0, 8, 5"};
  static Tensor call(double start, double end, std::int64_t steps, std::optional<DType> dtype = {});
};

struct Eye {
  static constexpr op::Doc doc{"eye", "Ones on the diagonal of an n by m matrix of zeros."};
  static constexpr Audience audience = Audience::kFactory;
  static constexpr std::array args{Arg{"n"}, Arg{"m", "null"}, Arg{"dtype", "null"}};
  static constexpr std::array<std::string_view, 1> samples{"2, 3"};
  static Tensor call(std::int64_t n, std::optional<std::int64_t> m = {},
                     std::optional<DType> dtype = {});
};

struct ZerosLike {
  static constexpr op::Doc doc{"zeros_like", "Zeros in the shape of input."};
  static constexpr Audience audience = Audience::kFactory;
  static constexpr bool takes_sparse = true;
  static constexpr std::array args{Arg{"input"}, Arg{"dtype", "null"}};
  static constexpr std::array<std::string_view, 1> samples{"T([2])"};
  static Tensor call(const Tensor& input, std::optional<DType> dtype = {});
};

struct OnesLike {
  static constexpr op::Doc doc{"ones_like", "Ones in the shape of input."};
  static constexpr Audience audience = Audience::kFactory;
  static constexpr std::array args{Arg{"input"}, Arg{"dtype", "null"}};
  static constexpr std::array<std::string_view, 1> samples{"T([])"};
  static Tensor call(const Tensor& input, std::optional<DType> dtype = {});
};

struct FullLike {
  static constexpr op::Doc doc{"full_like", "One value in the shape of input."};
  static constexpr Audience audience = Audience::kFactory;
  static constexpr std::array args{Arg{"input"}, Arg{"fill_value"}, Arg{"dtype", "null"}};
  static constexpr std::array<std::string_view, 1> samples{"T([2]), 3"};
  static Tensor call(const Tensor& input, Scalar fill_value, std::optional<DType> dtype = {});
};

struct EmptyLike {
  static constexpr op::Doc doc{"empty_like", "Uninitialized values in the shape of input."};
  static constexpr Audience audience = Audience::kFactory;
  static constexpr bool takes_sparse = true;
  static constexpr std::array args{Arg{"input"}, Arg{"dtype", "null"}};
  static constexpr std::array<std::string_view, 1> samples{"T([0, 2])"};
  static Tensor call(const Tensor& input, std::optional<DType> dtype = {});
};

using FactoryOps = Concat<TypeList<Zeros, Ones, Full, Empty, Arange, Linspace, Eye, ZerosLike,
                                   OnesLike, FullLike, EmptyLike>,
                          RandomOps>;

}  // namespace eg
