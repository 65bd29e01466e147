#include "ops/create/copy.h"

#include "base/warning.h"
#include "dispatch/factories.h"
#include "ops/complex/complex.h"
#include "ops/sparse/sparse_parts.h"

namespace eg {

Tensor Clone::call(const Tensor& input) {
  if (input.is_sparse()) return clone_sparse(input);
  const Tensor copy = empty_like(input);
  copy_data(copy, input);
  return record<Clone>(copy, {input}, {});
}

GradList Clone::backward(const Backward<Clone>& b) { return {b.grad()}; }

Tensor Contiguous::call(const Tensor& input) {
  if (input.is_contiguous()) return input;
  return record<Clone>(contiguous_copy(input), {input}, {});
}

Tensor ToDType::call(const Tensor& input, DType dtype) {
  if (input.dtype() == dtype) return input;
  if (input.is_sparse()) {
    const Pieces pieces(input);
    return with_values(pieces.shape, pieces.pattern, call(pieces.values, dtype));
  }
  if (is_complex(input.dtype()) && !is_complex(dtype) && dtype != DType::kBool) {
    static WarnOnce discards;
    discards.warn("Converting complex numbers to a real dtype drops their imaginary parts.");
  }
  Tensor copy = empty_with_layout_of(input, dtype);
  copy_data(copy, input);
  if (!is_differentiable(dtype)) return copy;
  return record<ToDType>(copy, {input}, {input.dtype()});
}

GradList ToDType::backward(const Backward<ToDType>& b) {
  const DType dtype = b.attrs().dtype;
  return {ToDType::call(is_complex(dtype) ? b.grad() : Real::call(b.grad()), dtype)};
}

Tensor ToDevice::call(const Tensor& input, Device device) {
  if (input.device() == device) return input;
  if (input.is_sparse()) {
    const Pieces pieces(input);
    return with_values(pieces.shape, moved_pattern(*pieces.pattern, device),
                       call(pieces.values, device));
  }
  Tensor copy = Tensor::empty(input.shape(), input.dtype(), device);
  copy_data(copy, input);
  return record<ToDevice>(copy, {input}, {input.device()});
}

GradList ToDevice::backward(const Backward<ToDevice>& b) {
  return {ToDevice::call(b.grad(), b.attrs().source)};
}

namespace {

// Writes `source`, broadcast and converted, over `input`.
Tensor write_over(const Tensor& input, Tensor source, SelfOverlap self_overlap) {
  check(is_expandable_to(source.shape(), input.shape()), ErrorCode::kShapeMismatch, "copy_",
        "the source of shape ", source.shape(), " cannot be broadcast to shape ", input.shape(),
        '.');
  // ToDType handles gradients between real and complex numbers.
  if (is_complex(source.dtype()) != is_complex(input.dtype())) {
    source = ToDType::call(source, input.dtype());
  }
  const std::array<Tensor, 2> inputs{input, source};
  return change_in_place<CopyInPlace>(
      input, inputs, {source.device()},
      [&] {
        copy_data(input, source.shares_storage_with(input) ? contiguous_copy(source) : source);
      },
      self_overlap);
}

}  // namespace

Tensor CopyInPlace::call(const Tensor& input, const Operand& source) {
  if (input.is_sparse() || source.tensor().is_sparse()) return copy_sparse(input, source.tensor());
  return write_over(input, source.tensor(), SelfOverlap::kRefused);
}

// The old values are overwritten: their gradient is zero, and the source receives all of it.
GradList CopyInPlace::backward(const Backward<CopyInPlace>& b) {
  GradList grads(2);
  if (b.needs(0)) grads[0] = full_like(b.grad(), 0);
  if (b.needs(1)) grads[1] = ToDevice::call(b.grad(), b.attrs().source);
  return grads;
}

Tensor FillInPlace::call(const Tensor& input, const Operand& value) {
  check(value.tensor().ndim() == 0, ErrorCode::kShapeMismatch, "fill_",
        "expected a number or a 0-dim tensor, got shape ", value.tensor().shape(), '.');
  const Tensor element = as_element(value.tensor(), input.dtype());
  // A value that is an element of the target is copied, because writing would change it.
  return write_over(input, element.shares_storage_with(input) ? Clone::call(element) : element,
                    SelfOverlap::kHarmless);
}

Tensor ZeroInPlace::call(const Tensor& input) {
  return input.is_sparse() ? clear_sparse(input) : FillInPlace::call(input, 0);
}

}  // namespace eg
