#pragma once

// What the GPU's player can play: kernels, with the dtypes of their memory, and formulas. The
// player says so in text when it opens its device.

#include <string>
#include <string_view>
#include <vector>

#include "base/name_table.h"
#include "kernels/call.h"

namespace eg::bindings {

class GpuSupport {
 public:
  /// Reads lines of a name and numbers, bits by the place of a dtype: "softmax 1 1" for each memory
  /// in turn, "copy * 255" for all of it, and "=add" for a formula.
  void read(const std::string& lines);
  bool has(const kernel::Call& call) const;

 private:
  struct Kernel {
    bool is_for_all = false;
    std::vector<unsigned> dtypes;
  };

  void read_line(std::string_view line);

  NameTable kernel_names_;
  std::vector<Kernel> kernels_;  // by their numbers there, which begin at 1
  NameTable formulas_;
};

}  // namespace eg::bindings
