#pragma once

// Every op there is, in the families of the documentation. The order gives the ids of the op table.

#include "base/name.h"
#include "dispatch/attention_ops.h"
#include "dispatch/branch_ops.h"
#include "dispatch/channel_norm_ops.h"
#include "dispatch/complex_ops.h"
#include "dispatch/conv_ops.h"
#include "dispatch/copy_ops.h"
#include "dispatch/distance_ops.h"
#include "dispatch/einsum_ops.h"
#include "dispatch/factory_ops.h"
#include "dispatch/fft_ops.h"
#include "dispatch/index_ops.h"
#include "dispatch/join_ops.h"
#include "dispatch/linalg_ops.h"
#include "dispatch/loss_ops.h"
#include "dispatch/matmul_ops.h"
#include "dispatch/norm_ops.h"
#include "dispatch/optim_ops.h"
#include "dispatch/order_ops.h"
#include "dispatch/pool_ops.h"
#include "dispatch/reduction_composite_ops.h"
#include "dispatch/resize_ops.h"
#include "dispatch/scan_ops.h"
#include "dispatch/softmax_ops.h"
#include "dispatch/stride_ops.h"
#include "dispatch/tensor_index_ops.h"
#include "dispatch/view_ops.h"
#include "formulas/all.h"

namespace eg {

/// Ops that are listed together, under a title.
template <Name kTitle, class... Lists>
struct Family {
  static constexpr std::string_view title = kTitle.view();
  using Ops = Concat<Lists...>;
};

using Families =
    TypeList<Family<"Arithmetic", op::ArithmeticOps>, Family<"Comparison", op::ComparisonOps>,
             Family<"Selection", op::SelectionOps>, Family<"Rounding and signs", op::RoundingOps>,
             Family<"Exponentials and powers", op::ExponentialOps>,
             Family<"Trigonometry", op::TrigonometricOps>,
             Family<"Special functions", op::SpecialOps>, Family<"Activations", op::ActivationOps>,
             Family<"Copies", CopyOps>, Family<"Views", StrideOps, ViewOps>,
             Family<"Joining and rearranging", JoinOps>,
             Family<"Indexing", IndexOps, TensorIndexOps>, Family<"New tensors", FactoryOps>,
             Family<"Reductions", ReductionOps, ReductionCompositeOps>,
             Family<"Choices between tensors", BranchOps>, Family<"Softmax", SoftmaxOps>,
             Family<"Losses", LossOps>, Family<"Products", MatmulOps, EinsumOps>,
             Family<"Linear algebra", LinalgOps>, Family<"Normalisation", NormOps, ChannelNormOps>,
             Family<"Distances", DistanceOps>, Family<"Images", ResizeOps, PoolOps, ConvOps>,
             Family<"Attention", AttentionOps>, Family<"Order", OrderOps>, Family<"Scans", ScanOps>,
             Family<"Complex numbers", ComplexOps>, Family<"Fourier transforms", FftOps>,
             Family<"Optimizer steps", OptimOps>>;

namespace detail {
template <class... Family>
Concat<typename Family::Ops...> ops_of(TypeList<Family...>);
}  // namespace detail

using AllOps = decltype(detail::ops_of(Families{}));

}  // namespace eg
