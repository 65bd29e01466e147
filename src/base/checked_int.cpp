#include "base/checked_int.h"

#include <algorithm>
#include <limits>

#include "base/error.h"

namespace eg {

std::int64_t CheckedInt::overflow() {
  fail(ErrorCode::kInvalidArgument,
       "the sizes, strides or offsets computed from these arguments do not fit into 64 bits.");
}

std::size_t checked_count(std::int64_t value) {
  // Half the address space, and at most the integers that JavaScript represents exactly.
  constexpr auto kMax = static_cast<std::int64_t>(
      std::min<std::uint64_t>(std::numeric_limits<std::size_t>::max() / 2, std::uint64_t{1} << 53));
  if (value > kMax) fail(ErrorCode::kOutOfMemory, value, " entries do not fit into memory.");
  return static_cast<std::size_t>(value);
}

std::int64_t checked_integer(double value) {
  // False for NaN too.
  if (value >= -0x1p53 && value <= 0x1p53) {
    const auto integer = static_cast<std::int64_t>(value);
    if (static_cast<double>(integer) == value) return integer;
  }
  fail(ErrorCode::kInvalidArgument, "expected a whole number between -2^53 and 2^53, got ", value,
       '.');
}

}  // namespace eg
