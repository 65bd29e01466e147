#pragma once

// The op that a call of a kernel is for, as devices name it in errors and warnings.

#include <string_view>

#include "kernels/call.h"

namespace eg::kernel {

/// Where a field tells: else the kernel's own name.
std::string_view op_name(const Call& call);

}  // namespace eg::kernel
