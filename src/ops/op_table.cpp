// compile: compact

#include "ops/op_table.h"

#include <string_view>
#include <tuple>

#include "base/error.h"
#include "dispatch/handles/arguments.h"
#include "dispatch/in_place.h"
#include "dispatch/own_result.h"
#include "ops/all.h"
#include "ops/op_precision.h"

namespace eg {
namespace {

Results to_results(Tensor&& tensor) {
  Results results;
  results.push_back(std::move(tensor));
  return results;
}
Results to_results(TensorList&& tensors) {
  return Results(std::move_iterator(tensors.begin()), std::move_iterator(tensors.end()));
}
Results to_results(OneOrMore&& result) { return to_results(std::move(result.tensors)); }

// One instantiation serves all ops of a signature: `function` points to a pointer to the op.
template <class Result, class... Args>
Results call_function(const void* function, ArgumentReader reader) {
  // Braces guarantee that the arguments are read in order.
  std::tuple<std::decay_t<Args>...> args{ArgumentType<std::decay_t<Args>>::read(reader)...};
  return to_results(std::apply(*static_cast<Result (*const*)(Args...)>(function), std::move(args)));
}

template <class Result, class... Args>
constexpr OpForm form_of(Result (*const* function)(Args...)) {
  return {&call_function<Result, Args...>, static_cast<const void*>(function)};
}

template <class Op, class... Args>
Tensor call_in_place(Args... args) {
  return apply_in_place<Op>(args...);
}

template <class Op, class Result, class... Args>
constexpr auto in_place_form(Result (* /*call*/)(Args...)) {
  return &call_in_place<Op, Args...>;
}

template <class Op>
constexpr auto kCall = &Op::call;
template <class Op>
constexpr auto kCallInPlace = in_place_form<Op>(&Op::call);

template <class Op>
constexpr auto kOverloadInPlace = &Overload<Op>::call_in_place;

template <class Op>
constexpr OpForm overload_in_place() {
  if constexpr (requires { &Overload<Op>::call_in_place; })
    return form_of(&kOverloadInPlace<Op>);
  else
    return {};
}

template <class Op>
constexpr OpEntry entry() {
  OpEntry made{.name = Op::doc.name, .sparse = Sparse::kTaken, .precision = kPrecision<Op>};
  if constexpr (kHasOverload<Op>) {
    made.plain = form_of(&kCall<Overload<Op>>);
    made.in_place = overload_in_place<Op>();
  } else if constexpr (op::Elementwise<Op>) {
    made.elementwise = &elementwise_info<Op>;
    made.param_count = op::kParamCount<Op>;
  } else {
    if (!kTakesSparse<Op>) made.sparse = Sparse::kRefused;
    made.plain = form_of(&kCall<Op>);
    if constexpr (kHasInPlaceForm<Op>) made.in_place = form_of(&kCallInPlace<Op>);
  }
  return made;
}

template <class... Ops>
constexpr std::array<OpEntry, sizeof...(Ops)> make_table(TypeList<Ops...>) {
  return {entry<Ops>()...};
}

constexpr auto kTable = make_table(AllOps{});

// FNV-1a.
class Hash {
 public:
  constexpr void add(std::string_view text) {
    for (const char c : text) add_byte(static_cast<unsigned char>(c));
    add_byte(0);
  }
  constexpr std::uint32_t value() const { return value_; }

 private:
  constexpr void add_byte(unsigned char byte) { value_ = (value_ ^ byte) * 16777619U; }

  std::uint32_t value_ = 2166136261U;
};

template <class Result, class... Args>
constexpr void hash_arguments(Hash& hash, Result (*)(Args...)) {
  (hash.add(ArgumentType<std::decay_t<Args>>::kind), ...);
}

constexpr std::uint32_t hash_ops() {
  Hash hash;
  AllOps::for_each([&]<class Op>() {
    hash.add(Op::doc.name);
    if constexpr (kHasOverload<Op>) {
      hash_arguments(hash, &Overload<Op>::call);
    } else if constexpr (op::Elementwise<Op>) {
      for (const op::Param& param : op::kParams<Op>) hash.add(param.name);
    } else {
      hash_arguments(hash, &Op::call);
    }
  });
  return hash.value();
}

Tensor invoke_elementwise(const OpEntry& entry, ArgumentReader reader, bool in_place) {
  const ElementwiseInfo& info = entry.elementwise();
  SmallVector<Tensor, kMaxArity> inputs;
  for (std::size_t i = 0; i < info.arity; ++i) inputs.push_back(reader.operand().tensor());
  op::ParamValues params{};
  for (std::size_t i = 0; i < entry.param_count; ++i) params[i] = reader.word();
  if (!in_place) return apply_elementwise(info, inputs, params);
  if (info.dtype_rule != op::DTypeRule::kBool)
    return apply_elementwise_in_place(info, inputs, params);
  return write_result(info.name, {inputs.data(), 1}, [&](const Tensor& t) {
    inputs[0] = t;
    return apply_elementwise(info, inputs, params);
  });
}

Results call_form(const OpEntry& entry, const OpForm& form, const double* words, std::size_t count,
                  bool in_place) {
  const Precision own = entry.precision;
  // A tensor that is changed in place keeps its dtype, so autocast does not apply.
  CallOperands operands(in_place && own == Precision::kLower ? Precision::kComputed : own);
  CallOperands* const prepared = own == Precision::kMoves ? nullptr : &operands;
  Results results = form.call(form.function, ArgumentReader(words, count, entry.sparse, prepared));
  if (operands.has_stored()) [[unlikely]]
    operands.finish(results);
  // A result with other owners is an argument of the op and stays as it is.
  for (const Tensor& result : results) {
    if (result.defined() && result.use_count() == 1) own_result(result);
  }
  return results;
}

}  // namespace

std::span<const OpEntry> op_table() { return kTable; }

std::uint32_t op_table_hash() {
  static constexpr std::uint32_t hash = hash_ops();
  return hash;
}

Results invoke_op(std::size_t id, const double* words, std::size_t count, bool in_place) {
  check(id < kTable.size(), ErrorCode::kInvalidArgument, "invoke", "there is no op number ", id,
        '.');
  const OpEntry& entry = kTable[id];
  return named(entry.name, [&]() -> Results {
    if (entry.elementwise != nullptr)
      return to_results(
          invoke_elementwise(entry, ArgumentReader(words, count, entry.sparse), in_place));
    const OpForm& form = in_place ? entry.in_place : entry.plain;
    check(form.call != nullptr, ErrorCode::kInvalidArgument, entry.name, "has no in-place form.");
    return call_form(entry, form, words, count, in_place);
  });
}

StackNeed stack_need(std::size_t id) {
  const bool is_elementwise = id < kTable.size() && kTable[id].elementwise != nullptr;
  // Tangents are computed by further ops.
  const bool is_alone = is_elementwise && autograd_state().dual_level == nullptr;
  return is_alone ? StackNeed::kLittle : StackNeed::kMuch;
}

}  // namespace eg
