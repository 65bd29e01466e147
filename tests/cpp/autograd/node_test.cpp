#include "autograd/graph/node.h"

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "autograd/graph/accumulate_grad.h"
#include "autograd/graph/basic_nodes.h"
#include "dispatch/elementwise.h"
#include "formulas/all.h"
#include "support/errors.h"
#include "support/live_counts.h"
#include "support/repetitions.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::expect_error;
using testing::leaf;
using testing::sum;
using testing::tensor;
using testing::values;

// rule: sequence-number
TEST(Node, SequenceNumbersGrowAndAccumulateGradHasTheLargest) {
  const auto first = make_intrusive<Identity>();
  const auto second = make_intrusive<Identity>();
  EXPECT_LT(first->sequence_nr(), second->sequence_nr());
  const auto accumulator = make_intrusive<AccumulateGrad>(leaf(1));
  EXPECT_EQ(accumulator->sequence_nr(), kAccumulateGradSequenceNr);
}

// rule: topological-number
TEST(Node, TopologicalNumberIsTheLongestPathToALeaf) {
  const Tensor x = leaf(1);
  const Tensor h = call<op::Exp>(x);
  const Tensor m = call<op::Exp>(h);
  const Tensor o = call<op::Exp>(m);
  const Tensor s = call<op::Exp>(call<op::Exp>(call<op::Exp>(x)));
  const Tensor t = call<op::Add>(o, s);
  EXPECT_EQ(grad_fn(h)->topological_nr(), 1U);
  EXPECT_EQ(grad_fn(m)->topological_nr(), 2U);
  EXPECT_EQ(grad_fn(o)->topological_nr(), 3U);
  EXPECT_EQ(grad_fn(s)->topological_nr(), 3U);
  EXPECT_EQ(grad_fn(t)->topological_nr(), 4U);
}

// rule: edges-frozen
TEST(Node, EdgesAreFrozenOnceTheNodeHasAParent) {
  const auto node = make_intrusive<Identity>();
  EXPECT_EQ(node->topological_nr(), 0U);
  expect_error(ErrorCode::kInternal, "the edges of a node cannot change once it has a parent",
               [&] { node->add_next_edge({make_intrusive<Identity>(), 0}); });
}

// rule: no-edge-without-grad, gradient-edge
TEST(Node, InputsThatNeedNoGradientHaveNoEdge) {
  const Tensor w = leaf(3);
  const Tensor x = tensor<float>({2}, {});
  const IntrusivePtr<Node> node = grad_fn(call<op::Mul>(w, x));
  EXPECT_EQ(node->name(), "MulBackward0");
  EXPECT_EQ(node->next_edge(0).function->name(), "AccumulateGrad");
  EXPECT_FALSE(node->next_edge(1).is_valid());
}

// rule: graph-freed-with-results
TEST(Node, DroppingTheResultsFreesTheGraph) {
  const std::int64_t before = testing::live_nodes();
  {
    const Tensor x = leaf({1, 2});
    const Tensor y = call<op::Exp>(call<op::Mul>(x, x));
    EXPECT_EQ(testing::live_nodes(), before + 3);
  }
  EXPECT_EQ(testing::live_nodes(), before);
}

// rule: deep-graph
// No stack has room for a call per node.
constexpr int kDeep = testing::repetitions(1'000'000);

TEST(Node, ADeepChainRunsAndIsDestroyedWithoutRecursion) {
  const Tensor x = leaf(1);
  Tensor y = x;
  for (int i = 0; i < kDeep; ++i) y = call<op::Add>(y, 0);
  backward({y});
  EXPECT_EQ(values(grad(x)), std::vector<double>{1});
  y.reset();
}

// rule: deep-graph
TEST(Node, ADeepChainOfSavedTensorsIsDestroyedWithoutRecursion) {
  const Tensor x = leaf(1);
  Tensor y = x;
  // Saves its input, so that tensors and nodes hold each other along the whole chain.
  for (int i = 0; i < kDeep; ++i) y = call<op::Mul>(y, y);
  y.reset();
  SUCCEED();
}

}  // namespace
}  // namespace eg
