#include "dispatch/overlap.h"

#include <cstdint>

#include "base/error.h"

namespace eg {
namespace {

bool is_dense(const Tensor& t) {
  return t.is_contiguous() || is_non_overlapping_and_dense(t.shape(), t.strides());
}

bool repeats_elements(const Tensor& t) {
  if (t.numel() == 0 || is_dense(t)) return false;
  for (std::size_t d = 0; d < t.shape().size(); ++d) {
    if (t.strides()[d] == 0 && t.shape()[d] > 1) return true;
  }
  return false;
}

// A range of bytes in a storage.
struct Range {
  std::int64_t begin;
  std::int64_t end;

  // The range of a dense tensor.
  explicit Range(const Tensor& t)
      : begin(t.memory().offset),
        end(begin + t.numel() * static_cast<std::int64_t>(item_size(t.dtype()))) {}
  bool operator==(const Range&) const = default;
};

enum class Sharing : std::uint8_t { kNone, kPart, kAll };

Sharing sharing_of(const Tensor& a, const Tensor& b) {
  if (a.is_same(b)) return Sharing::kAll;
  if (!a.shares_storage_with(b) || a.numel() == 0 || b.numel() == 0) return Sharing::kNone;
  if (!is_dense(a) || !is_dense(b)) return Sharing::kNone;
  const Range range_a(a);
  const Range range_b(b);
  if (range_a == range_b) return a.strides() == b.strides() ? Sharing::kAll : Sharing::kPart;
  return range_a.begin < range_b.end && range_b.begin < range_a.end ? Sharing::kPart
                                                                    : Sharing::kNone;
}

[[noreturn]] void fail_overlap() {
  fail(ErrorCode::kInvalidArgument,
       "an input overlaps the memory of the tensor that is written. Pass x.clone() as the input.");
}

}  // namespace

void check_no_internal_overlap(const Tensor& target) {
  if (!repeats_elements(target)) return;
  fail(ErrorCode::kInvalidArgument,
       "several elements of the tensor that is written share one memory location, as after "
       "expand(). Write to x.clone() instead.");
}

void check_no_partial_overlap(const Tensor& target, const Tensor& input) {
  if (sharing_of(target, input) == Sharing::kPart) fail_overlap();
}

void check_no_overlap(const Tensor& target, const Tensor& input) {
  if (sharing_of(target, input) != Sharing::kNone) fail_overlap();
}

}  // namespace eg
