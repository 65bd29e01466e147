// compile: engine

#include "autograd/tensor_math.h"

#include "dispatch/elementwise.h"
#include "dispatch/factories.h"
#include "dispatch/transfer.h"
#include "formulas/all.h"
#include "ops/complex/complex.h"
#include "ops/create/copy.h"
#include "ops/reduce/reduction.h"
#include "ops/shape/join.h"
#include "ops/shape/slice.h"
#include "ops/shape/view.h"
#include "ops/sparse/sparse.h"

namespace eg::math {

Tensor add(const Tensor& a, const Tensor& b) { return call<op::Add>(a, b); }

void add_in_place(const Tensor& a, const Tensor& b) { call_in_place<op::Add>(a, b); }

Tensor clone(const Tensor& t) { return Clone::call(t); }

Tensor clone_with_strides(const Tensor& t, const Strides& strides) {
  if (t.is_sparse()) return clone(t);
  // Allocates memory for elements with these strides, and views it with them.
  const Tensor copy = Tensor::empty({storage_extent(t.shape(), strides)}, t.dtype(), t.device())
                          .alias(t.shape(), strides, 0);
  copy_data(copy, t);
  return record<Clone>(copy, {t}, {});
}

Tensor to_dense(const Tensor& t) { return ToDense::call(t); }

bool has_nan(const Tensor& t) {
  if (t.is_sparse()) return has_nan(t.sparse().values);
  if (!is_differentiable(t.dtype()) || t.numel() == 0) return false;
  return is_true(Any::call(call<op::Isnan>(t)));
}

Tensor ones(const InputMetadata& slot) { return full(slot.shape, 1, slot.dtype, slot.device); }

Tensor zeros_like(const Tensor& t) { return full_like(t, 0); }

Tensor zeros(const InputMetadata& slot) { return full(slot.shape, 0, slot.dtype, slot.device); }

Tensor select(const Tensor& t, std::int64_t index) { return Select::call(t, 0, index); }

Tensor stack(const TensorList& tensors) { return Stack::call(tensors); }

Tensor sum_to(const Tensor& t, const Shape& shape) { return sum_to_shape(t, shape); }

Tensor cast(const Tensor& t, DType dtype) { return ToDType::call(t, dtype); }

Tensor expand(const Tensor& t, const Shape& shape) { return Expand::call(t, shape); }

Tensor conj(const Tensor& t) { return Conj::call(t); }

Tensor real(const Tensor& t) { return Real::call(t); }

Tensor to_device(const Tensor& t, Device device) { return ToDevice::call(t, device); }

Tensor view(const Tensor& t) { return View::call(t, t.shape()); }

void copy_values(const Tensor& destination, const Tensor& source) {
  CopyInPlace::call(destination, source);
}

}  // namespace eg::math
