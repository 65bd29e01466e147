#include "tensor/tensor.h"

#include <limits>

#include "tensor/autograd_state.h"
#include "tensor/sparse.h"

namespace eg {
namespace {
constinit SharedCount<std::int64_t> live_tensors;
}

TensorImpl::TensorImpl(IntrusivePtr<Storage> storage, const Shape& shape, DType dtype)
    : storage_(std::move(storage)),
      version_(autograd_state().inference_mode ? nullptr : &storage_->version()),
      shape_(shape),
      strides_(contiguous_strides(shape)),
      offset_(0),
      numel_(eg::numel(shape)),
      dtype_(dtype),
      is_contiguous_(true) {
  live_tensors.increment();
}

TensorImpl::TensorImpl(const TensorImpl& other, const Shape& shape, const Strides& strides,
                       std::int64_t offset, DType dtype)
    : storage_(other.storage_),
      version_(other.version_),
      own_version_(other.own_version_),
      sparse_(other.sparse_),
      shape_(shape),
      strides_(strides),
      offset_(offset),
      numel_(eg::numel(shape)),
      dtype_(dtype),
      is_contiguous_(eg::is_contiguous(shape, strides)) {
  live_tensors.increment();
}

TensorImpl::~TensorImpl() {
  drop_autograd();
  live_tensors.add(-1);
}

void TensorImpl::drop_autograd() {
  AutogradMetaBase* const meta = autograd_.owner();
  if (meta == nullptr) return;
  autograd_.leave(meta);
  delete meta;
}

std::int64_t TensorImpl::live_count() { return live_tensors.load(); }

void TensorImpl::on_last_release(TensorImpl* impl) {
  if (WeakPtr<TensorImpl>::has_no_weak_references(impl)) {
    delete impl;
    return;
  }
  // Weak references remain: frees what the tensor holds now, and the object with the last of them.
  impl->drop_autograd();
  impl->version_ = nullptr;
  impl->own_version_.reset();
  impl->sparse_.reset();
  impl->storage_.reset();
  WeakPtr<TensorImpl>::drop(impl);
}

std::size_t byte_count(const Shape& shape, DType dtype) {
  check_shape(shape);
  // Computed in 64 bits, because size_t may have 32; after check_shape() the product cannot
  // overflow.
  const auto bytes = static_cast<std::uint64_t>(numel(shape)) * item_size(dtype);
  if (bytes > std::numeric_limits<std::size_t>::max()) {
    fail(ErrorCode::kOutOfMemory, "shape ", shape, " of ", dtype, " needs ", bytes,
         " bytes, more than can be addressed.");
  }
  return static_cast<std::size_t>(bytes);
}

Tensor Tensor::empty(const Shape& shape, DType dtype, Device device) {
  const std::size_t bytes = byte_count(shape, dtype);
  return Tensor(make_intrusive<TensorImpl>(make_intrusive<Storage>(bytes, device), shape, dtype));
}

void Tensor::fail_off_host() {
  fail(ErrorCode::kInternal, "device memory was accessed as host memory.");
}

void Tensor::fail_sparse() {
  fail(ErrorCode::kInvalidArgument,
       "expected a dense tensor, got a sparse one. Use its toDense(), or its values().");
}

void Tensor::fail_no_version() {
  fail(ErrorCode::kInferenceTensor, "inference tensors have no version counter.");
}

std::int64_t Tensor::size(std::int64_t dim) const {
  if (ndim() == 0) {
    fail(ErrorCode::kIndexOutOfRange, "dimension ", dim,
         " was requested of a tensor without dimensions.");
  }
  return shape()[static_cast<std::size_t>(wrap_dim(dim, ndim(), "size"))];
}

void Tensor::set_geometry(const Shape& shape, const Strides& strides, std::int64_t offset) const {
  invariant(eg::numel(shape) == numel(), "set_geometry() must not change the number of elements.");
  check_view(shape, strides, offset, dtype());
  impl_->shape_ = shape;
  impl_->strides_ = strides;
  impl_->offset_ = offset;
  impl_->is_contiguous_ = eg::is_contiguous(shape, strides);
}

void Tensor::check_view(const Shape& shape, const Strides& strides, std::int64_t offset,
                        DType dtype) const {
  if (is_sparse()) fail_sparse();
  check_shape(shape);
  const auto capacity = static_cast<std::int64_t>(storage()->bytes() / item_size(dtype));
  invariant(view_fits(shape, strides, offset, capacity), "a view of shape ", shape,
            " with strides ", strides, " and offset ", offset, " exceeds its storage of ", capacity,
            " elements.");
}

Tensor Tensor::alias(const Shape& shape, const Strides& strides, std::int64_t offset) const {
  return alias_as(impl_->dtype_, shape, strides, offset);
}

Tensor Tensor::alias() const {
  return Tensor(make_intrusive<TensorImpl>(*impl_, shape(), strides(), offset(), dtype()));
}

Tensor Tensor::alias_as(DType dtype, const Shape& shape, const Strides& strides,
                        std::int64_t offset) const {
  check_view(shape, strides, offset, dtype);
  return Tensor(make_intrusive<TensorImpl>(*impl_, shape, strides, offset, dtype));
}

Tensor Tensor::alias_with_own_version() const {
  Tensor result = alias();
  result.impl_->own_version_ = make_intrusive<VersionCounter>();
  result.impl_->version_ = &result.impl_->own_version_->count;
  return result;
}

}  // namespace eg
