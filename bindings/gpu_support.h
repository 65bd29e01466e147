#pragma once

// The capabilities of the GPU's player: the kernels that it supports, with the dtypes of their
// memory, and the formulas. The player reports them as text when it opens its device.

#include <string>
#include <string_view>
#include <vector>

#include "base/name_table.h"
#include "kernels/call.h"

namespace eg::bindings {

class GpuSupport {
 public:
  /// Parses lines of a name and bit sets of dtypes, in which the bit's position is the dtype's
  /// code: "softmax 1 1" has a set for each memory in order, "copy * 255" one set for all memory,
  /// and "=add" names a formula.
  void read(const std::string& lines);
  bool has(const kernel::Call& call) const;

 private:
  struct Kernel {
    bool is_for_all = false;
    std::vector<unsigned> dtypes;
  };

  void read_line(std::string_view line);

  NameTable kernel_names_;
  std::vector<Kernel> kernels_;  // the kernel with number n in kernel_names_ is at index n - 1
  NameTable formulas_;
};

}  // namespace eg::bindings
