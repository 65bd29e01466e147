// Prints the op table as JSON: names, documentation, arguments, and samples for derived tests. The
// TypeScript functions and their types are generated from it.

#include "ops/op_table.h"

#include <iostream>
#include <sstream>
#include <string>
#include <tuple>

#include "base/spelling.h"
#include "dispatch/handles/arguments.h"
#include "ops/all.h"

namespace eg {
namespace {

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

// A JSON object written field by field.
class Object {
 public:
  template <class Value>
  Object& field(std::string_view name, const Value& value) {
    text_ << (first_ ? "" : ", ") << quoted(name) << ": " << value;
    first_ = false;
    return *this;
  }
  std::string str() const { return '{' + text_.str() + '}'; }

 private:
  std::ostringstream text_;
  bool first_ = true;
};

class Array {
 public:
  void add(const std::string& value) { text_ += (text_.empty() ? "" : ", ") + value; }
  std::string str() const { return '[' + text_ + ']'; }

 private:
  std::string text_;
};

template <class Names>
std::string string_array(const Names& names) {
  Array array;
  for (const std::string_view name : names) array.add(quoted(name));
  return array.str();
}

std::string choices_of(std::string_view separated) {
  Array array;
  std::istringstream stream{std::string(separated)};
  for (std::string choice; std::getline(stream, choice, '|');) array.add(quoted(choice));
  return array.str();
}

Object argument(std::string_view name, std::string_view kind, std::string_view default_value) {
  Object object;
  object.field("name", quoted(camel_case(name))).field("type", quoted(kind));
  if (!default_value.empty()) object.field("default", quoted(default_value));
  return object;
}

std::string_view param_kind(op::Param::Kind kind) {
  switch (kind) {
    case op::Param::Kind::kNumber:
      return "number";
    case op::Param::Kind::kBool:
      return "bool";
    case op::Param::Kind::kChoice:
      return "choice";
  }
  return "";
}

template <class T>
std::string argument_json(const Arg& arg) {
  using Type = ArgumentType<T>;
  Object object = argument(arg.name, Type::kind, arg.default_value);
  if constexpr (requires { Type::choices; }) object.field("choices", string_array(Type::choices));
  return object.str();
}

template <class Op, class Result, class... Args>
Array function_arguments(Result (*)(Args...)) {
  static_assert(sizeof...(Args) == Op::args.size(), "args must name every argument of call");
  Array args;
  std::size_t i = 0;
  (args.add(argument_json<std::decay_t<Args>>(Op::args[i++])), ...);
  return args;
}

template <class Op>
Array elementwise_arguments() {
  if constexpr (kHasOverload<Op>) {
    return function_arguments<Overload<Op>>(&Overload<Op>::call);
  } else {
    Array args;
    for (const std::string_view name : op::kOperandNames<Op>)
      args.add(argument(name, "operand", "").str());
    for (const op::Param& param : op::kParams<Op>) {
      Object arg = argument(param.name, param_kind(param.kind), param.default_value);
      if (!param.choices.empty()) arg.field("choices", choices_of(param.choices));
      args.add(arg.str());
    }
    return args;
  }
}

template <class Op>
Object describe_elementwise(Object object) {
  Array domains;
  for (std::size_t i = 0; i < op::kArity<Op>; ++i) {
    const op::Domain domain = op::domain_of<Op>(i);
    Array bounds;
    bounds.add((std::ostringstream() << domain.low).str());
    bounds.add((std::ostringstream() << domain.high).str());
    domains.add(bounds.str());
  }
  // As a method, it is called on its second argument, as in PyTorch; in place it would write into
  // the first.
  constexpr bool kIsOfSecond = requires { Op::is_called_on_second; };
  const bool in_place =
      op::kDTypeRule<Op> == op::DTypeRule::kBool ? requires { Op::in_place; } : !kIsOfSecond;
  object.field("kind", "\"elementwise\"")
      .field("args", elementwise_arguments<Op>().str())
      .field("returns", "\"tensor\"");
  object.field("inplace", in_place ? "true" : "false");
  object.field("differentiable", op::kIsDifferentiable<Op> ? "true" : "false");
  object.field("domains", domains.str());
  if (op::kDTypeRule<Op> == op::DTypeRule::kInteger) object.field("isOfIntegers", "true");
  if (kIsOfSecond) object.field("isOfSecond", "true");
  return object;
}

template <class Op, class Result, class... Args>
Object describe_function(Object object, Result (*call)(Args...)) {
  std::string_view kind = "function";
  if constexpr (requires { Op::audience; }) {
    if (Op::audience == Audience::kFactory) kind = "factory";
    if (Op::audience == Audience::kInternal) kind = "internal";
  }
  const std::string_view returns = std::is_same_v<Result, Tensor>       ? "tensor"
                                   : std::is_same_v<Result, TensorList> ? "tensors"
                                                                        : "tensor_or_tensors";
  object.field("kind", quoted(kind))
      .field("args", function_arguments<Op>(call).str())
      .field("returns", quoted(returns));
  if constexpr (requires { Op::several_with; })
    object.field("severalWith", quoted(camel_case(Op::several_with)));
  if constexpr (requires { Op::results; }) object.field("results", string_array(Op::results));
  object.field("inplace", kHasInPlaceForm<Op> ? "true" : "false");
  static_assert(
      !std::is_same_v<Result, OneOrMore> || requires { Op::results; },
      "an op that may return several tensors must name its results");
  static_assert(
      requires { Op::samples; } || requires { Op::audience; },
      "a public op must have samples: the derived tests and the list of ops run them");
  if constexpr (requires { Op::samples; }) object.field("samples", string_array(Op::samples));
  return object;
}

template <class Op>
std::string describe(std::string_view family) {
  Object object;
  object.field("name", quoted(Op::doc.name)).field("js", quoted(camel_case(Op::doc.name)));
  object.field("family", quoted(family)).field("doc", quoted(Op::doc.text));
  if constexpr (requires { Op::ignores_nan; }) object.field("ignoresNan", "true");
  if constexpr (requires { Op::spreads_nan; }) object.field("spreadsNan", "true");
  if constexpr (kHasGradientOfItsOwn<Op>) object.field("hasGradientOfItsOwn", "true");
  if constexpr (requires { Op::takes_generator; }) object.field("takesGenerator", "true");
  if constexpr (op::Elementwise<Op>)
    return describe_elementwise<Op>(std::move(object)).str();
  else
    return describe_function<Op>(std::move(object), &Op::call).str();
}

}  // namespace
}  // namespace eg

int main() {
  std::string separator;
  std::cout << "{\"ops\": [\n";
  eg::Families::for_each([&]<class Family>() {
    Family::Ops::for_each([&]<class Op>() {
      std::cout << separator << "  " << eg::describe<Op>(Family::title);
      separator = ",\n";
    });
  });
  std::cout << "\n]}\n";
}
