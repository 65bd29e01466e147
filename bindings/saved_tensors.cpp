// The tensors that nodes save for backward, and JavaScript hooks that control how they are saved.

#include <string>
#include <tuple>

#include <emscripten/bind.h>

#include "autograd/graph/node.h"
#include "autograd/graph/saved_variable.h"
#include "autograd/hooks/saved_tensor_hooks.h"
#include "border.h"
#include "callbacks.h"

namespace eg::bindings {
namespace {

// A pack function receives a tensor and returns [1, handle] for a tensor that C++ is to store, or
// [0, number] for any other value, which JavaScript stores under that number. An unpack function
// receives the result of pack, and returns the handle of a tensor and whether C++ must release that
// handle.
class JsSavedTensorHooks final : public SavedVariableHooks {
 public:
  JsSavedTensorHooks(std::shared_ptr<JsFunction> pack, std::shared_ptr<JsFunction> unpack)
      : pack_(std::move(pack)), unpack_(std::move(unpack)) {}

  void pack(const Tensor& tensor) override {
    std::tie(tensor_, value_) = pack_->call(Arguments(tensor), [](const Words& packed) {
      if (packed[0] != 0) return Packed{handles().get(packed[1]), nullptr};
      return Packed{Tensor(), received<JsValue>(packed[1])};
    });
  }

  Tensor unpack() override {
    Arguments packed;
    if (value_ == nullptr)
      packed.add(1).add(tensor_);
    else
      packed.add(0).add(value_->id());
    return unpack_->call(std::move(packed), [](const Words& unpacked) {
      const Tensor tensor = handles().get(unpacked[0]);
      if (unpacked[1] != 0) handles().release(unpacked[0]);
      return tensor;
    });
  }

 private:
  using Packed = std::tuple<Tensor, std::shared_ptr<JsValue>>;

  std::shared_ptr<JsFunction> pack_;
  std::shared_ptr<JsFunction> unpack_;
  Tensor tensor_;
  std::shared_ptr<JsValue> value_;
};

// The functions of a pair of hooks that JavaScript has passed.
struct ReceivedHooks {
  std::shared_ptr<JsFunction> pack;
  std::shared_ptr<JsFunction> unpack;

  ReceivedHooks(double pack_id, double unpack_id) {
    // Both are owned before anything can fail.
    ReceivedValue pack_value(pack_id);
    ReceivedValue unpack_value(unpack_id);
    pack = pack_value.as<JsFunction>();
    unpack = unpack_value.as<JsFunction>();
  }
  std::unique_ptr<JsSavedTensorHooks> make() const {
    return std::make_unique<JsSavedTensorHooks>(pack, unpack);
  }
};

double disable_hooks(std::string message) {
  return guard<StackNeed::kToEnd>([&] {
    disable_saved_tensor_hooks(std::move(message));
    return 0;
  });
}

NamedSavedVariable saved_variable(const IntrusivePtr<Node>& node, int i) {
  return node->saved_variables().at(static_cast<std::size_t>(i));
}

// Returns the names of the saved tensors, one per line.
std::string saved_names(Handle handle) {
  std::string names;
  guard([&] {
    for (const auto& saved : handles().get_node(handle)->saved_variables()) {
      names.append(saved.name).append("\n");
    }
    return 0;
  });
  return names;
}

// Returns the saved numbers, one per line, with a tab between name and value.
std::string saved_numbers(Handle handle) {
  std::string text;
  guard([&] {
    for (const auto& [name, value] : handles().get_node(handle)->saved_numbers()) {
      text.append(name).append("\t");
      append_number(text, value);
      text += '\n';
    }
    return 0;
  });
  return text;
}

}  // namespace

// Pushes hooks on saved tensors; bindings/saved_tensors.cpp describes their arguments and results.
EG_EXPORT("pushSavedTensorHooks")
double push_hooks(double pack_id, double unpack_id) {
  return guard<StackNeed::kToEnd>([&] {
    push_saved_tensor_hooks([hooks = ReceivedHooks(pack_id, unpack_id)] { return hooks.make(); });
    return 0;
  });
}

EG_EXPORT("popSavedTensorHooks")
void pop_hooks() {
  const NativeCall call(StackNeed::kNone);
  pop_saved_tensor_hooks();
}

EG_EXPORT("enableSavedTensorHooks")
void enable_hooks() {
  const NativeCall call(StackNeed::kNone);
  enable_saved_tensor_hooks();
}

EG_EXPORT("savedTensor")
double saved_tensor(Handle handle, int i) {
  return guard([&] {
    const IntrusivePtr<Node> node = handles().get_node(handle);
    return return_tensor(saved_variable(node, i).variable->unpack(*node));
  });
}

// Writes all saved tensors of a node; returns their number.
EG_EXPORT("nodeSavedTensors")
double node_saved_tensors(Handle handle) {
  return guard([&] {
    const IntrusivePtr<Node> node = handles().get_node(handle);
    TensorList tensors;
    for (const NamedSavedVariable& saved : node->saved_variables()) {
      tensors.push_back(saved.variable->unpack(*node));
    }
    return return_tensors(tensors);
  });
}

EG_EXPORT("registerSavedHooks")
double register_hooks(Handle handle, int i, double pack_id, double unpack_id) {
  return guard([&] {
    const ReceivedHooks hooks(pack_id, unpack_id);
    const IntrusivePtr<Node> node = handles().get_node(handle);
    saved_variable(node, i).variable->register_hooks(*node, hooks.make());
    return 0;
  });
}

EMSCRIPTEN_BINDINGS(saved_tensors) {
  emscripten::function("eg_disableSavedTensorHooks", &disable_hooks);
  emscripten::function("eg_savedNames", &saved_names);
  emscripten::function("eg_savedNumbers", &saved_numbers);
}

}  // namespace eg::bindings
