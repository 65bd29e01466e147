#pragma once

// Detects memory that an op would write more than once, or read while it is being written. The
// cases that are refused are those that PyTorch refuses.

#include "tensor/tensor.h"

namespace eg {

/// Throws when several elements of `target` share one memory location, as in a view made by
/// expand(). Other overlaps, which views made by as_strided() may have, are not detected.
void check_no_internal_overlap(const Tensor& target);

/// Throws when `input` covers a part of the memory of `target`, or all of it in another order.
/// Views with gaps, for which this is hard to decide, are accepted.
void check_no_partial_overlap(const Tensor& target, const Tensor& input);

/// Also throws when `input` covers all of `target` in the same order: an op that writes at given
/// indices may write an element before it is read.
void check_no_overlap(const Tensor& target, const Tensor& input);

}  // namespace eg
