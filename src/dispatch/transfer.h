#pragma once

// Values between the host and devices. Ops look into no tensor's memory, for it may be a device's:
// where they need a value at once they ask here, which waits for the device, and what they have
// computed on the host they bring to the device. On the CPU neither copies anything.

#include "tensor/tensor.h"

namespace eg {

/// The values on the CPU, not recorded: `t` itself if it is there, else a row-major copy, when all
/// that was called before has been computed.
Tensor on_host(const Tensor& t);
/// The values on `device`, not recorded: `t` itself if it is there, else a row-major copy.
Tensor moved(const Tensor& t, Device device);
/// The value of a 0-dim bool tensor.
bool is_true(const Tensor& t);

/// Writes values over `destination`, of which one of the two is on another device than the other;
/// broadcast and converted. Not recorded, no version change.
void transfer(const Tensor& destination, const Tensor& source);

}  // namespace eg
