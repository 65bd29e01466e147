#pragma once

// A Tensor is a shared handle to a view: shape, strides and an offset into a storage. Copying it
// copies the handle. Besides its geometry a view has:
//
// - a version counter, shared by all views of the storage and by detach() aliases. Every in-place
//   operation increments it, so that autograd can detect that a saved value was overwritten.
//   Tensors made in inference mode have none and cannot be saved;
// - optional autograd metadata. This layer only knows that it exists (AutogradMetaBase);
//   `autograd/variable.h` defines it;
// - a flag for tensors made from plain numbers (`x * 2`), which do not take part in promotion;
// - in sparse tensors, the parts that they have in place of a storage (sparse.h).

#include <cstdint>
#include <memory>
#include <vector>

#include "base/dtype.h"
#include "base/heap/pool.h"
#include "base/intrusive_ptr.h"
#include "base/shape.h"
#include "base/sharing.h"
#include "runtime/device.h"
#include "runtime/memory_view.h"
#include "runtime/recorded_thread.h"
#include "runtime/storage.h"

namespace eg {

/// Base class of the metadata that autograd attaches to a tensor.
struct AutogradMetaBase : Pooled {
  virtual ~AutogradMetaBase() = default;
};

struct SparseParts;

/// Counts in-place changes for tensors that do not use the counter of their storage.
struct VersionCounter final : RefCounted, Pooled {
  SharedCount<std::uint32_t> count;
  static void on_last_release(VersionCounter* counter) { delete counter; }
};

/// Returns the bytes of a tensor of this shape. Throws OutOfMemory if they cannot be addressed, and
/// what check_shape() throws.
std::size_t byte_count(const Shape& shape, DType dtype);

class TensorImpl final : public RefCounted, public Pooled {
 public:
  /// A row-major view of the whole of a new storage.
  TensorImpl(IntrusivePtr<Storage> storage, const Shape& shape, DType dtype);
  /// A sparse tensor, with an empty storage.
  TensorImpl(IntrusivePtr<Storage> storage, const Shape& shape, DType dtype,
             IntrusivePtr<SparseParts> parts);
  /// Another view of the storage of `other`, with its version counter.
  TensorImpl(const TensorImpl& other, const Shape& shape, const Strides& strides,
             std::int64_t offset, DType dtype);
  ~TensorImpl();

  static void on_last_release(TensorImpl* impl);
  /// The number of existing tensors, whoever holds them.
  static std::int64_t live_count();

 private:
  friend class Tensor;

  void drop_autograd();

  IntrusivePtr<Storage> storage_;
  /// The counter of the storage or of `own_version_`; null in tensors made in inference mode.
  SharedCount<std::uint32_t>* version_;
  IntrusivePtr<VersionCounter> own_version_;
  /// Owned; created at most once, by the thread that needs it first.
  SharedClaim<AutogradMetaBase> autograd_;
  /// Null unless the tensor is sparse.
  IntrusivePtr<SparseParts> sparse_;
  Shape shape_;
  Strides strides_;
  std::int64_t offset_;
  std::int64_t numel_;
  DType dtype_;
  bool is_contiguous_;
  bool is_wrapped_number_ = false;
  SharedCount<bool> travels_{false};
  std::uint32_t first_handle_ = 0;
};

class Tensor {
 public:
  /// An undefined tensor: the "no gradient" of autograd.
  Tensor() = default;
  explicit Tensor(IntrusivePtr<TensorImpl> impl) : impl_(std::move(impl)) {}

  /// Returns an uninitialized, row-major tensor; throws what check_shape() throws.
  static Tensor empty(const Shape& shape, DType dtype, Device device = {});

  bool defined() const { return impl_ != nullptr; }
  explicit operator bool() const { return defined(); }
  void reset() { impl_.reset(); }
  TensorImpl* impl() const { return impl_.get(); }
  const IntrusivePtr<TensorImpl>& impl_ptr() const { return impl_; }
  bool is_same(const Tensor& other) const { return impl_ == other.impl_; }

  const Shape& shape() const { return impl_->shape_; }
  const Strides& strides() const { return impl_->strides_; }
  std::int64_t offset() const { return impl_->offset_; }
  std::int64_t ndim() const { return static_cast<std::int64_t>(impl_->shape_.size()); }
  std::int64_t numel() const { return impl_->numel_; }
  /// The size of dimension `dim`, which may be negative to count from the end.
  std::int64_t size(std::int64_t dim) const;
  DType dtype() const { return impl_->dtype_; }
  Device device() const { return impl_->storage_->device(); }
  bool is_contiguous() const { return impl_->is_contiguous_; }
  const IntrusivePtr<Storage>& storage() const { return impl_->storage_; }
  bool shares_storage_with(const Tensor& other) const {
    return storage().get() == other.storage().get();
  }

  /// Returns the address of the view's first element for access by the host. Fails for a tensor on
  /// another device than the CPU (see dispatch/transfer.h), and while this thread is recorded for a
  /// tensor whose values may differ at a replay.
  void* data() const {
    if (is_sparse()) [[unlikely]]
      fail_sparse();
    if (!device().is_cpu()) [[unlikely]]
      fail_off_host();
    if (recording() != nullptr) [[unlikely]]
      check_host_access(impl_->storage_->data(), device());
    return static_cast<char*>(impl_->storage_->data()) +
           static_cast<std::size_t>(impl_->offset_) * item_size(impl_->dtype_);
  }
  template <class T>
  T* data_as() const {
    return static_cast<T*>(data());
  }
  /// The view's memory, for kernels. Fails for a sparse tensor.
  MemoryView memory() const {
    if (is_sparse()) [[unlikely]]
      fail_sparse();
    const Storage& storage = *impl_->storage_;
    return {storage.data(), impl_->offset_ * static_cast<std::int64_t>(item_size(impl_->dtype_)),
            impl_->dtype_, storage.device()};
  }

  /// Throws InferenceTensor if the tensor has no version counter.
  std::uint32_t version() const {
    if (!has_version()) [[unlikely]]
      fail_no_version();
    return impl_->version_->load();
  }
  /// False for a tensor made in inference mode.
  bool has_version() const { return impl_->version_ != nullptr; }
  void bump_version() const {
    if (has_version()) (void)impl_->version_->add(1);
  }
  /// Sets the version, for changes that the graph must not notice; throws InferenceTensor if the
  /// tensor has no version counter.
  void set_version(std::uint32_t version) const {
    if (!has_version()) fail_no_version();
    impl_->version_->store(version);
  }

  /// Returns another view of the same storage and version counter, without autograd metadata. A
  /// geometry that exceeds the storage is an Internal error, whatever bug computed it.
  Tensor alias(const Shape& shape, const Strides& strides, std::int64_t offset) const;
  Tensor alias() const;
  /// Returns a view of the same memory as another dtype; strides and offset count elements of that
  /// dtype.
  Tensor alias_as(DType dtype, const Shape& shape, const Strides& strides,
                  std::int64_t offset) const;
  /// alias() with its own version counter, which starts at zero.
  Tensor alias_with_own_version() const;

  /// Changes the geometry for all handles to the same number of elements of the same storage: the
  /// part of transpose_ that does not concern autograd. Must not be called while another thread may
  /// read this tensor.
  void set_geometry(const Shape& shape, const Strides& strides, std::int64_t offset) const;

  bool is_sparse() const { return impl_->sparse_ != nullptr; }
  /// The parts of a sparse tensor; see sparse.h.
  const SparseParts& sparse() const { return *impl_->sparse_; }
  /// Gives a sparse tensor the parts of another one of its shape and dtype: its new values. Must
  /// not be called while another thread may read this tensor.
  void set_sparse(const Tensor& from) const;

  bool is_wrapped_number() const { return impl_->is_wrapped_number_; }
  void set_wrapped_number() const { impl_->is_wrapped_number_ = true; }

  /// Whether a handle to this tensor was passed to another thread, so that several threads may hold
  /// it.
  bool travels() const { return impl_->travels_.load(); }
  void set_travels() const { impl_->travels_.store(true); }

  /// The slot of the handle by which other languages know this tensor, plus 1, or 0: see
  /// HandleTable, whose mutex guards it.
  std::uint32_t first_handle() const { return impl_->first_handle_; }
  void set_first_handle(std::uint32_t slot) const { impl_->first_handle_ = slot; }

  AutogradMetaBase* autograd_meta() const { return impl_->autograd_.owner(); }
  /// Attaches metadata unless another thread has already done so.
  void attach_autograd_meta(std::unique_ptr<AutogradMetaBase> meta) const {
    AutogradMetaBase* owned = meta.release();
    if (!impl_->autograd_.take(owned)) delete owned;
  }

  /// The number of handles to this tensor; exact only while no other thread copies one.
  std::uint32_t use_count() const { return impl_->use_count(); }

 private:
  [[noreturn]] static void fail_no_version();
  [[noreturn]] static void fail_off_host();
  [[noreturn]] static void fail_sparse();
  void check_view(const Shape& shape, const Strides& strides, std::int64_t offset,
                  DType dtype) const;

  IntrusivePtr<TensorImpl> impl_;
};

using TensorList = std::vector<Tensor>;

}  // namespace eg
