#pragma once

// All ops through one function, which the bindings and the tests that loop over ops call.

#include <cstdint>
#include <span>
#include <string_view>

#include "dispatch/elementwise.h"
#include "dispatch/precision.h"
#include "runtime/native_stack.h"
#include "tensor/tensor.h"

namespace eg {

/// What an op returns; usually one tensor.
using Results = SmallVector<Tensor, 2>;

class ArgumentReader;
enum class Sparse : std::uint8_t;

/// How an op that is not elementwise is called; null when there is no such form.
struct OpForm {
  /// Reads the arguments and runs the op that `function` points to.
  Results (*call)(const void* function, ArgumentReader arguments);
  const void* function;
};

struct OpEntry {
  std::string_view name;
  /// Set for elementwise ops without an overload, else null.
  const ElementwiseInfo& (*elementwise)() = nullptr;
  std::uint8_t param_count = 0;
  /// Whether its tensors may be sparse.
  Sparse sparse;
  /// The precision and the forms are set for all other ops.
  Precision precision;
  OpForm plain = {};
  /// The in-place form, which changes the first argument.
  OpForm in_place = {};
};

/// The ops by id.
std::span<const OpEntry> op_table();

/// A hash of the names, order and argument kinds of all ops. The JavaScript side identifies ops by
/// position and compares the hash at startup, so that it never runs with an engine of another
/// build.
std::uint32_t op_table_hash();

/// Runs op `id` on the arguments in `words` (see dispatch/handles/arguments.h), or with `in_place`
/// the form that writes into its first operand (add_). Throws InvalidArgument if the op has no such
/// form.
Results invoke_op(std::size_t id, const double* words, std::size_t count, bool in_place);

/// How much of the stack op `id` needs.
StackNeed stack_need(std::size_t id);

}  // namespace eg
