// markers: threads

// The structure of a backward call, observed from inside its nodes.

#include <thread>

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "autograd/custom_function.h"
#include "autograd/engine/engine.h"
#include "autograd/engine/graph_task.h"
#include "autograd/engine/input_buffer.h"
#include "ops/shape/slice.h"
#include "support/graphs.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::add;
using testing::kTestDevice;
using testing::leaf;
using testing::mul;
using testing::sum;
using testing::tensor;
using testing::through;
using testing::value;
using testing::values;
using Values = std::vector<double>;

// rule: graph-root
TEST(EngineStructure, OneRootIsItsOwnGraphRootSeveralHangBelowOne) {
  const Tensor x = leaf(1);
  std::string root;
  const auto probe = [&] {
    return through(x, [&](GradList&& g) {
      root = GraphTask::current()->root()->name();
      return std::move(g);
    });
  };
  backward({probe()});
  EXPECT_EQ(root, "FunctionalBackward");
  backward({probe(), probe()});
  EXPECT_EQ(root, "GraphRoot");
}

// rule: output-metadata
TEST(EngineStructure, ANodeDescribesItsOutputs) {
  const testing::DefaultDeviceGuard cpu_default({});
  const Tensor x = leaf({1, 2, 3, 4}, {2, 2});
  const TensorList parts = Unbind::call(x);
  const IntrusivePtr<Node> node = grad_fn(parts[0]);
  ASSERT_EQ(node->num_inputs(), 2U);
  EXPECT_EQ(node->input_metadata(1).shape, (Shape{2}));
  EXPECT_EQ(node->input_metadata(1).dtype, DType::kFloat32);
  EXPECT_TRUE(node->input_metadata(1).device.is_cpu());
  EXPECT_TRUE(node->device().is_cpu());
  const Tensor on_device = leaf({1}, {1}, kTestDevice);
  EXPECT_EQ(grad_fn(mul(on_device, 2))->device(), kTestDevice);
}

// rule: root-gradient-cast
TEST(EngineStructure, RootGradientsAreValidated) {
  const Tensor x = leaf({1, 2});
  DType seen = DType::kBool;
  const Tensor y = through(x, [&](GradList&& g) {
    seen = g[0].dtype();
    return std::move(g);
  });
  backward({y}, {tensor<double>({3, 4})});
  EXPECT_EQ(seen, DType::kFloat32);
  EXPECT_EQ(values(grad(x)), (Values{3, 4}));
}

// rule: one-queue-per-thread
TEST(EngineStructure, CallsOfAThreadShareItsQueue) {
  const testing::DefaultDeviceGuard cpu_default({});
  const Tensor x = leaf(1);
  std::vector<const ReadyQueue*> queues;
  const auto probe = [&] {
    return through(x, [&](GradList&& g) {
      queues.push_back(GraphTask::current()->cpu_ready_queue.get());
      if (queues.size() == 1) {
        const EnableGradGuard enable;
        backward({through(leaf(1), [&](GradList&& inner) {
          queues.push_back(GraphTask::current()->cpu_ready_queue.get());
          return std::move(inner);
        })});
      }
      return std::move(g);
    });
  };
  backward({probe()});
  backward({probe()});
  EXPECT_EQ(queues, std::vector<const ReadyQueue*>(3, queues[0]));
}

// rule: nesting-depth, caller-drives
TEST(EngineStructure, ACallKnowsItsDepthAndWhomToWake) {
  const Tensor x = leaf(1);
  std::vector<int> depths;
  backward({through(x, [&](GradList&& g) {
    EXPECT_EQ(GraphTask::current()->owner, kCpuDevice);
    depths.push_back(GraphTask::current()->reentrant_depth);
    const EnableGradGuard enable;
    backward({through(leaf(1), [&](GradList&& inner) {
      depths.push_back(GraphTask::current()->reentrant_depth);
      return std::move(inner);
    })});
    return std::move(g);
  })});
  EXPECT_EQ(depths, (std::vector<int>{0, 1}));
}

// rule: slot-sums
TEST(InputBuffer, KeepsOneSumPerSlotAndIgnoresNothing) {
  InputBuffer buffer(2);
  buffer.add(1, Tensor());
  EXPECT_FALSE(buffer[1].defined());
  buffer.add(1, tensor({1, 2}));
  buffer.add(1, Tensor());
  buffer.add(1, tensor({10, 20}));
  EXPECT_FALSE(buffer[0].defined());
  EXPECT_EQ(values(buffer[1]), (Values{11, 22}));
}

// rule: state-ends-with-node
TEST(EngineStructure, NodesDoNotInheritEachOthersModes) {
  const Tensor x = leaf(1);
  std::vector<bool> modes;
  const auto probe = [&](const Tensor& t) {
    return through(t, [&](GradList&& g) {
      modes.push_back(is_grad_enabled());
      autograd_state().grad_mode = true;
      return std::move(g);
    });
  };
  backward({probe(probe(probe(x)))});
  EXPECT_EQ(modes, (std::vector<bool>{false, false, false}));
  const NoGradGuard no_grad;
  EXPECT_FALSE(is_grad_enabled());
}

#if EG_THREADS

// rule: caller-state
TEST(EngineStructure, DeviceThreadsWorkInTheCallersState) {
  const testing::DefaultDeviceGuard cpu_default({});
  const Tensor x = leaf({1}, {1}, kTestDevice);
  for (const bool create_graph : {false, true}) {
    bool grad_mode = !create_graph;
    std::thread::id thread;
    const Tensor y = through(x, [&](GradList&& g) {
      grad_mode = is_grad_enabled();
      thread = std::this_thread::get_id();
      return std::move(g);
    });
    (void)grad({y}, {x}, {tensor<float>({1}, {1}, kTestDevice)}, {{.create_graph = create_graph}});
    EXPECT_EQ(grad_mode, create_graph);
    EXPECT_NE(thread, std::this_thread::get_id());
  }
  Engine::instance().stop();
}

#endif

}  // namespace
}  // namespace eg
