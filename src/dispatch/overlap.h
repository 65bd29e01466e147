#pragma once

// Memory that an op would write more than once, or read while it is being written. What PyTorch
// refuses is refused here, with its sentences.

#include "tensor/tensor.h"

namespace eg {

/// Throws when several elements of `target` lie in one place, as expand() lays them. Views made by
/// strides, which may overlap in other ways, are let through.
void check_no_internal_overlap(const Tensor& target);

/// Throws when `input` shows a part of the memory of `target`, or all of it in another order. Views
/// with gaps, where that is hard to tell, are let through.
void check_no_partial_overlap(const Tensor& target, const Tensor& input);

/// Throws also when `input` is all of `target` in the same order: where places are chosen by
/// indices, an element may be written before it is read.
void check_no_overlap(const Tensor& target, const Tensor& input);

}  // namespace eg
