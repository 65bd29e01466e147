// Accumulation of gradients: input buffers, leaves, shapes and the lifetime of buffers.

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "autograd/engine/graph_task.h"
#include "autograd/engine/input_buffer.h"
#include "autograd/graph/accumulate_grad.h"
#include "autograd/tensor_math.h"
#include "ops/index/index.h"
#include "ops/shape/slice.h"
#include "ops/shape/stride.h"
#include "support/errors.h"
#include "support/graphs.h"
#include "support/live_counts.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::add;
using testing::expect_error;
using testing::kTestDevice;
using testing::leaf;
using testing::mul;
using testing::sum;
using testing::tensor;
using testing::through;
using testing::value;
using testing::values;
using Values = std::vector<double>;

// rule: vector-jacobian-product
TEST(Accumulation, OfAnElementwiseFunction) {
  const Tensor x = leaf({0.5F, 0.75F});
  backward({sum(call<op::Exp>(x))});
  EXPECT_NEAR(values(grad(x))[0], 1.6487213, 1e-6);
  EXPECT_NEAR(values(grad(x))[1], 2.1170000, 1e-6);
}

// rule: waits-for-all-uses, dependencies-per-edge
// The network of the 2018 article; its second linear layer waits for both its users.
TEST(Accumulation, OfTheNetworkWithTwoBranches) {
  const Tensor in = leaf({1}, {1});
  const Tensor w1 = leaf({-2}, {1});
  const Tensor b1 = leaf({0.1F}, {1});
  const Tensor w2 = leaf({0.5F}, {1});
  const Tensor b2 = leaf({0.25F}, {1});
  const Tensor h = add(mul(w2, in), b2);
  const Tensor out = Select::call(add(call<op::Relu>(h), add(mul(w1, h), b1)), 0, 0);
  EXPECT_NEAR(value(out), -0.65, 1e-6);
  backward({out});
  EXPECT_NEAR(value(grad(in)), -0.5, 1e-6);
  EXPECT_NEAR(value(grad(w2)), -1, 1e-6);
  EXPECT_NEAR(value(grad(b2)), -1, 1e-6);
  EXPECT_NEAR(value(grad(w1)), 0.75, 1e-6);
  EXPECT_NEAR(value(grad(b1)), 1, 1e-6);
}

// rule: implicit-gradient, root-gradient-count, inputs-not-empty
TEST(Accumulation, OneElementNeedsNoGradientWhateverItsShape) {
  const Tensor x = leaf({1}, {1, 1});
  backward({mul(x, 2)});
  EXPECT_EQ(values(grad(x)), (Values{2}));
  EXPECT_EQ(grad(x).shape(), (Shape{1, 1}));
  expect_error(ErrorCode::kInvalidArgument, "got 1 tensors and 2 gradients",
               [&] { backward({mul(x, 2)}, {tensor({1}), tensor({1})}); });
  expect_error(ErrorCode::kInvalidArgument, "[grad] inputs must not be empty",
               [&] { (void)grad({mul(x, 2)}, TensorList{}); });
  expect_error(ErrorCode::kInvalidArgument, "[backward] inputs must not be empty",
               [&] { backward({mul(x, 2)}, {}, {}, TensorList{}); });
}

// rule: root-output-slot
TEST(Accumulation, StartsAtTheOutputThatWasAsked) {
  const Tensor x = leaf({1, 2, 3});
  const TensorList parts = Unbind::call(x);
  backward({parts[1]});
  EXPECT_EQ(values(grad(x)), (Values{0, 1, 0}));
}

// rule: outstanding-tasks
TEST(Accumulation, OutstandingTasksReachZeroWhenTheCallIsDone) {
  // The device thread wakes the caller with one more task.
  const testing::DefaultDeviceGuard cpu_default({});
  const Tensor x = leaf(1);
  IntrusivePtr<GraphTask> task;
  std::vector<std::int64_t> counts;
  Tensor y = x;
  for (int i = 0; i < 5; ++i) {
    y = through(y, [&](GradList&& g) {
      task = IntrusivePtr<GraphTask>(GraphTask::current());
      counts.push_back(task->outstanding_tasks);
      return std::move(g);
    });
  }
  backward({y});
  EXPECT_EQ(counts, (std::vector<std::int64_t>(5, 1)));
  EXPECT_EQ(task->outstanding_tasks, 0);
}

// rule: call-ends-once, first-error-wins
TEST(GraphTask, KeepsTheFirstErrorUntilItsTasksHaveEnded) {
  const auto task = make_intrusive<GraphTask>(false, false, 0, nullptr);
  task->outstanding_tasks = 2;
  EXPECT_FALSE(task->completed());
  task->set_exception(std::make_exception_ptr(std::runtime_error("first")));
  task->set_exception(std::make_exception_ptr(std::logic_error("second")));
  EXPECT_FALSE(task->completed());
  task->outstanding_tasks = 0;
  EXPECT_TRUE(task->completed());
  task->mark_as_completed();
  EXPECT_THROW((void)task->take_result(), std::runtime_error);
}

// rule: buffers-freed-early
TEST(Accumulation, BuffersOfAChainAreFreedOneByOne) {
  const Tensor x = leaf(std::vector<float>(64, 1));
  std::int64_t most = 0;
  const std::int64_t before = testing::live_tensors();
  Tensor y = x;
  for (int i = 0; i < 100; ++i) {
    y = through(y, [&](GradList&& g) {
      most = std::max(most, testing::live_tensors() - before);
      return GradList{mul(g[0], 2)};
    });
  }
  backward({y}, {tensor(std::vector<float>(64, 1))});
  EXPECT_LT(most, 10);
}

// rule: buffers-freed-early
TEST(Accumulation, TheGradientOfTheRootIsFreedAfterTheRoot) {
  const Tensor x = leaf(1);
  WeakPtr<TensorImpl> root_gradient;
  bool was_alive = true;
  const Tensor inner = through(x, [&](GradList&& g) {
    was_alive = root_gradient.lock() != nullptr;
    return std::move(g);
  });
  backward({through(inner, [&](GradList&& g) {
    root_gradient = WeakPtr<TensorImpl>(g[0].impl_ptr());
    return GradList{mul(g[0], 2)};
  })});
  EXPECT_FALSE(was_alive);
}

// rule: slot-leaves-others-alone, slot-sums
TEST(InputBuffer, NeverChangesAGradientSomebodyElseSees) {
  const Tensor x = leaf({1, 2});
  const Tensor shared = tensor({10, 20});
  const Tensor a = through(x, [&](GradList&&) { return GradList{shared}; });
  const Tensor b = through(x, [&](GradList&&) { return GradList{shared}; });
  backward({sum(add(a, b))});
  EXPECT_EQ(values(grad(x)), (Values{20, 40}));
  EXPECT_EQ(values(shared), (Values{10, 20}));
  InputBuffer buffer(1);
  expect_error(ErrorCode::kInternal, "InputBuffer has 1 slots", [&] { buffer.add(1, shared); });
}

// rule: grad-strides
TEST(AccumulateGrad, GivesTheGradientTheStridesOfItsLeaf) {
  const Tensor storage = tensor(std::vector<float>(8, 1));
  const Tensor transposed = storage.alias({2, 4}, {1, 2}, 0);
  set_requires_grad(transposed, true);
  backward({sum(mul(transposed, transposed))});
  EXPECT_EQ(grad(transposed).strides(), (Strides{1, 2}));
  const Tensor sparse = storage.alias({2, 2}, {4, 2}, 0);
  set_requires_grad(sparse, true);
  backward({sum(mul(sparse, sparse))});
  EXPECT_EQ(grad(sparse).strides(), (Strides{2, 1}));
  EXPECT_EQ(values(grad(sparse)), (Values{2, 2, 2, 2}));
}

// rule: grad-added-in-place, create-graph-adds-anew
TEST(AccumulateGrad, AddsInPlaceUnlessAGraphIsMade) {
  const Tensor x = leaf(3);
  backward({mul(x, x)});
  const Tensor first = grad(x);
  const std::uint32_t version = first.version();
  backward({mul(x, x)});
  EXPECT_TRUE(grad(x).is_same(first));
  EXPECT_EQ(first.version(), version + 1);
  backward({mul(x, x)}, {}, {.create_graph = true});
  EXPECT_FALSE(grad(x).is_same(first));
  EXPECT_EQ(value(first), 12);
  EXPECT_EQ(value(grad(x)), 18);
  set_grad(x, Tensor());
}

// rule: grad-assignment
TEST(AccumulateGrad, OnlyFittingGradientsCanBeAssigned) {
  const testing::DefaultDeviceGuard cpu_default({});
  const Tensor x = leaf({1, 2});
  expect_error(ErrorCode::kShapeMismatch, "expected a gradient of shape [2], got [3]",
               [&] { set_grad(x, tensor({1, 2, 3})); });
  expect_error(ErrorCode::kDtypeMismatch, "expected a gradient of dtype ",
               [&] { set_grad(x, tensor<double>({1, 2})); });
  expect_error(ErrorCode::kDeviceMismatch, "expected a gradient on ",
               [&] { set_grad(x, tensor<float>({1, 2}, {2}, kTestDevice)); });
  expect_error(ErrorCode::kInvalidArgument, "a tensor cannot be its own gradient",
               [&] { set_grad(x, x); });
  set_grad(x, tensor({5, 5}));
  backward({sum(x)});
  EXPECT_EQ(values(grad(x)), (Values{6, 6}));
  set_grad(x, Tensor());
  EXPECT_FALSE(grad(x).defined());
}

// rule: frozen-after-recording
TEST(AccumulateGrad, DoesNothingForALeafThatWasFrozenSince) {
  const Tensor x = leaf(3);
  const Tensor y = mul(x, x);
  set_requires_grad(x, false);
  backward({y});
  EXPECT_FALSE(grad(x).defined());
}

// rule: unexecuted-keeps-saved, graph-freed
TEST(Release, LeavesNodesThatDidNotRun) {
  const Tensor x = leaf(2);
  const Tensor y = leaf(3);
  const Tensor a = mul(x, x);
  const Tensor b = mul(y, y);
  const Tensor out = add(a, b);
  EXPECT_EQ(value(grad({out}, {x})[0]), 4);
  // a was released, b was not.
  expect_error(ErrorCode::kGraphFreed, "have been freed", [&] { (void)grad({out}, {x}); });
  EXPECT_EQ(value(grad({out}, {y})[0]), 6);
}

// rule: freed-also-on-error
TEST(Release, HappensAlsoWhenTheNodeFails) {
  class FailingNode final : public Node {
   public:
    FailingNode(EdgeList edges, bool& released) : Node(std::move(edges)), released_(released) {}
    std::string name() const override { return "FailingBackward"; }
    GradList apply(GradList&&) override { throw std::runtime_error("Boom!"); }
    void release_variables() override { released_ = true; }

   private:
    bool& released_;
  };
  const Tensor x = leaf(1);
  for (const bool keep : {true, false}) {
    bool released = false;
    {
      const Tensor y = detach(x);
      set_history(y, make_intrusive<FailingNode>(EdgeList{gradient_edge(x)}, released));
      EXPECT_THROW(backward({y}, {}, {.retain_graph = keep}), std::runtime_error);
      EXPECT_EQ(released, !keep);
    }
  }
}

// rule: gradient-cast, gradient-complex-for-real
TEST(ValidateOutputs, CastsDtypesButRefusesComplexForReal) {
  const Tensor x = leaf(1);
  expect_error(ErrorCode::kInvalidGradient, "expected float32", [&] {
    backward({sum(
        through(x, [](GradList&&) { return GradList{testing::empty({}, DType::kComplex64)}; }))});
  });
  backward({sum(through(x, [](GradList&&) { return GradList{tensor<std::int32_t>({7})}; }))});
  EXPECT_EQ(grad(x).dtype(), DType::kFloat32);
  EXPECT_EQ(values(grad(x)), (Values{7}));
}

// rule: gradient-never-expanded
TEST(ValidateOutputs, NeverBroadcastsASmallerGradientUp) {
  const Tensor x = leaf({1, 2, 3, 4}, {2, 2});
  expect_error(ErrorCode::kInvalidGradient, "has shape [2], expected [2, 2]", [&] {
    backward({sum(through(x, [](GradList&&) { return GradList{tensor({1, 2})}; }))});
  });
}

// rule: gradient-device
TEST(ValidateOutputs, MovesOnlyGradientsWithoutDimensions) {
  const testing::DefaultDeviceGuard cpu_default({});
  const Tensor x = leaf(2);
  backward({through(x, [](GradList&&) { return GradList{tensor<float>({5}, {}, kTestDevice)}; })});
  EXPECT_TRUE(grad(x).device().is_cpu());
  EXPECT_EQ(value(grad(x)), 5);
  const Tensor y = leaf({1}, {1});
  expect_error(ErrorCode::kInvalidGradient, "is on test, expected cpu", [&] {
    backward({sum(
        through(y, [](GradList&&) { return GradList{tensor<float>({5}, {1}, kTestDevice)}; }))});
  });
}

}  // namespace
}  // namespace eg
