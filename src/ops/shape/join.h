#pragma once

// Joining and repeating tensors.

#include "dispatch/function_op.h"
#include "ops/shape/rearrange.h"

namespace eg {

struct Cat {
  static constexpr op::Doc doc{"cat", "Joins tensors along an existing dimension."};
  static constexpr bool takes_sparse = true;
  static constexpr std::array args{Arg{"tensors"}, Arg{"dim", "0"}};
  static constexpr std::array<std::string_view, 3> samples{
      "[T([2, 3]), T([1, 3])], 0", "[T([2, 3]), T([2, 2]), T([2, 1])], -1", "[T([0]), T([2, 3])]"};
  static Tensor call(const TensorList& tensors, std::int64_t dim = 0);

  struct Attrs {
    std::int64_t dim;
    /// The sizes of the inputs along dim; -1 for an input that was skipped.
    Dims sizes;
  };
  static GradList backward(const Backward<Cat>& b);
};

struct Stack {
  static constexpr op::Doc doc{"stack", "Joins tensors of one shape along a new dimension."};
  static constexpr std::array args{Arg{"tensors"}, Arg{"dim", "0"}};
  static constexpr std::array<std::string_view, 3> samples{
      "[T([2, 3]), T([2, 3])], 1", "[T([2]), T([2])], -1", "[T([]), T([])]"};
  static Tensor call(const TensorList& tensors, std::int64_t dim = 0);

  struct Attrs {
    std::int64_t dim;
  };
  static GradList backward(const Backward<Stack>& b);
};

struct Repeat {
  static constexpr op::Doc doc{"repeat",
                               "A copy of input repeated repeats[i] times along dimension i."};
  static constexpr std::array args{Arg{"input"}, Arg{"repeats"}};
  static constexpr std::array<std::string_view, 3> samples{"T([2, 3]), [2, 1, 2]", "T([3]), [2]",
                                                           "T([]), [2, 2]"};
  static Tensor call(const Tensor& input, const Dims& repeats);

  struct Attrs {
    Shape input_shape;
    Dims repeats;
  };
  static GradList backward(const Backward<Repeat>& b);
};

struct Tile {
  static constexpr op::Doc doc{"tile", "repeat() in which missing repeats count as one."};
  static constexpr std::array args{Arg{"input"}, Arg{"dims"}};
  static constexpr std::array<std::string_view, 2> samples{"T([2, 3]), [2, 2]", "T([2, 3]), [2]"};
  static Tensor call(const Tensor& input, const Dims& dims);
};

struct Hstack {
  static constexpr op::Doc doc{"hstack", "Joins tensors along dimension 1; vectors end to end."};
  static constexpr std::array args{Arg{"tensors"}};
  static constexpr std::array<std::string_view, 2> samples{"[T([2, 3]), T([2, 1])]",
                                                           "[T([]), T([3])]"};
  static Tensor call(const TensorList& tensors);
};

struct Vstack {
  static constexpr op::Doc doc{"vstack", "Joins tensors along dimension 0; vectors become rows."};
  static constexpr std::array args{Arg{"tensors"}};
  static constexpr std::array<std::string_view, 2> samples{"[T([2, 3]), T([3])]", "[T([]), T([])]"};
  static Tensor call(const TensorList& tensors);
};

/// Which of the first two inputs of meshgrid runs along the rows.
enum class GridIndexing : std::uint8_t { kIJ, kXY };
constexpr std::array<std::string_view, 2> enum_names(GridIndexing) { return {"ij", "xy"}; }

struct Meshgrid {
  static constexpr op::Doc doc{"meshgrid",
                               "The coordinates of the points of a grid, a tensor for each axis."};
  static constexpr std::array args{Arg{"tensors"}, Arg{"indexing", "'ij'"}};
  static constexpr std::array<std::string_view, 2> samples{"[T([2]), T([3])]",
                                                           "[T([2]), T([3]), T([2])], 'xy'"};
  static TensorList call(const TensorList& tensors, GridIndexing indexing = GridIndexing::kIJ);
};

using JoinOps = Concat<TypeList<Cat, Stack, Hstack, Vstack, Meshgrid, Repeat, Tile>, RearrangeOps>;

}  // namespace eg
