#include "dispatch/transfer.h"

#include "dispatch/factories.h"
#include "runtime/accelerator.h"
#include "runtime/recording.h"

namespace eg {
namespace {

std::size_t byte_offset(const Tensor& t) { return static_cast<std::size_t>(t.memory().offset); }

// True when the elements of `t` fill its storage, so that its bytes can be copied directly.
bool fills_storage(const Tensor& t) {
  return t.is_contiguous() && byte_offset(t) == 0 &&
         byte_count(t.shape(), t.dtype()) == t.storage()->bytes();
}

// True for a row-major tensor of the shape and dtype of `other`.
bool is_laid_out_for(const Tensor& t, const Tensor& other) {
  return t.is_contiguous() && t.dtype() == other.dtype() && t.shape() == other.shape();
}

void upload(const Tensor& destination, const Tensor& source) {
  const bool is_laid_out = is_laid_out_for(source, destination);
  const Tensor from =
      is_laid_out ? source : Tensor::empty(destination.shape(), destination.dtype());
  if (!is_laid_out) copy_data(from, source);
  const bool is_direct = fills_storage(destination);
  const Tensor to =
      is_direct ? destination
                : Tensor::empty(destination.shape(), destination.dtype(), destination.device());
  const void* const bytes = from.data();
  const std::size_t count = byte_count(from.shape(), from.dtype());
  if (Recording* const noted = recording()) [[unlikely]]
    noted->note_write(to.storage()->data(), to.device(), bytes, count);
  accelerator(to.device()).write(to.storage()->data(), 0, bytes, count);
  if (!is_direct) copy_data(destination, to);
}

void download(const Tensor& destination, const Tensor& source) {
  check_host_access(source.storage()->data(), source.device());
  const Tensor from = packed(source);
  const bool is_direct = is_laid_out_for(destination, from);
  const Tensor to = is_direct ? destination : Tensor::empty(from.shape(), from.dtype());
  accelerator(from.device())
      .read(from.storage()->data(), byte_offset(from), to.data(),
            byte_count(from.shape(), from.dtype()));
  if (!is_direct) copy_data(destination, to);
}

}  // namespace

Tensor on_host(const Tensor& t) { return moved(t, {}); }

Tensor moved(const Tensor& t, Device device) {
  if (t.device() == device) return t;
  const Tensor copy = Tensor::empty(t.shape(), t.dtype(), device);
  transfer(copy, t);
  return copy;
}

bool is_true(const Tensor& t) { return *on_host(t).data_as<bool>(); }

void transfer(const Tensor& destination, const Tensor& source) {
  if (destination.numel() == 0) return;
  if (source.device().is_cpu()) return upload(destination, source);
  if (destination.device().is_cpu()) return download(destination, source);
  upload(destination, on_host(source));
}

}  // namespace eg
