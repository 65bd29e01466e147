#pragma once

// Transfers values between host and devices. Ops never read a tensor's memory directly, because it
// may be device memory. An op that needs a value immediately uses these functions, which wait for
// the device; what it computes on the host it moves back. On the CPU neither copies anything.

#include "tensor/tensor.h"

namespace eg {

/// The values on the CPU, not recorded: `t` itself if it is there, else a row-major copy made after
/// all earlier work has been computed.
Tensor on_host(const Tensor& t);
/// The values on `device`, not recorded: `t` itself if it is there, else a row-major copy.
Tensor moved(const Tensor& t, Device device);
/// The value of a 0-dim bool tensor.
bool is_true(const Tensor& t);

/// Writes the values of `source`, broadcast and converted, to `destination` on a different device.
/// Not recorded, no version change.
void transfer(const Tensor& destination, const Tensor& source);

}  // namespace eg
