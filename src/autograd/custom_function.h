#pragma once

// Functions with a user-defined forward and backward.
//
// The node of such a function is also the context that its forward and backward use. A call has
// three steps: begin_forward() inspects the arguments, the user's forward runs without recording,
// and end_forward() turns its raw results into outputs whose history is this node. What forward did
// with its arguments decides how:
//
//   a new tensor                   gets this node as its history
//   an unchanged argument          a view of it gets this node; the argument itself is unchanged
//   an argument marked dirty       its own history continues with this node
//   marked non-differentiable      has no history
//
// A result that is a view may not be changed in place later: the rewritten history would bypass the
// user's backward.
//
// If an argument has a tangent (forward_ad.h), forward runs without the dual level, and
// end_forward() gives the outputs the tangents that the user's jvp() computes from those of the
// arguments (custom_function_tangents.cpp).
//
// Function<T> below is the C++ interface; bindings derive a node whose backward() calls their
// language.

#include <concepts>
#include <initializer_list>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "autograd/forward_ad.h"
#include "autograd/grad_mode.h"
#include "autograd/graph/node.h"
#include "autograd/graph/saved_variable.h"
#include "tensor/tensor.h"

namespace eg {

class CustomFunctionNode : public Node {
 public:
  /// `function_name` is the user's name for the function; the node appends "Backward".
  explicit CustomFunctionNode(std::string function_name);

  bool takes_sparse_gradients() const override { return true; }

  /// Notes the arguments; those that are not tensors are passed as undefined tensors.
  void begin_forward(const TensorList& arguments);
  /// Turns the results of forward (undefined if not a tensor) into the outputs of the call.
  TensorList end_forward(const TensorList& raw_outputs);

  /// Saves tensors for backward, replacing those saved before; undefined ones are allowed.
  void save_for_backward(TensorList tensors) { to_save_ = std::move(tensors); }
  /// Saves tensors for jvp(), which is called by end_forward(); undefined ones are allowed.
  void save_for_forward(TensorList tensors) { saved_for_forward_ = std::move(tensors); }
  /// Declares the arguments that forward changes in place; all of them must be returned.
  void mark_dirty(TensorList tensors) { dirty_ = std::move(tensors); }
  /// Declares the results that have no gradient.
  void mark_non_differentiable(TensorList tensors) { non_differentiable_ = std::move(tensors); }
  /// Sets whether backward and jvp receive zeros instead of undefined tensors; true by default.
  void set_materialize_grads(bool value) { materialize_grads_ = value; }
  /// Makes backward run without recording, and makes differentiating its results throw.
  void set_once_differentiable(bool value) { once_differentiable_ = value; }
  /// Returns true when the gradient of argument `i` is needed.
  bool needs_input_grad(std::size_t i) const;
  /// Returns the tensors passed to save_for_backward, or inside jvp() those passed to
  /// save_for_forward; throws GraphFreed after the graph was freed.
  TensorList saved_tensors() const;
  /// True if an argument has a tangent: forward must then run without the dual level.
  bool has_tangents() const { return has_tangents_; }

  std::vector<NamedSavedVariable> saved_variables() override;
  std::string name() const override { return function_name_ + "Backward"; }
  GradList apply(GradList&& grads) final;
  void release_variables() override;

 protected:
  /// The user's backward: receives one gradient per output and returns one per argument.
  virtual GradList backward(GradList grads) = 0;
  /// True if the function has a jvp().
  virtual bool has_jvp() const { return false; }
  /// The user's jvp: receives one tangent per argument and returns one per output.
  virtual TensorList jvp(TensorList tangents);

 private:
  struct Argument {
    Tensor tensor;  ///< held from begin_forward to end_forward
    bool is_tensor = false;
    bool requires_grad = false;
    std::uint32_t edge = 0;
  };
  class ForwardEnd;
  struct ArgumentTangent {
    Tensor tangent;
    std::uint32_t version = 0;  ///< before jvp()
  };
  using ArgumentTangents = std::vector<ArgumentTangent>;

  Tensor wrap_output(const Tensor& raw, std::size_t output_count);
  Tensor without_history(const Tensor& raw, bool is_argument, bool is_dirty) const;
  Tensor with_history(const Tensor& raw, bool is_argument, bool is_dirty, std::size_t output_count);
  void check_dirty_returned(const TensorList& raw_outputs) const;
  static bool contains(const TensorList& list, const Tensor& t);
  bool is_argument(const Tensor& t) const;
  ArgumentTangents argument_tangents() const;
  TensorList call_jvp(const ArgumentTangents& given);
  void set_tangents(const TensorList& raw_outputs, const TensorList& outputs);
  void set_tangent_in_place(std::size_t i, const Tensor& output, const Tensor& tangent,
                            const ArgumentTangents& given) const;
  bool set_tangent_of_view(std::size_t i, const Tensor& output, const Tensor& tangent,
                           const ArgumentTangents& given) const;
  void check_tangent(std::size_t i, const Tensor& output, const Tensor& tangent) const;
  template <class... Parts>
  [[noreturn]] void fail_tangent(std::size_t i, const Parts&... parts) const;
  SavedAs role_of(const Tensor& t) const;
  void materialize(GradList& grads) const;
  GradList select_tensor_gradients(GradList results) const;
  void forbid_second_derivative(GradList& results) const;

  std::string function_name_;
  std::vector<Argument> arguments_;
  std::vector<std::optional<InputMetadata>> outputs_;
  TensorList to_save_;
  TensorList dirty_;
  TensorList non_differentiable_;
  TensorList saved_for_forward_;
  std::vector<SavedVariable> saved_;
  bool is_recording_ = false;
  bool forward_done_ = false;
  bool materialize_grads_ = true;
  bool once_differentiable_ = false;
  bool released_ = false;
  bool has_tangents_ = false;
  bool is_in_jvp_ = false;
};

/// A custom function in C++:
///
///   struct Cube : Function<Cube> {
///     static constexpr std::string_view name = "Cube";
///     static Tensor forward(Context& ctx, const Tensor& x) { ctx.save_for_backward({x}); ... }
///     static GradList backward(Context& ctx, GradList grads) { ... ctx.saved_tensors()[0] ... }
///   };
///   Tensor y = Cube::apply(x);
///
/// forward may return a Tensor or a TensorList, and take arguments that are not tensors. `State`
/// holds what it stores besides tensors. With a static `TensorList jvp(Context&, TensorList
/// tangents)` it also works in forward mode.
template <class T, class State = std::monostate>
class Function {
 public:
  class Context : public CustomFunctionNode {
   public:
    Context() : CustomFunctionNode(std::string(T::name)) {
      if constexpr (requires { T::once_differentiable; }) {
        set_once_differentiable(T::once_differentiable);
      }
    }
    State state;

   protected:
    GradList backward(GradList grads) override { return T::backward(*this, std::move(grads)); }
    bool has_jvp() const override { return kHasJvp; }
    TensorList jvp(TensorList tangents) override {
      if constexpr (kHasJvp) {
        return T::jvp(*this, std::move(tangents));
      } else {
        return CustomFunctionNode::jvp(std::move(tangents));
      }
    }

   private:
    static constexpr bool kHasJvp =
        requires(Context& ctx, TensorList tangents) { T::jvp(ctx, std::move(tangents)); };
  };

  template <class... Args>
  static auto apply(Args&&... args) {
    const auto ctx = make_intrusive<Context>();
    ctx->begin_forward({as_argument(args)...});
    const auto raw = [&] {
      const NoGradGuard no_grad;
      std::optional<NoDualLevelGuard> no_level;
      if (ctx->has_tangents()) no_level.emplace();
      return T::forward(*ctx, std::forward<Args>(args)...);
    }();
    if constexpr (std::same_as<std::remove_const_t<decltype(raw)>, Tensor>) {
      return ctx->end_forward({raw})[0];
    } else {
      return ctx->end_forward(raw);
    }
  }

 private:
  template <class Argument>
  static Tensor as_argument(const Argument& argument) {
    if constexpr (std::same_as<Argument, Tensor>) {
      return argument;
    } else {
      return {};
    }
  }
};

}  // namespace eg
