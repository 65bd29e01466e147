#pragma once

// The node of every elementwise op, and the tangent of its result.
//
// The node saves the tensors that the formulas of the required gradients read, and evaluates those
// formulas: in one fused kernel for float32 when nothing is recorded, else with ops on tensors.

#include <array>
#include <span>
#include <vector>

#include "autograd/graph/node.h"
#include "autograd/graph/saved_variable.h"
#include "dispatch/elementwise.h"

namespace eg {

class ElementwiseNode final : public Node {
 public:
  ElementwiseNode(const ElementwiseInfo& info, EdgeList&& edges, std::span<const Tensor> inputs,
                  const op::ParamValues& params);

  std::string name() const override;
  GradList apply(GradList&& grads) override;
  void release_variables() override;
  std::vector<NamedSavedVariable> saved_variables() override;
  std::vector<NamedNumber> saved_numbers() const override;

  /// Saves the inputs that the required gradients read.
  void save_inputs(std::span<const Tensor> inputs);
  /// Saves the output if a required gradient reads it.
  void save_output(const Tensor& output, SavedAs role);
  /// True when a required gradient reads input `i`.
  bool reads_input(std::size_t i) const { return reads_slot(wanted_reads(), i); }

  /// The inputs followed by the output; undefined where no formula reads them.
  using Values = std::array<Tensor, kMaxArity + 1>;

 private:
  using Slots = std::array<SavedVariable, kMaxArity + 1>;

  static bool reads_slot(std::uint32_t reads, std::size_t slot) {
    return (reads >> slot & 1U) != 0;
  }
  std::string_view slot_name(std::size_t slot) const;
  std::uint32_t wanted_reads() const;
  Values unpack(std::uint32_t reads) const;
  Tensor gradient(std::size_t i, Tensor g, const Values& values) const;

  const ElementwiseInfo& info_;
  op::ParamValues params_;
  std::uint32_t real_inputs_ = 0;
  Slots saved_;
};

/// The tangent of `output`: the sum over the inputs of tangent times derivative.
Tensor elementwise_tangent(const ElementwiseInfo& info, std::span<const Tensor> inputs,
                           const Tensor& output, const op::ParamValues& params);

}  // namespace eg
