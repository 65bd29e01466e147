#pragma once

// A tensor saved for backward.
//
// Four things distinguish it from a Tensor. It remembers the version of the storage and refuses to
// return a value that an in-place operation has overwritten since. An output of the node that saves
// it is stored without its history, because node -> output -> node would be a cycle, and gets the
// history back when it is unpacked. It can be released, after which unpacking throws GraphFreed.
// And hooks may store the value instead (saved_tensor_hooks.h): what they return gets the metadata
// of the original, without a version check, because the value may come from anywhere.

#include <cstdint>
#include <memory>
#include <mutex>

#include "autograd/graph/node.h"
#include "autograd/hooks/saved_tensor_hooks.h"
#include "tensor/tensor.h"

namespace eg {

/// The role of a saved tensor in the operation that saves it.
enum class SavedAs : std::uint8_t {
  kInput,
  /// A result; stored without its history.
  kOutput,
  /// The result of an in-place change of a view, whose history leads through the base to the node.
  kOutputInPlaceOnView,
};

class SavedVariable {
 public:
  /// Holds nothing; unpacks to an undefined tensor.
  SavedVariable() = default;
  /// Saves `t`; throws InferenceTensor for a tensor without a version.
  SavedVariable(const Tensor& t, SavedAs role);

  /// Returns the tensor as it was: the same object if it was an input. `owner` is the node that
  /// saved it, which becomes the history of a saved output.
  Tensor unpack(const Node& owner) const;

  /// unpack() for a formula of the owner: a saved output is returned without its history when
  /// nothing is being recorded. `lock` holds the owner's mutex (lock_objects) and is released while
  /// hooks run.
  Tensor value(const Node& owner, std::unique_lock<std::mutex>& lock) const;

  /// Makes hooks store the tensor from now on: packs it once. `owner` is the node that saved it.
  void register_hooks(const Node& owner, std::unique_ptr<SavedVariableHooks> hooks);

  /// Drops the tensor. Destroying what hooks stored may run user code: see take().
  void release() { (void)take(); }
  /// Releases this and returns what it held, so that the caller can destroy it without holding a
  /// lock.
  SavedVariable take() { return std::move(*this); }

  /// Returns true if a tensor was saved, even if it has been released since.
  bool was_saved() const { return was_saved_; }

 private:
  // State that only some saved tensors need. Shared with the copies that are unpacked without a
  // lock.
  struct Extra;

  Extra& ensure_extra();
  SavedVariable locked_copy(const Node& owner) const;
  void check_can_register() const;
  void save_history(const Tensor& t);
  void pack(std::unique_ptr<SavedVariableHooks> hooks, const Tensor& t);
  void check_version(const Node* maker) const;
  IntrusivePtr<Node> history(const Node& owner) const;
  Tensor unpack_unlocked(const Node& owner) const;

  Tensor data_;
  std::shared_ptr<Extra> extra_;
  std::uint32_t saved_version_ = 0;
  std::uint32_t output_nr_ = 0;
  SavedAs role_ = SavedAs::kInput;
  bool is_leaf_ = true;
  /// `data_` is the original tensor, including its metadata.
  bool is_original_ = false;
  bool was_saved_ = false;
};

/// Throws the error of every access to a graph whose saved tensors have been freed.
[[noreturn]] void fail_graph_freed();

}  // namespace eg
