// Kernel calls in pieces: what a thread without helper threads does between the pieces.

#include <chrono>
#include <stdexcept>

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "autograd/engine/engine.h"
#include "autograd/grad_mode.h"
#include "support/errors.h"
#include "support/graphs.h"
#include "support/live_counts.h"
#include "support/tensors.h"

namespace eg {
namespace {

using std::chrono::steady_clock;
using testing::add;
using testing::expect_error;
using testing::hook_tensor;
using testing::leaf;
using testing::mul;
using testing::sum;
using testing::tensor;
using testing::values;
using Values = std::vector<double>;

constexpr steady_clock::time_point kOver{};

// A chain of nodes; its gradient is 2 to their number.
Tensor chain(Tensor x, int length) {
  for (int i = 0; i < length; ++i) x = mul(x, 2);
  return sum(x);
}

int run_all(PiecewiseCall& call) {
  int pieces = 1;
  while (!call.run_until(kOver)) ++pieces;
  return pieces;
}

TEST(Piecewise, RunsANodeAtLeastPerPiece) {
  const testing::DefaultDeviceGuard cpu_default({});
  const Tensor x = leaf({1, 2});
  PiecewiseCall call = backward_in_pieces({chain(x, 10)});
  EXPECT_EQ(run_all(call), 12);
  EXPECT_TRUE(call.take_result().empty());
  EXPECT_EQ(values(grad(x)), (Values{1024, 1024}));
}

TEST(Piecewise, IsOnePieceWhenThereIsTime) {
  const testing::DefaultDeviceGuard cpu_default({});
  const Tensor x = leaf({1, 2});
  PiecewiseCall call = grad_in_pieces({chain(x, 3)}, {x});
  EXPECT_TRUE(call.run_until(steady_clock::now() + std::chrono::hours(1)));
  EXPECT_EQ(values(call.take_result()[0]), (Values{8, 8}));
}

TEST(Piecewise, LeavesRoomForOtherCallsOfTheThread) {
  const testing::DefaultDeviceGuard cpu_default({});
  const Tensor x = leaf(1);
  const Tensor y = mul(x, 3);
  PiecewiseCall first = grad_in_pieces({chain(y, 5)}, {x});
  PiecewiseCall second = grad_in_pieces({chain(x, 4)}, {x});
  int left = 2;
  for (bool first_runs = true, second_runs = true; left > 0;) {
    if (first_runs && first.run_until(kOver)) first_runs = false, --left;
    const Tensor z = leaf(5);
    backward({mul(z, z)});
    EXPECT_EQ(values(grad(z)), (Values{10}));
    EXPECT_EQ(Engine::current_graph_task_id(), -1);
    if (second_runs && second.run_until(kOver)) second_runs = false, --left;
  }
  EXPECT_EQ(values(first.take_result()[0]), (Values{96}));
  EXPECT_EQ(values(second.take_result()[0]), (Values{16}));
}

TEST(Piecewise, RunsCallsThatItsHooksMakeToTheirEnd) {
  const testing::DefaultDeviceGuard cpu_default({});
  const Tensor x = leaf(1);
  const Tensor y = mul(x, 3);
  std::vector<std::int64_t> ids;
  hook_tensor(y, [&](const Tensor& g) {
    ids.push_back(Engine::current_graph_task_id());
    const EnableGradGuard enable;
    const Tensor z = leaf(1);
    backward({chain(z, 6)});
    EXPECT_EQ(values(grad(z)), (Values{64}));
    return mul(g, 10);
  });
  PiecewiseCall call = backward_in_pieces({chain(y, 2)});
  run_all(call);
  EXPECT_EQ(values(grad(x)), (Values{120}));
  ASSERT_EQ(ids.size(), 1U);
  EXPECT_GE(ids[0], 0);
}

TEST(Piecewise, BelongsToNoCallThatItWasBegunIn) {
  const testing::DefaultDeviceGuard cpu_default({});
  const Tensor x = leaf(1);
  const Tensor z = leaf(1);
  std::optional<PiecewiseCall> inner;
  const Tensor y = mul(x, 3);
  hook_tensor(y, [&](const Tensor& g) {
    const EnableGradGuard enable;
    inner = backward_in_pieces({chain(z, 3)});
    EXPECT_FALSE(inner->run_until(kOver));
    EXPECT_GE(Engine::current_graph_task_id(), 0);
    return g;
  });
  backward({sum(y)});
  EXPECT_EQ(values(grad(x)), (Values{3}));
  EXPECT_FALSE(grad(z).defined());
  run_all(*inner);
  EXPECT_EQ(values(grad(z)), (Values{8}));
}

TEST(Piecewise, ThrowsWhatACallThrows) {
  const testing::DefaultDeviceGuard cpu_default({});
  const Tensor x = leaf(1);
  expect_error(ErrorCode::kNonScalarBackward, "an output of shape [2] needs a gradient",
               [&] { (void)backward_in_pieces({mul(leaf({1, 2}), 2)}); });
  const Tensor y = mul(x, 3);
  hook_tensor(y, [](const Tensor&) -> Tensor { throw std::runtime_error("no"); });
  PiecewiseCall call = backward_in_pieces({chain(y, 3)});
  run_all(call);
  EXPECT_THROW((void)call.take_result(), std::runtime_error);
  EXPECT_FALSE(grad(x).defined());
  PiecewiseCall unused = grad_in_pieces({chain(x, 1)}, {leaf(1)});
  run_all(unused);
  expect_error(ErrorCode::kUnusedInput, "the outputs do not depend on input 0",
               [&] { (void)unused.take_result(); });
}

TEST(Piecewise, MayBeLeftUndone) {
  const testing::DefaultDeviceGuard cpu_default({});
  const std::int64_t nodes = testing::live_nodes();
  {
    PiecewiseCall call = backward_in_pieces({chain(leaf(1), 20)});
    EXPECT_FALSE(call.run_until(kOver));
  }
  EXPECT_EQ(testing::live_nodes(), nodes);
}

TEST(Piecewise, RunsABatchAtOnce) {
  const testing::DefaultDeviceGuard cpu_default({});
  const Tensor x = leaf({1, 2});
  GradOptions options;
  options.is_grads_batched = true;
  PiecewiseCall call = grad_in_pieces({mul(x, 2)}, {x}, {tensor({1, 0, 0, 1}, {2, 2})}, options);
  EXPECT_TRUE(call.run_until(kOver));
  EXPECT_EQ(values(call.take_result()[0]), (Values{2, 0, 0, 2}));
}

}  // namespace
}  // namespace eg
