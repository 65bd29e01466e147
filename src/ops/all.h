#pragma once

// The list of all ops, in the families of the documentation. Its order determines the ids in the op
// table.

#include "base/name.h"
#include "formulas/all.h"
#include "ops/complex/complex.h"
#include "ops/complex/fft.h"
#include "ops/create/copy.h"
#include "ops/create/factory.h"
#include "ops/elementwise/branch.h"
#include "ops/elementwise/overload.h"
#include "ops/index/distinct.h"
#include "ops/index/index.h"
#include "ops/index/order.h"
#include "ops/index/tensor_index.h"
#include "ops/linalg/linalg.h"
#include "ops/loss/loss.h"
#include "ops/matrix/einsum.h"
#include "ops/matrix/matmul.h"
#include "ops/matrix/quantized.h"
#include "ops/nn/attention.h"
#include "ops/nn/channel_norm.h"
#include "ops/nn/conv.h"
#include "ops/nn/distance.h"
#include "ops/nn/interpolate.h"
#include "ops/nn/norm.h"
#include "ops/nn/pad.h"
#include "ops/nn/pool.h"
#include "ops/nn/recurrent.h"
#include "ops/nn/softmax.h"
#include "ops/optim/optim.h"
#include "ops/random/samples.h"
#include "ops/reduce/reduction_composite.h"
#include "ops/reduce/scan.h"
#include "ops/shape/join.h"
#include "ops/shape/stride.h"
#include "ops/shape/view.h"
#include "ops/sparse/sparse.h"

namespace eg {

/// Ops that the documentation lists together under a title.
template <Name kTitle, class... Lists>
struct Family {
  static constexpr std::string_view title = kTitle.view();
  using Ops = Concat<Lists...>;
};

using Families = TypeList<
    Family<"Arithmetic", op::ArithmeticOps>, Family<"Comparison", op::ComparisonOps>,
    Family<"Selection", op::SelectionOps>, Family<"Rounding and signs", op::RoundingOps>,
    Family<"Exponentials and powers", op::ExponentialOps>,
    Family<"Trigonometry", op::TrigonometricOps>, Family<"Special functions", op::SpecialOps>,
    Family<"Bits and divisors", op::IntegerOps>, Family<"Activations", op::ActivationOps>,
    Family<"Copies", CopyOps>, Family<"Views", StrideOps, ViewOps>,
    Family<"Joining and rearranging", JoinOps>, Family<"Indexing", IndexOps, TensorIndexOps>,
    Family<"New tensors", FactoryOps>, Family<"Reductions", ReductionOps, ReductionCompositeOps>,
    Family<"Choices between tensors", BranchOps>, Family<"Softmax", SoftmaxOps>,
    Family<"Losses", LossOps>, Family<"Products", MatmulOps, EinsumOps, QuantizedOps>,
    Family<"Linear algebra", LinalgOps>, Family<"Normalization", NormOps, ChannelNormOps>,
    Family<"Distances", DistanceOps>, Family<"Images", PadOps, InterpolateOps, PoolOps, ConvOps>,
    Family<"Attention", AttentionOps>, Family<"Recurrent layers", RecurrentOps>,
    Family<"Sparse tensors", SparseOps>, Family<"Order", OrderOps, DistinctOps>,
    Family<"Scans", ScanOps>, Family<"Random samples", SampleOps>,
    Family<"Complex numbers", ComplexOps>, Family<"Fourier transforms", FftOps>,
    Family<"Optimizer steps", OptimOps>>;

namespace detail {
template <class... Family>
Concat<typename Family::Ops...> ops_of(TypeList<Family...>);
}  // namespace detail

using AllOps = decltype(detail::ops_of(Families{}));

}  // namespace eg
