// Nodes of the backward graph, for those who look at it.

#include <emscripten/bind.h>

#include "autograd/variable.h"
#include "border.h"

namespace eg::bindings {
namespace {

// Writes a new handle and the node's address, by which JavaScript recognises a node that it knows.
double return_node(const IntrusivePtr<Node>& node) {
  frame()[0] = node == nullptr ? 0 : handles().insert(node);
  frame()[1] = static_cast<double>(reinterpret_cast<std::uintptr_t>(node.get()));
  return 2;
}

double grad_fn_of(Handle handle) {
  return guard([&] { return return_node(grad_fn(handles().get(handle))); });
}

double next_functions(Handle handle) {
  return guard([&] {
    const EdgeList& edges = handles().get_node(handle)->next_edges();
    std::vector<double>& words = frame();
    if (words.size() < 3 * edges.size()) words.resize(3 * edges.size());
    std::size_t count = 0;
    for (const Edge& edge : edges) {
      words[count++] = edge.is_valid() ? handles().insert(edge.function) : 0;
      words[count++] = static_cast<double>(reinterpret_cast<std::uintptr_t>(edge.function.get()));
      words[count++] = edge.input_nr;
    }
    return count;
  });
}

std::string node_name(Handle handle) {
  std::string name;
  guard([&] {
    name = handles().get_node(handle)->name();
    return 0;
  });
  return name;
}

double node_numbers(Handle handle) {
  return guard([&] {
    const IntrusivePtr<Node>& node = handles().get_node(handle);
    frame()[0] = static_cast<double>(node->sequence_nr());
    frame()[1] = static_cast<double>(node->topological_nr());
    return 2;
  });
}

}  // namespace

EMSCRIPTEN_BINDINGS(nodes) {
  emscripten::function("gradFn", &grad_fn_of);
  emscripten::function("nodeName", &node_name);
  emscripten::function("nextFunctions", &next_functions);
  emscripten::function("nodeNumbers", &node_numbers);
}

}  // namespace eg::bindings
