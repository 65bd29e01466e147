#pragma once

// All ops behind one function: what the bindings, and tests that loop over ops, call.

#include <cstdint>
#include <span>
#include <string_view>

#include "dispatch/elementwise.h"
#include "dispatch/precision.h"
#include "tensor/tensor.h"

namespace eg {

/// What an op returns: one tensor most of the time.
using Results = SmallVector<Tensor, 2>;

class ArgumentReader;

/// How an op that is not elementwise is called; null when there is no such form.
struct OpForm {
  /// Reads the arguments and runs the op that `function` stands for.
  Results (*call)(const void* function, ArgumentReader arguments);
  const void* function;
};

struct OpEntry {
  std::string_view name;
  /// For elementwise ops without an overload; else null.
  const ElementwiseInfo& (*elementwise)();
  std::uint8_t param_count;
  /// For all others, as are the forms.
  Precision precision;
  OpForm plain;
  /// The form that changes the first argument.
  OpForm in_place;
};

/// The ops by id.
std::span<const OpEntry> op_table();

/// A number that stands for the names, order and argument kinds of all ops. The JavaScript side
/// knows ops by position and compares it at the start, so that two builds that differ cannot meet.
std::uint32_t op_table_hash();

/// Runs op `id` on the arguments in `words` (see dispatch/arguments.h). `in_place`: the form that
/// writes into its first operand (add_), which elementwise ops have.
Results invoke_op(std::size_t id, const double* words, std::size_t count, bool in_place);

}  // namespace eg
