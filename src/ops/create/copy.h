#pragma once

// Copies: clone, contiguous, dtype conversion, and writing into a tensor.

#include "dispatch/function_op.h"

namespace eg {

struct Clone {
  static constexpr op::Doc doc{"clone", "A copy in separate memory; gradients flow through it."};
  static constexpr std::array args{Arg{"input"}};
  static constexpr bool takes_sparse = true;
  static constexpr std::array<std::string_view, 2> samples{"T([2, 3])", "T([])"};
  static Tensor call(const Tensor& input);

  struct Attrs {};
  static GradList backward(const Backward<Clone>& b);
};

struct Contiguous {
  static constexpr op::Doc doc{"contiguous",
                               "The tensor itself when it is row-major, else a row-major copy."};
  static constexpr std::array args{Arg{"input"}};
  static constexpr std::array<std::string_view, 1> samples{"T([2, 3])"};
  static Tensor call(const Tensor& input);
};

struct ToDType {
  static constexpr op::Doc doc{"to_dtype",
                               "input converted to dtype; input itself if it has that dtype."};
  static constexpr Audience audience = Audience::kInternal;
  static constexpr bool takes_sparse = true;
  static constexpr std::array args{Arg{"input"}, Arg{"dtype"}};
  static Tensor call(const Tensor& input, DType dtype);

  struct Attrs {
    DType dtype;
  };
  static GradList backward(const Backward<ToDType>& b);
};

struct ToDevice {
  static constexpr op::Doc doc{"to_device",
                               "A copy on another device; input itself if it is already there."};
  static Tensor call(const Tensor& input, Device device);

  struct Attrs {
    Device source;
  };
  static GradList backward(const Backward<ToDevice>& b);
};

struct CopyInPlace {
  static constexpr op::Doc doc{"copy_", "Writes source, broadcast and converted, into input."};
  /// PyTorch's name for it, an exception from its naming rule.
  static constexpr std::string_view node_name = "CopyBackwards";
  static constexpr bool takes_sparse = true;
  static constexpr std::array args{Arg{"input"}, Arg{"source"}};
  static constexpr std::array<std::string_view, 1> samples{"T([2, 3]), T([3])"};
  static Tensor call(const Tensor& input, const Operand& source);

  struct Attrs {
    Device source;
  };
  static GradList backward(const Backward<CopyInPlace>& b);
};

struct FillInPlace {
  static constexpr op::Doc doc{"fill_", "Sets every element of input to value."};
  static constexpr std::array args{Arg{"input"}, Arg{"value"}};
  static constexpr std::array<std::string_view, 2> samples{"T([2]), 0.5", "T([2, 2]), T([])"};
  static Tensor call(const Tensor& input, const Operand& value);
};

struct ZeroInPlace {
  static constexpr op::Doc doc{"zero_", "Sets every element of input to zero."};
  static constexpr bool takes_sparse = true;
  static constexpr std::array args{Arg{"input"}};
  static constexpr std::array<std::string_view, 1> samples{"T([2])"};
  static Tensor call(const Tensor& input);
};

using CopyOps = TypeList<Clone, Contiguous, ToDType, CopyInPlace, FillInPlace, ZeroInPlace>;

}  // namespace eg
