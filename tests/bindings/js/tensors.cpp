#include "js/tensors.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

#include "ops/op_table.h"
#include "runtime/device.h"

namespace eg::testing::js {
namespace {

// Operands of an op (dispatch/handles/arguments.h).
constexpr double kTensorOperand = 0;
constexpr double kFloatOperand = 1;
// The number that add() multiplies its second operand by.
constexpr double kAlpha = 1;

constexpr int kInPlace = 1;
constexpr int kCaptureGrads = 128;
constexpr double kWholeTensor = -1;

double* address(double word) {
  return reinterpret_cast<double*>(static_cast<std::uintptr_t>(word));
}

int op_id(std::string_view name) {
  const auto table = op_table();
  const auto found = std::ranges::find(table, name, &OpEntry::name);
  if (found == table.end()) ADD_FAILURE() << "no op " << name;
  return static_cast<int>(found - table.begin());
}

std::vector<Tensor> owned(const Words& handles) {
  std::vector<Tensor> tensors;
  for (const double handle : handles) tensors.emplace_back(handle);
  return tensors;
}

OutcomePtr run_later(const Words& words, int input_count, int flags) {
  write(words);
  const auto outcome = std::make_shared<Outcome>();
  const double answer = hold_function([outcome](const Words& told) {
    outcome->is_settled = true;
    if (!told.empty() && told[0] == bindings::kFailed) {
      outcome->error = take_error();
    } else {
      outcome->results = owned(told);
    }
    return Words{};
  });
  checked(native::runGraphAsync(1, input_count, flags, answer));
  return outcome;
}

}  // namespace

Words results(double count) {
  const double* const words = address(checked(native::frame(count)));
  return {words, words + static_cast<std::size_t>(count)};
}

void write(const Words& words) {
  std::ranges::copy(words, address(checked(native::frame(static_cast<double>(words.size())))));
}

Tensor tensor(const std::vector<float>& values) {
  write({static_cast<double>(values.size())});
  Tensor made(checked(native::createTensor(static_cast<int>(DType::kFloat32), 1)));
  auto* const elements =
      reinterpret_cast<float*>(address(checked(native::dataAddress(made.handle()))));
  std::ranges::copy(values, elements);
  if (default_device().is_cpu()) return made;
  return Tensor(checked(native::toDevice(made.handle(), static_cast<int>(default_device().type))));
}

Tensor leaf(const std::vector<float>& values) {
  Tensor made = tensor(values);
  checked(native::setRequiresGrad(made.handle(), true));
  return made;
}

std::vector<double> values(double handle) {
  checked(native::info(handle));
  const Words about = results(12);
  const auto* const elements =
      reinterpret_cast<const float*>(address(checked(native::dataAddress(handle))));
  // A device returns contiguous copies; on the CPU an expanded gradient has a stride of 0.
  const bool has_stride = about[1] == 0 && about[2] == 1;
  const auto stride = static_cast<std::size_t>(has_stride ? about[11] : 1);
  std::vector<double> all(static_cast<std::size_t>(about[3]));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = elements[i * stride];
  return all;
}

std::vector<double> values(const Tensor& tensor) { return values(tensor.handle()); }

std::vector<Tensor> call_for_list(std::string_view op, const Words& words) {
  write(words);
  return owned(results(checked(native::invoke(op_id(op), static_cast<int>(words.size()), 0))));
}

Tensor call(std::string_view op, const Words& words) {
  return std::move(call_for_list(op, words).at(0));
}

Tensor add(const Tensor& a, const Tensor& b) {
  return call("add", {kTensorOperand, a.handle(), kTensorOperand, b.handle(), kAlpha});
}
Tensor mul(const Tensor& a, const Tensor& b) {
  return call("mul", {kTensorOperand, a.handle(), kTensorOperand, b.handle()});
}
Tensor mul(const Tensor& a, double number) {
  return call("mul", {kTensorOperand, a.handle(), kFloatOperand, number});
}
Tensor exp(const Tensor& a) { return call("exp", {kTensorOperand, a.handle()}); }
// No list of dimensions, keepdim, no dtype.
Tensor sum(const Tensor& a) { return call("sum", {a.handle(), -1, 0, -1}); }

void add_(const Tensor& a, const Tensor& b) {
  const Words words{kTensorOperand, a.handle(), kTensorOperand, b.handle(), kAlpha};
  write(words);
  checked(native::invoke(op_id("add"), static_cast<int>(words.size()), kInPlace));
  // Negated if this thread has another handle of `a`.
  native::release(std::abs(results(1)[0]));
}

Tensor grad_of(const Tensor& leaf) { return Tensor(checked(native::grad(leaf.handle()))); }

void set_grad(const Tensor& leaf, double value) { checked(native::setGrad(leaf.handle(), value)); }

void backward(const Tensor& root, int flags) {
  write({root.handle(), kWholeTensor, 0});
  checked(native::runGraph(1, -1, flags));
}

OutcomePtr backward_async(const Tensor& root, int flags) {
  return run_later({root.handle(), kWholeTensor, 0}, -1, flags);
}

OutcomePtr grad_async(const Tensor& root, const std::vector<const Tensor*>& inputs, int flags) {
  Words words{root.handle(), kWholeTensor, 0};
  for (const Tensor* input : inputs) words.insert(words.end(), {input->handle(), kWholeTensor});
  return run_later(words, static_cast<int>(inputs.size()), flags | kCaptureGrads);
}

void settle(const std::vector<OutcomePtr>& outcomes) {
  Realm::own().loop().run_until([&] {
    return std::ranges::all_of(outcomes, [](const auto& one) { return one->is_settled; });
  });
}

void settle(std::initializer_list<OutcomePtr> outcomes) {
  settle(std::vector<OutcomePtr>(outcomes));
}

Hook register_hook(const Tensor& tensor, GradHook hook) {
  // The returned handle belongs to a tensor that stays alive in JavaScript until it is collected.
  const auto kept = std::make_shared<Tensor>();
  const double id = hold_function([hook = std::move(hook), kept](const Words& words) {
    *kept = hook(Tensor(words[0]));
    return kept->is_there() ? Words{kept->handle()} : Words{};
  });
  checked(native::registerHook(tensor.handle(), id));
  return {id};
}

Hook register_post_accumulate_grad_hook(const Tensor& leaf, std::function<void(Tensor)> hook) {
  const double id = hold_function([hook = std::move(hook)](const Words& words) {
    hook(Tensor(words[0]));
    return Words{};
  });
  checked(native::registerPostAccumulateGradHook(leaf.handle(), id));
  return {id};
}

PackedElsewhere::PackedElsewhere(std::function<void()> meanwhile)
    : meanwhile_(std::move(meanwhile)) {}

void PackedElsewhere::push() const {
  struct Elements final : Value {
    std::vector<float> elements;
  };
  const auto pack = [meanwhile = meanwhile_, packed = packed_](const Words& words) {
    meanwhile();
    const Tensor saved(words[0]);
    const std::vector<double> elements = values(saved);
    const auto value = std::make_shared<Elements>();
    value->elements.assign(elements.begin(), elements.end());
    ++*packed;
    return Words{0, Realm::own().hold(value)};
  };
  const auto unpack = [meanwhile = meanwhile_](const Words& words) {
    meanwhile();
    const auto value = std::dynamic_pointer_cast<Elements>(Realm::own().held(words[1]));
    return Words{tensor(value == nullptr ? std::vector<float>() : value->elements).take(), 1};
  };
  checked(native::pushSavedTensorHooks(hold_function(pack), hold_function(unpack)));
}

void Context::save_for_backward(std::initializer_list<const Tensor*> tensors) const {
  Words words;
  for (const Tensor* one : tensors) words.push_back(one->handle());
  write(words);
  checked(native::saveForBackward(id_, static_cast<int>(words.size())));
}

std::vector<Tensor> Context::saved_tensors() const {
  return owned(results(checked(native::savedTensors(id_))));
}

namespace {

Tensor without_grad(const std::function<Tensor()>& body) {
  struct Restored {
    bool was_enabled = native::isGradEnabled();
    ~Restored() { native::setGradEnabled(was_enabled); }
  } restored;
  native::setGradEnabled(false);
  return body();
}

}  // namespace

Tensor apply_function(const std::vector<const Tensor*>& inputs, const Forward& forward,
                      Backward backward) {
  const auto id = std::make_shared<double>(0);
  const auto kept = std::make_shared<std::vector<Tensor>>();
  *id = hold_function([backward = std::move(backward), id, kept](const Words& words) {
    *kept = backward(Context(*id), Tensor(words[0]));
    Words handles;
    for (const Tensor& one : *kept) handles.push_back(one.handle());
    return handles;
  });
  const std::string_view name = "Twice";
  Words words;
  for (const Tensor* input : inputs) words.push_back(input->handle());
  words.insert(words.end(), name.begin(), name.end());
  write(words);
  const Node node(checked(native::beginFunction(*id, static_cast<int>(inputs.size()),
                                                static_cast<int>(name.size()), 0)));
  Tensor raw = without_grad([&] { return forward(Context(*id)); });
  return end_function(*id, std::move(raw));
}

Tensor end_function(double id, Tensor raw) {
  write({raw.handle()});
  checked(native::endFunction(id, 1));
  const double handle = results(1)[0];
  return handle == -1 ? std::move(raw) : Tensor(handle);
}

Tensor square(const Tensor& x) {
  return apply_function(
      {&x},
      [&](const Context& ctx) {
        ctx.save_for_backward({&x, &x});
        return mul(x, x);
      },
      [](const Context& ctx, const Tensor& grad) {
        const std::vector<Tensor> saved = ctx.saved_tensors();
        std::vector<Tensor> grads;
        grads.push_back(mul(add(saved[0], saved[1]), grad));
        return grads;
      });
}

ErrorValue error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Thrown& thrown) {
    if (const auto error = std::dynamic_pointer_cast<ErrorValue>(thrown.value)) return *error;
    ADD_FAILURE() << "Something that is no error was thrown.";
    return {"", ""};
  }
  ADD_FAILURE() << "Nothing was thrown.";
  return {"", ""};
}

}  // namespace eg::testing::js
