#pragma once

// How each op treats stored dtypes and autocast (dispatch/precision.h). The lists for autocast are
// those of PyTorch for the CPU.

#include <type_traits>

#include "dispatch/precision.h"
#include "ops/all.h"

namespace eg {

namespace detail {

using MovingOps =
    Concat<CopyOps, StrideOps, ViewOps, SparseOps,
           TypeList<Zeros, Ones, Full, Empty, Arange, Linspace, Eye, ZerosLike, OnesLike, FullLike,
                    EmptyLike, Rand, Randn, RandLike, RandnLike, UniformInPlace, NormalInPlace,
                    RandomInPlace, Randint, Randperm, Normal, Kron, ViewAsReal, ViewAsComplex, Real,
                    Imag, Conj, ToComplex, Linear, Embedding, OneHot, Pad, Quantize, Cat, Stack,
                    Hstack, Vstack, Meshgrid, Repeat, Tile, Flip, Roll, Rot90>>;

using LowerOps = Concat<ConvOps, AttentionOps, EinsumOps, RecurrentOps,
                        TypeList<Mm, Bmm, Matmul, Addmm, Baddbmm, Addbmm, Prelu>>;

using FullOps = Concat<LossOps, FftOps, DecompositionOps, TriangularOps, LeastSquaresOps,
                       TypeList<Det, Slogdet, Inverse, Cholesky, Solve, Prod, Cdist, Trace, Polar>>;

using FirstOps = Concat<NormOps, ChannelNormOps, TypeList<QuantizedLinear>>;

using IndexedOps =
    Concat<ScatterReduceOps, TensorIndexOps,
           TypeList<IndexSelect, IndexAdd, IndexCopy, IndexFill, Gather, Scatter, ScatterAdd,
                    TakeAlongDim, Take, MaskedSelect, MaskedScatter, RepeatInterleave>>;

template <class Op, class... Ops>
constexpr bool is_one_of(TypeList<Ops...>) {
  return (std::is_same_v<Op, Ops> || ...);
}

template <class Op>
constexpr Precision precision_of() {
  // Overloads end in elementwise ops, which convert stored dtypes themselves.
  if (is_one_of<Op>(MovingOps{}) || kHasOverload<Op>) return Precision::kMoves;
  if (is_one_of<Op>(LowerOps{})) return Precision::kLower;
  if (is_one_of<Op>(FullOps{})) return Precision::kFull;
  if (is_one_of<Op>(IndexedOps{})) return Precision::kIndexed;
  if (is_one_of<Op>(SearchOps{})) return Precision::kPositions;
  return is_one_of<Op>(FirstOps{}) ? Precision::kFirst : Precision::kComputed;
}

}  // namespace detail

template <class Op>
inline constexpr Precision kPrecision = detail::precision_of<Op>();

}  // namespace eg
