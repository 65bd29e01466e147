#include "support/sample_cases.h"

#include "dispatch/handles/arguments.h"
#include "ops/all.h"

namespace eg::testing {
namespace {

template <class T>
ArgumentInfo argument_info(const Arg& arg) {
  ArgumentInfo info{ArgumentType<T>::kind, arg.default_value, {}};
  if constexpr (requires { ArgumentType<T>::choices; }) {
    for (const std::string_view choice : ArgumentType<T>::choices) info.choices.push_back(choice);
  }
  return info;
}

template <class Op, class Result, class... Args>
std::vector<ArgumentInfo> arguments_of(Result (*)(Args...)) {
  std::size_t i = 0;
  return {argument_info<std::decay_t<Args>>(Op::args[i++])...};
}

}  // namespace

std::vector<SampleCase> sample_cases() {
  std::vector<SampleCase> cases;
  std::size_t id = 0;
  AllOps::for_each([&]<class Op>() {
    if constexpr (requires { Op::samples; }) {
      std::size_t number = 0;
      for (const std::string_view sample : Op::samples) {
        cases.push_back({std::string(Op::doc.name) + "_" + std::to_string(number++),
                         std::string(sample), id, arguments_of<Op>(&Op::call), kIsViewInPlace<Op>,
                         kHasGradientOfItsOwn<Op>});
      }
    }
    ++id;
  });
  return cases;
}

}  // namespace eg::testing
