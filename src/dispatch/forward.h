#pragma once

// How ops carry tangents (forward_ad.h). An elementwise op needs no extra code: its Jacobian is
// diagonal, so its gradient formulas map tangents as they map gradients (elementwise_node.cpp).
// Every other op is differentiated through its own backward, which is linear in the incoming
// gradient v,
//
//   backward(v) = Jᵀ v        so        d/dv <backward(v), t> = J t
//
// which is the tangent of the result. This costs a small backward call and no code per op. A view
// takes the same view of the tangent instead, so that the tangents share memory as the tensors do.

#include <algorithm>
#include <span>

#include "autograd/forward_ad.h"
#include "autograd/grad_mode.h"
#include "autograd/graph/node.h"
#include "tensor/tensor.h"

namespace eg {

/// True when a level is open and one of the tensors carries a tangent.
inline bool any_has_tangent(std::span<const Tensor> tensors) {
  return ops_carry_tangents() && std::any_of(tensors.begin(), tensors.end(),
                                             [](const Tensor& t) { return tangent(t).defined(); });
}

/// The tangents of the open level, undefined where a tensor has none.
TensorList tangents_of(std::span<const Tensor> tensors);

/// Edges for a node that is only used to map tangents: valid for the inputs that have one.
EdgeList tangent_edges(std::span<const Tensor> inputs);

/// The tangents of the results of `node`, which was made with tangent_edges(inputs); undefined for
/// results that do not depend on a tangent.
TensorList map_tangents(Node& node, std::span<const Tensor> outputs,
                        std::span<const Tensor> inputs);

/// Returns `mapped`, or a copy if it shares memory with a tangent of `inputs`: a tangent shared by
/// two tensors could not change in place together with one of them.
Tensor own_tangent(const Tensor& mapped, std::span<const Tensor> inputs);

}  // namespace eg
