#pragma once

// The kernels, with the dtypes of their memory, and the formulas that the GPU's player supports.
// The player reports them as text when it opens its device.

#include <string>
#include <string_view>
#include <vector>

#include "base/name_table.h"
#include "kernels/call.h"

namespace eg::bindings {

class GpuSupport {
 public:
  /// Parses one entry per line. "softmax 1 1" is a kernel with a set of dtypes for each of its
  /// memory arguments, "copy * 255" a kernel with one set for all of them, and "=add" a formula. A
  /// set is a bit mask indexed by dtype.
  void read(const std::string& lines);
  /// Whether the player supports the kernel of `call` with its dtypes and its formula.
  bool has(const kernel::Call& call) const;

 private:
  struct Kernel {
    bool is_for_all = false;
    std::vector<unsigned> dtypes;
  };

  void read_line(std::string_view line);

  NameTable kernel_names_;
  std::vector<Kernel> kernels_;  // at their number in kernel_names_, which counts from 1, minus 1
  NameTable formulas_;
};

}  // namespace eg::bindings
