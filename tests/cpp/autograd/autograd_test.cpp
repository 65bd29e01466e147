#include "autograd/autograd.h"

#include <gtest/gtest.h>

#include "autograd/engine/engine.h"
#include "autograd/engine/graph_task.h"
#include "base/warning.h"
#include "ops/create/copy.h"
#include "ops/shape/join.h"
#include "ops/shape/slice.h"
#include "support/errors.h"
#include "support/graphs.h"
#include "support/tensors.h"
#include "support/warnings.h"

namespace eg {
namespace {

using testing::add;
using testing::expect_error;
using testing::leaf;
using testing::mul;
using testing::sum;
using testing::tensor;
using testing::through;
using testing::value;
using testing::values;
using testing::WarningRecorder;
using Values = std::vector<double>;

// rule: sibling-outputs, grad-returns
TEST(Grad, OfOutputsThatShareANode) {
  const Tensor x = leaf(std::vector<float>(8, 1), {4, 2});
  const TensorList parts = Chunk::call(x, 2);
  bool hooked = false;
  testing::hook_tensor(x, [&](const Tensor& g) {
    hooked = true;
    return g;
  });
  const Tensor out = add(parts[0], mul(parts[1], 2));
  const Tensor go = tensor({1, 2, 3, 4}, {2, 2});
  const TensorList grads = grad({out}, {parts[0], parts[1]}, {go});
  EXPECT_EQ(values(grads[0]), (Values{1, 2, 3, 4}));
  EXPECT_EQ(values(grads[1]), (Values{2, 4, 6, 8}));
  EXPECT_FALSE(hooked);
  EXPECT_FALSE(grad(x).defined());
}

// rule: root-requires-grad, inputs-require-grad
TEST(Grad, NamesTheElementThatRequiresNoGrad) {
  const Tensor x = tensor({1});
  const Tensor y = leaf(1);
  expect_error(ErrorCode::kNoGradPath, "does not require a gradient",
               [&] { (void)grad({mul(y, x)}, {x}); });
  expect_error(ErrorCode::kNoGradPath, "does not require a gradient",
               [&] { (void)grad({x}, {y}); });
  expect_error(ErrorCode::kNoGradPath, "tensor 1 does not require a gradient",
               [&] { backward({add(y, y), mul(x, 2)}, {tensor({1}), tensor({1})}); });
}

// rule: gradient-edge-as-input
TEST(GradientEdges, StandForTheValueBeforeInPlaceOperations) {
  const Tensor x = Clone::call(leaf({1, 1}));
  const Edge before = get_gradient_edge(x);
  call_in_place<op::Mul>(x, 2);
  const TensorList grads = grad({sum(x)}, {before, x});
  EXPECT_EQ(values(grads[0]), (Values{2, 2}));
  EXPECT_EQ(values(grads[1]), (Values{1, 1}));
  expect_error(ErrorCode::kNoGradPath, "[getGradientEdge] the tensor does not require a gradient",
               [] { (void)get_gradient_edge(tensor({1})); });
}

// rule: gradient-edge-as-input
TEST(GradientEdges, CanBeDifferentiated) {
  const Tensor x = leaf(3);
  const Tensor y = mul(x, x);
  EXPECT_EQ(values(grad({get_gradient_edge(y)}, {x}, {}, {{.retain_graph = true}})[0]),
            (Values{6}));
  const Tensor wide = mul(leaf({1, 2}), 2);
  expect_error(ErrorCode::kNonScalarBackward, "an output of shape [2] needs a gradient",
               [&] { backward({get_gradient_edge(wide)}); });
  expect_error(ErrorCode::kShapeMismatch, "gradient 0 has shape [3], but its output has shape [2]",
               [&] { backward({get_gradient_edge(wide)}, {tensor({1, 2, 3})}); });
  backward({get_gradient_edge(y)}, {}, {}, GradTargetList{get_gradient_edge(x)});
  EXPECT_EQ(values(grad(x)), (Values{6}));
}

// rule: backward-inputs-results, inputs-require-grad
TEST(Backward, ToInputsThatAreResultsRetainsTheirGrad) {
  const Tensor x = leaf(2);
  const Tensor y = mul(x, x);
  const Tensor z = mul(y, 3);
  bool ran = false;
  testing::hook_before(*grad_fn(y), [&](GradList g) {
    ran = true;
    return g;
  });
  backward({z}, {}, {.retain_graph = true}, TensorList{y});
  EXPECT_EQ(value(grad(y)), 3);
  EXPECT_FALSE(grad(x).defined());
  EXPECT_TRUE(ran);
  backward({z}, {}, {}, TensorList{y, x});
  EXPECT_EQ(value(grad(y)), 6);
  EXPECT_EQ(value(grad(x)), 12);
  expect_error(ErrorCode::kNoGradPath, "an input does not require a gradient",
               [&] { backward({mul(x, 1)}, {}, {}, TensorList{tensor({1})}); });
}

// rule: materialize-grads
TEST(MaterializeGrads, GivesZerosForUnusedInputs) {
  const Tensor x = leaf({1, 2});
  const Tensor unused = leaf({1, 2, 3});
  GradOptions options;
  options.materialize_grads = true;
  const TensorList grads = grad({sum(mul(x, 2))}, {x, unused}, {}, options);
  EXPECT_EQ(values(grads[0]), (Values{2, 2}));
  EXPECT_EQ(values(grads[1]), (Values{0, 0, 0}));
  EXPECT_TRUE(requires_grad(grads[1]));
  const Edge edge = get_gradient_edge(unused);
  expect_error(ErrorCode::kInvalidArgument,
               "materializeGrads: true does not support a gradient edge",
               [&] { (void)grad({sum(x)}, {edge}, {}, options); });
  options.allow_unused = false;
  expect_error(ErrorCode::kInvalidArgument, "materializeGrads: true contradicts allowUnused: false",
               [&] { (void)grad({sum(x)}, {x}, {}, options); });
}

// rule: batched-gradients
TEST(BatchedGrad, GivesOneRowPerElementOfTheBatch) {
  const Tensor x = leaf({1, 2, 3});
  const Tensor unused = leaf(1);
  GradOptions options;
  options.is_grads_batched = true;
  options.allow_unused = true;
  const Tensor eye = tensor({1, 0, 0, 0, 1, 0, 0, 0, 1}, {3, 3});
  const TensorList grads = grad({mul(x, x)}, {x, unused}, {eye}, options);
  EXPECT_EQ(grads[0].shape(), (Shape{3, 3}));
  EXPECT_EQ(values(grads[0]), (Values{2, 0, 0, 0, 4, 0, 0, 0, 6}));
  EXPECT_FALSE(grads[1].defined());
  expect_error(ErrorCode::kShapeMismatch,
               "isGradsBatched: true, gradient 0 needs a batch dimension",
               [&] { (void)grad({mul(x, x)}, {x}, {tensor({1, 2, 3})}, options); });
}

// rule: batched-gradients
TEST(BatchedGrad, CanBeDifferentiatedAgain) {
  const Tensor x = leaf({1, 2});
  GradOptions options;
  options.is_grads_batched = true;
  options.create_graph = true;
  const Tensor eye = tensor({1, 0, 0, 1}, {2, 2});
  const Tensor cube = mul(mul(x, x), x);
  const Tensor jacobian = grad({cube}, {x}, {eye}, options)[0];
  EXPECT_EQ(values(jacobian), (Values{3, 0, 0, 12}));
  EXPECT_EQ(values(grad({sum(jacobian)}, {x})[0]), (Values{6, 12}));
}

// rule: create-graph-warns
TEST(CreateGraph, WarnsAboutTheCycleInBackwardOnly) {
  WarningRecorder warnings;
  const Tensor x = leaf(2);
  (void)grad({mul(x, x)}, {x}, {}, {{.create_graph = true}});
  EXPECT_TRUE(warnings.messages().empty());
  backward({mul(x, x)}, {}, {.create_graph = true});
  backward({mul(x, x)}, {}, {.create_graph = true});
  ASSERT_EQ(warnings.messages().size(), 2U);
  EXPECT_NE(warnings.messages()[0].find(
                "createGraph: true makes a leaf and its gradient keep each other alive"),
            std::string::npos);
  set_warn_always(false);
  backward({mul(x, x)}, {}, {.create_graph = true});
  EXPECT_EQ(warnings.messages().size(), 2U);
  set_grad(x, Tensor());
}

// rule: unseen-leaf, unused-inputs
// An accumulator created only for the request is unreachable.
TEST(Grad, OfALeafNoGraphHasSeen) {
  const Tensor x = leaf(1);
  const Tensor never = leaf(1);
  const Tensor y = through(x, [](GradList&& g) -> GradList {
    ADD_FAILURE() << "nothing is needed";
    return std::move(g);
  });
  EXPECT_FALSE(grad({y}, {never}, {}, {{}, true})[0].defined());
}

// rule: topological-pruning, runs-only-needed
TEST(Grad, CountsAndRunsOnlyNodesAboveTheSmallestTopologicalNumber) {
  const Tensor x = leaf(1);
  const Tensor h = call<op::Exp>(x);
  const Tensor m = call<op::Exp>(h);
  const Tensor o = call<op::Exp>(m);
  const Tensor s = call<op::Exp>(call<op::Exp>(call<op::Exp>(x)));
  const Tensor t = add(o, s);
  const auto count = [&](const Tensor& input) {
    const auto task = make_intrusive<GraphTask>(true, false, 0, nullptr);
    task->compute_dependencies(grad_fn(t), gradient_edge(input).function->topological_nr());
    // Excludes the root, on which nothing depends.
    return task->state_count() - 1;
  };
  EXPECT_EQ(count(o), 4U);
  EXPECT_EQ(count(m), 6U);
  EXPECT_EQ(count(x), 7U);
  int executed = 0;
  const auto count_runs = [&](GradList g) {
    ++executed;
    return g;
  };
  for (const Tensor& node : {h, m, o, s, t}) testing::hook_before(*grad_fn(node), count_runs);
  const GradOptions keep{{.retain_graph = true}};
  (void)grad({t}, {o}, {}, keep);
  EXPECT_EQ(executed, 1);
  executed = 0;
  (void)grad({t}, {m}, {}, keep);
  EXPECT_EQ(executed, 2);
  executed = 0;
  (void)grad({t}, {x}, {}, keep);
  EXPECT_EQ(executed, 5);
}

}  // namespace
}  // namespace eg
