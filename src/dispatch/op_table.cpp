#include "dispatch/op_table.h"

#include <string_view>
#include <tuple>

#include "base/error.h"
#include "dispatch/all_ops.h"
#include "dispatch/arguments.h"
#include "dispatch/in_place.h"

namespace eg {
namespace {

Results to_results(const Tensor& tensor) { return {tensor}; }
Results to_results(const TensorList& tensors) { return Results(tensors.begin(), tensors.end()); }
Results to_results(const OneOrMore& result) { return to_results(result.tensors); }

template <class Result, class... Args>
Results call_function(Result (*function)(Args...), ArgumentReader reader) {
  // Braces: the arguments are read in order.
  std::tuple<std::decay_t<Args>...> args{ArgumentType<std::decay_t<Args>>::read(reader)...};
  return to_results(std::apply(function, std::move(args)));
}

template <class Op, class Result, class... Args>
Results call_in_place(Result (* /*call*/)(Args...), ArgumentReader reader) {
  const std::tuple<std::decay_t<Args>...> args{ArgumentType<std::decay_t<Args>>::read(reader)...};
  return {std::apply([](const auto&... each) { return apply_in_place<Op>(each...); }, args)};
}

template <class Op>
constexpr FunctionCall in_place_form() {
  if constexpr (kHasInPlaceForm<Op>) {
    return [](const double* words, std::size_t count) {
      return call_in_place<Op>(&Op::call, ArgumentReader(words, count));
    };
  } else {
    return nullptr;
  }
}

template <class Op>
constexpr OpEntry entry() {
  if constexpr (op::Elementwise<Op>) {
    return {Op::doc.name, &elementwise_info<Op>, op::kParamCount<Op>, nullptr, nullptr};
  } else {
    return {Op::doc.name, nullptr, 0,
            [](const double* words, std::size_t count) {
              return call_function(&Op::call, ArgumentReader(words, count));
            },
            in_place_form<Op>()};
  }
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
    if constexpr (op::Elementwise<Op>) {
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

}  // namespace

std::span<const OpEntry> op_table() { return kTable; }

std::uint32_t op_table_hash() {
  static constexpr std::uint32_t hash = hash_ops();
  return hash;
}

Results invoke_op(std::size_t id, const double* words, std::size_t count, bool in_place) {
  check(id < kTable.size(), ErrorCode::kInvalidArgument, "invoke", "no op number ", id, '.');
  const OpEntry& entry = kTable[id];
  if (entry.elementwise != nullptr)
    return {invoke_elementwise(entry, ArgumentReader(words, count), in_place)};
  const FunctionCall function = in_place ? entry.in_place : entry.function;
  check(function != nullptr, ErrorCode::kInvalidArgument, entry.name, "has no in-place form.");
  try {
    return function(words, count);
  } catch (const Error& error) {
    // What helps several ops does not know for which one it failed.
    const std::string_view message = error.what();
    if (message.starts_with('[')) throw;
    throw Error(error.code(), join_text('[', entry.name, "] ", message));
  }
}

}  // namespace eg
