#pragma once

#include <limits>

namespace eg {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace eg
