#pragma once

// A tensor kept for backward.
//
// Three things make it more than a Tensor. It remembers the version of the storage and refuses to
// give out a value that an in-place operation has overwritten since. An output of the node that
// saves it is kept without its history, because node -> output -> node would be a cycle, and gets
// it back on unpacking. And it can be released, after which unpacking reports GraphFreed.

#include <cstdint>

#include "autograd/node.h"
#include "tensor/tensor.h"

namespace eg {

class SavedVariable {
 public:
  /// Holds nothing; unpacks to an undefined tensor.
  SavedVariable() = default;
  /// `is_output`: `t` is a result of the node that will own this.
  SavedVariable(const Tensor& t, bool is_output);

  /// The tensor as it was. `owner` is the node that saved it: the history of a saved output.
  Tensor unpack(const Node& owner) const;

  /// Drops the tensor.
  void release();

 private:
  Tensor data_;
  std::uint32_t saved_version_ = 0;
  std::uint32_t output_nr_ = 0;
  bool is_output_ = false;
  bool released_ = false;
};

/// The error of every access to a graph whose buffers are gone.
[[noreturn]] void fail_graph_freed();

}  // namespace eg
