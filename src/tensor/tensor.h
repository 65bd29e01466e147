#pragma once

// A Tensor is a shared handle to a view: shape, strides and an offset into a storage. Copying it
// copies the handle. Three things hang on the view besides its geometry:
//
//  - a version counter, shared by all views of the storage and by detach() aliases, that every
//    in-place operation raises, so that autograd can tell when a saved value is gone. Tensors made
//    in inference mode have none: nothing may be saved of them;
//  - optional autograd metadata. This layer knows only that it exists (AutogradMetaBase);
//    `autograd/variable.h` gives it meaning;
//  - a mark for tensors made from plain numbers (`x * 2`), which do not take part in promotion.

#include <cstdint>
#include <memory>
#include <vector>

#include "base/dtype.h"
#include "base/intrusive_ptr.h"
#include "base/pool.h"
#include "base/shape.h"
#include "base/sharing.h"
#include "runtime/device.h"
#include "runtime/memory_view.h"
#include "runtime/recorded_thread.h"
#include "runtime/storage.h"

namespace eg {

/// What autograd attaches to a tensor.
struct AutogradMetaBase : Pooled {
  virtual ~AutogradMetaBase() = default;
};

/// Counts in-place changes for tensors that do not go by the count of their storage.
struct VersionCounter final : RefCounted, Pooled {
  SharedCount<std::uint32_t> count;
  static void on_last_release(VersionCounter* counter) { delete counter; }
};

/// Bytes that a tensor of this shape takes; OutOfMemory where they cannot be addressed, and what
/// check_shape() throws.
std::size_t byte_count(const Shape& shape, DType dtype);

class TensorImpl final : public RefCounted, public Pooled {
 public:
  /// A row-major view of all of a new storage.
  TensorImpl(IntrusivePtr<Storage> storage, const Shape& shape, DType dtype);
  /// Another view of the storage of `other`, with its version.
  TensorImpl(const TensorImpl& other, const Shape& shape, const Strides& strides,
             std::int64_t offset, DType dtype);
  ~TensorImpl();

  static void on_last_release(TensorImpl* impl);
  /// Tensors alive now, whoever holds them.
  static std::int64_t live_count();

 private:
  friend class Tensor;

  void drop_autograd();

  IntrusivePtr<Storage> storage_;
  /// That of the storage, or of `own_version_`; null in tensors made in inference mode.
  SharedCount<std::uint32_t>* version_;
  IntrusivePtr<VersionCounter> own_version_;
  /// Owned; made at most once, by whichever thread needs it first.
  SharedClaim<AutogradMetaBase> autograd_;
  Shape shape_;
  Strides strides_;
  std::int64_t offset_;
  std::int64_t numel_;
  DType dtype_;
  bool is_contiguous_;
  bool is_wrapped_number_ = false;
  SharedCount<bool> travels_{false};
};

class Tensor {
 public:
  /// An undefined tensor: the "no gradient" of autograd.
  Tensor() = default;
  explicit Tensor(IntrusivePtr<TensorImpl> impl) : impl_(std::move(impl)) {}

  /// Uninitialised, row-major; see check_shape() for the shapes that are refused.
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
  /// Size along `dim`, which may count from the end.
  std::int64_t size(std::int64_t dim) const;
  DType dtype() const { return impl_->dtype_; }
  Device device() const { return impl_->storage_->device(); }
  bool is_contiguous() const { return impl_->is_contiguous_; }
  const IntrusivePtr<Storage>& storage() const { return impl_->storage_; }
  bool shares_storage_with(const Tensor& other) const {
    return storage().get() == other.storage().get();
  }

  /// Address of the first element of the view, for whoever may look into it: a tensor of another
  /// device than the CPU has none (dispatch/transfer.h), and where this thread is recorded, one
  /// whose values will not always be these is refused.
  void* data() const {
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
  /// The view's memory, for a kernel.
  MemoryView memory() const {
    const Storage& storage = *impl_->storage_;
    return {storage.data(), impl_->offset_ * static_cast<std::int64_t>(item_size(impl_->dtype_)),
            impl_->dtype_, storage.device()};
  }

  /// Throws InferenceTensor when nothing is counted.
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

  /// Another view of the same storage and version counter, without autograd metadata. Whatever was
  /// computed wrongly before: one that would leave its storage is an Internal error.
  Tensor alias(const Shape& shape, const Strides& strides, std::int64_t offset) const;
  Tensor alias() const;
  /// The same memory read as another dtype, in which strides and offset count.
  Tensor alias_as(DType dtype, const Shape& shape, const Strides& strides,
                  std::int64_t offset) const;
  /// alias(), with a version counter of its own that starts anew.
  Tensor alias_with_own_version() const;

  /// Shows as many other elements of the same storage from now on, which all handles see: the half
  /// of transpose_ that is not autograd's. Not while another thread may be reading this tensor.
  void set_geometry(const Shape& shape, const Strides& strides, std::int64_t offset) const;

  bool is_wrapped_number() const { return impl_->is_wrapped_number_; }
  void set_wrapped_number() const { impl_->is_wrapped_number_ = true; }

  /// Whether a handle of this tensor was given to another thread, so that several may hold it.
  bool travels() const { return impl_->travels_.load(); }
  void set_travels() const { impl_->travels_.store(true); }

  AutogradMetaBase* autograd_meta() const { return impl_->autograd_.owner(); }
  /// Attaches metadata, unless another thread has just done so.
  void attach_autograd_meta(std::unique_ptr<AutogradMetaBase> meta) const {
    AutogradMetaBase* owned = meta.release();
    if (!impl_->autograd_.take(owned)) delete owned;
  }

  /// Handles to this tensor; exact only while no other thread copies one.
  std::uint32_t use_count() const { return impl_->use_count(); }

 private:
  [[noreturn]] static void fail_no_version();
  [[noreturn]] static void fail_off_host();
  void check_view(const Shape& shape, const Strides& strides, std::int64_t offset,
                  DType dtype) const;

  IntrusivePtr<TensorImpl> impl_;
};

using TensorList = std::vector<Tensor>;

}  // namespace eg
