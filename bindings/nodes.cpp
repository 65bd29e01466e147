// Inspecting the nodes of the backward graph.

#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

#include <emscripten/bind.h>

#include "autograd/anomaly_mode.h"
#include "autograd/autograd.h"
#include "autograd/graph/accumulate_grad.h"
#include "autograd/graph/variable.h"
#include "border.h"
#include "callbacks.h"

namespace eg::bindings {
namespace {

// Writes a new handle and the node's address, by which JavaScript recognizes a node that it already
// has an object for.
double return_node(const IntrusivePtr<Node>& node) {
  frame()[0] = node == nullptr ? 0 : handles().insert(node);
  frame()[1] = static_cast<double>(reinterpret_cast<std::uintptr_t>(node.get()));
  return 2;
}

// The objects that JavaScript stores with a node, at most one per thread.
struct NodeObjects {
  std::mutex mutex;
  std::vector<std::unique_ptr<JsValue>> of_threads;
};

std::string node_name(Handle handle) {
  std::string name;
  guard([&] {
    name = handles().get_node(handle)->name();
    return 0;
  });
  return name;
}

// Returns the stack at which a node was made in anomaly mode.
std::string forward_stack(Handle handle) {
  std::string stack;
  guard([&] {
    if (const AnomalyMetadata* made = handles().get_node(handle)->metadata()) {
      stack = made->forward_stack;
    }
    return 0;
  });
  return stack;
}

}  // namespace

// Writes a handle of the node and its address; 0 for a leaf.
EG_EXPORT("gradFn")
double grad_fn_of(Handle handle) {
  return guard([&] { return return_node(grad_fn(handles().get(handle))); });
}

// Like gradFn, but for a leaf writes its accumulator.
EG_EXPORT("gradientNode")
double gradient_node(Handle handle) {
  return guard([&] { return return_node(gradient_edge(handles().get(handle)).function); });
}

// Like gradientNode, but also writes the output's index; fails for a tensor that requires no
// gradient.
EG_EXPORT("gradientEdge")
double gradient_edge_of(Handle handle) {
  return guard([&] {
    const Edge edge = get_gradient_edge(handles().get(handle));
    return_node(edge.function);
    frame()[2] = edge.input_nr;
    return 3;
  });
}

// Returns the leaf of an accumulator, or 0.
EG_EXPORT("nodeVariable")
double node_variable(Handle handle) {
  return guard([&] {
    const Tensor* leaf = handles().get_node(handle)->leaf();
    return leaf == nullptr ? 0 : return_tensor(*leaf);
  });
}

// Writes the handle, address and index of every edge; returns the number of words.
EG_EXPORT("nextFunctions")
double next_functions(Handle handle) {
  return guard([&] {
    const EdgeList& edges = handles().get_node(handle)->next_edges();
    std::vector<double>& words = frame(3 * edges.size());
    NewHandles made(edges.size());
    std::size_t count = 0;
    for (const Edge& edge : edges) {
      words[count++] = edge.is_valid() ? made.add(handles().insert(edge.function)) : 0;
      words[count++] = static_cast<double>(reinterpret_cast<std::uintptr_t>(edge.function.get()));
      words[count++] = edge.input_nr;
    }
    made.keep();
    return count;
  });
}

// Writes for each slot of a gradient its dtype, device, number of dimensions and sizes; returns the
// number of words.
EG_EXPORT("inputMetadata")
double input_metadata(Handle handle) {
  return guard([&] {
    const IntrusivePtr<Node>& node = handles().get_node(handle);
    std::size_t count = 0;
    for (std::size_t i = 0; i < node->num_inputs(); ++i) {
      count += 3 + node->input_metadata(i).shape.size();
    }
    double* word = frame(count).data();
    for (std::size_t i = 0; i < node->num_inputs(); ++i) {
      const InputMetadata& slot = node->input_metadata(i);
      *word++ = static_cast<double>(slot.dtype);
      *word++ = static_cast<double>(slot.device.type);
      *word++ = static_cast<double>(slot.shape.size());
      for (const std::int64_t size : slot.shape) *word++ = static_cast<double>(size);
    }
    return count;
  });
}

// Writes the sequence number and the topological number.
EG_EXPORT("nodeNumbers")
double node_numbers(Handle handle) {
  return guard([&] {
    const IntrusivePtr<Node>& node = handles().get_node(handle);
    frame()[0] = static_cast<double>(node->sequence_nr());
    frame()[1] = static_cast<double>(node->topological_nr());
    return 2;
  });
}

// Returns the number of the object stored with the node, or 0.
EG_EXPORT("nodeMetadata")
double node_metadata(Handle handle) {
  return guard([&]() -> double {
    const auto data = handles().get_node(handle)->user_data();
    if (data == nullptr) return 0;
    NodeObjects& objects = *std::static_pointer_cast<NodeObjects>(data);
    const std::scoped_lock lock(objects.mutex);
    const auto own = std::ranges::find_if(
        objects.of_threads, [](const auto& value) { return value->is_of_this_thread(); });
    return own == objects.of_threads.end() ? 0 : (*own)->id();
  });
}

EG_EXPORT("setNodeMetadata")
double set_node_metadata(Handle handle, double id) {
  return guard([&] {
    std::unique_ptr<JsValue> value =
        ReceivedValue(id).pass_to([](double own) { return std::make_unique<JsValue>(own); });
    const auto data = handles().get_node(handle)->ensure_user_data(
        []() -> std::shared_ptr<void> { return std::make_shared<NodeObjects>(); });
    NodeObjects& objects = *std::static_pointer_cast<NodeObjects>(data);
    const std::scoped_lock lock(objects.mutex);
    objects.of_threads.push_back(std::move(value));
    return 0;
  });
}

EMSCRIPTEN_BINDINGS(nodes) {
  emscripten::function("eg_nodeName", &node_name);
  emscripten::function("eg_forwardStack", &forward_stack);
}

}  // namespace eg::bindings
