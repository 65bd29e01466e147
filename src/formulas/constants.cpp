#include "formulas/constants.h"

namespace eg::op {
namespace {

// A number, or the concatenation of two nodes. Indices count from 1; index 0 means that there are
// no numbers.
struct Node {
  double value;
  std::uint8_t left;
  std::uint8_t right;
};

struct NumberTree {
  std::array<Node, 64> nodes;
  std::uint8_t count = 0;

  // If a formula has more numbers than fit, the last ones are dropped; a test would find that.
  std::uint8_t add(const Node& node) {
    if (count == nodes.size()) return 0;
    nodes[count] = node;
    return ++count;
  }

  void append(std::uint8_t index, ConstantList& list) const {
    if (index == 0) return;
    const Node& node = nodes[index - 1U];
    if (node.left == 0) return list.add(node.value);
    append(node.left, list);
    append(node.right, list);
  }
};

thread_local NumberTree tree;

}  // namespace

Constants::Constants(double value) : index_(tree.add({value, 0, 0})) {}

Constants Constants::join(Constants a, Constants b) {
  if (a.index_ == 0) return b;
  if (b.index_ == 0) return a;
  Constants both;
  both.index_ = tree.add({0, a.index_, b.index_});
  return both;
}

void take_constants(Constants formula, ConstantList& list) {
  tree.append(formula.index_, list);
  tree.count = 0;
}

}  // namespace eg::op
