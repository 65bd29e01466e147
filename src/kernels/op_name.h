#pragma once

// The name of the op that makes a kernel call, as devices report it in errors and warnings.

#include <string_view>

#include "kernels/call.h"

namespace eg::kernel {

/// Returns the op named by a field of the kernel, or the kernel's own name if there is none.
std::string_view op_name(const Call& call);

}  // namespace eg::kernel
