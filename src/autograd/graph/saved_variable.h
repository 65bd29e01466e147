#pragma once

// A tensor kept for backward.
//
// Four things make it more than a Tensor. It remembers the version of the storage and refuses to
// give out a value that an in-place operation has overwritten since. An output of the node that
// saves it is kept without its history, because node -> output -> node would be a cycle, and gets
// it back on unpacking. It can be released, after which unpacking reports GraphFreed. And hooks may
// keep the value in its place (saved_tensor_hooks.h); what they return is given the metadata of the
// original, and no version is checked, for nobody knows where it has been.

#include <cstdint>
#include <memory>
#include <mutex>

#include "autograd/graph/node.h"
#include "autograd/hooks/saved_tensor_hooks.h"
#include "tensor/tensor.h"

namespace eg {

/// What a saved tensor is to the node that saves it.
enum class SavedAs : std::uint8_t {
  kInput,
  /// A result: kept without its history.
  kOutput,
  /// The result of an in-place change of a view, whose history leads through the base to the node.
  kOutputInPlaceOnView,
};

class SavedVariable {
 public:
  /// Holds nothing; unpacks to an undefined tensor.
  SavedVariable() = default;
  /// Keeps `t`; throws InferenceTensor for a tensor that has no version.
  SavedVariable(const Tensor& t, SavedAs role);

  /// The tensor as it was: the same object if it was an input. `owner` is the node that saved it,
  /// the history of a saved output.
  Tensor unpack(const Node& owner) const;

  /// unpack() for a formula of the owner: a saved output comes without its history when nothing is
  /// recorded. `lock` is that of the owner's mutex (lock_objects) and is let go while hooks run.
  Tensor value(const Node& owner, std::unique_lock<std::mutex>& lock) const;

  /// Lets hooks keep the tensor from now on: packs it, once. `owner` is the node that saved it.
  void register_hooks(const Node& owner, std::unique_ptr<SavedVariableHooks> hooks);

  /// Drops the tensor. What hooks keep may run code of the user's as it goes: see take().
  void release() { (void)take(); }
  /// Releases this and hands out what it held, to be destroyed where no lock is held.
  SavedVariable take() { return std::move(*this); }

  /// True when there was something to keep, released or not.
  bool was_saved() const { return was_saved_; }

 private:
  // What only some saved tensors need. Shared with the copies that are unpacked without a lock.
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
  /// `data_` is the tensor itself, with its metadata.
  bool is_original_ = false;
  bool was_saved_ = false;
};

/// The error of every access to a graph whose buffers are gone.
[[noreturn]] void fail_graph_freed();

}  // namespace eg
