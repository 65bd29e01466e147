// compile: compact

#include "tensor/sparse.h"

namespace eg {

TensorImpl::TensorImpl(IntrusivePtr<Storage> storage, const Shape& shape, DType dtype,
                       IntrusivePtr<SparseParts> parts)
    : TensorImpl(std::move(storage), shape, dtype) {
  sparse_ = std::move(parts);
}

void Tensor::set_sparse(const Tensor& from) const {
  invariant(is_sparse() && from.is_sparse(), "set_sparse() is for sparse tensors.");
  impl_->sparse_ = from.impl_->sparse_;
}

Tensor make_sparse(const Shape& shape, IntrusivePtr<SparsePattern> pattern, const Tensor& values) {
  check_shape(shape);
  auto parts = make_intrusive<SparseParts>(std::move(pattern), values);
  return Tensor(make_intrusive<TensorImpl>(make_intrusive<Storage>(0, values.device()), shape,
                                           values.dtype(), std::move(parts)));
}

}  // namespace eg
