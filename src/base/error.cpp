#include "base/error.h"

#include <array>

namespace eg {

std::string_view error_code_name(ErrorCode code) {
  static constexpr std::array<std::string_view, 23> kNames{
      "NotInitialized",  "InvalidArgument",    "ShapeMismatch",    "DtypeMismatch",
      "DeviceMismatch",  "IndexOutOfRange",    "NonScalarBackward", "NoGradPath",
      "GraphFreed",      "ModifiedInPlace",    "LeafInPlace",      "ViewInPlace",
      "UnusedInput",     "InvalidGradient",    "InferenceTensor",  "NotDifferentiable",
      "AnomalyNan",      "OutOfMemory",        "DeviceUnavailable", "DeviceLost",
      "WouldBlock",      "Disposed",           "Internal",
  };
  static_assert(kNames.size() == static_cast<std::size_t>(ErrorCode::kInternal) + 1);
  return kNames[static_cast<std::size_t>(code)];
}

}  // namespace eg
