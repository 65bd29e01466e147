// markers: threads

// The WebGPU device from the engine's side, with a fake player: order, memory, reads, errors.

#include <gtest/gtest.h>

#if EG_THREADS

#include <atomic>
#include <cmath>
#include <thread>
#include <vector>

#include "autograd/autograd.h"
#include "autograd/engine/engine.h"
#include "autograd/profiler.h"
#include "dispatch/capture/captured_function.h"
#include "dispatch/transfer.h"
#include "ops/matrix/matmul.h"
#include "ops/nn/softmax.h"
#include "ops/shape/view.h"
#include "support/errors.h"
#include "support/fake_player.h"
#include "support/ops.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::expect_error;
using testing::FakePlayer;
using testing::leaf;
using testing::tensor;
using testing::values;
using Values = std::vector<double>;

constexpr Device kGpu{DeviceType::kWebGpu, 0};

class WebGpu : public ::testing::Test {
 protected:
  WebGpu() { use(player_); }
  ~WebGpu() override {
    Engine::instance().stop();
    register_accelerator(DeviceType::kWebGpu, nullptr);
  }
  static void use(FakePlayer& player) {
    register_accelerator(DeviceType::kWebGpu, &player.device());
  }

  FakePlayer player_;
};

TEST_F(WebGpu, ComputesWhatTheCpuComputes) {
  player_.most_delay_us = 300;
  const Tensor x = leaf({1, 2, 3, 4, 5, 6}, {2, 3}, kGpu);
  const Tensor w = leaf({1, -1, 2, 0.5, 0, 1}, {3, 2}, kGpu);
  const Tensor y = Softmax::call(Matmul::call(x, w), 1);
  backward({testing::sum(testing::mul(y, y))});
  const Tensor x_here = leaf({1, 2, 3, 4, 5, 6}, {2, 3}, Device{});
  const Tensor w_here = leaf({1, -1, 2, 0.5, 0, 1}, {3, 2}, Device{});
  const Tensor y_here = Softmax::call(Matmul::call(x_here, w_here), 1);
  backward({testing::sum(testing::mul(y_here, y_here))});
  EXPECT_EQ(values(y), values(y_here));
  EXPECT_EQ(values(grad(x)), values(grad(x_here)));
  EXPECT_EQ(values(grad(w)), values(grad(w_here)));
}

TEST_F(WebGpu, AReadGivesWhatWasThereWhenItWasAsked) {
  player_.most_delay_us = 2000;
  const Tensor x = full({4}, 1, DType::kFloat32, kGpu);
  std::vector<float> before(4);
  std::atomic<bool> is_done{false};
  player_.device().read_later(x.storage()->data(), 0, before.data(), 16,
                              [&](const std::optional<Error>& error) {
                                EXPECT_FALSE(error.has_value());
                                is_done = true;
                              });
  copy_data(x, full({4}, 2, DType::kFloat32));
  EXPECT_EQ(values(x), (Values{2, 2, 2, 2}));
  EXPECT_TRUE(is_done);
  EXPECT_EQ(before, (std::vector<float>{1, 1, 1, 1}));
}

// Debug builds also check the law of lock_rank.h: the player would fail if it waited for the order.
TEST_F(WebGpu, AReadMayReleaseItsTensorsWhileAnotherThreadHoldsTheOrder) {
  player_.most_delay_us = 0;
  for (int i = 0; i < 50; ++i) {
    auto last = std::make_shared<Tensor>(full({4}, 1, DType::kFloat32, kGpu));
    std::vector<float> seen(4);
    void* const block = (*last).storage()->data();
    const std::lock_guard others_wait(player_.device());
    player_.device().read_later(block, 0, seen.data(), 16,
                                [owned = std::move(last)](const std::optional<Error>&) {});
    // Answered after the first read, so the player has released the tensor by then.
    EXPECT_EQ(values(full({4}, 2, DType::kFloat32, kGpu)), (Values{2, 2, 2, 2}));
    EXPECT_EQ(player_.device().memory_use().bytes, 0U);
  }
}

TEST_F(WebGpu, CallsOfOneStepAreOneBatch) {
  Tensor x = full({8}, 1, DType::kFloat32, kGpu);
  (void)values(x);
  const int before = player_.batches;
  player_.most_delay_us = 0;
  {
    const std::lock_guard others_wait(player_.device());
    for (int i = 0; i < 20; ++i) x = contiguous_copy(x);
  }
  (void)values(x);
  EXPECT_LE(player_.batches - before, 3);
}

TEST_F(WebGpu, FreedBlocksAreUsedAgainInTheSameOrder) {
  const auto step = [] {
    std::vector<void*> blocks;
    TensorList tensors;
    for (const std::int64_t size : {100, 3, 5000, 3}) {
      tensors.push_back(Tensor::empty({size}, DType::kFloat32, kGpu));
      blocks.push_back(tensors.back().storage()->data());
    }
    return blocks;
  };
  const std::vector<void*> first = step();
  const webgpu::MemoryUse use = player_.device().memory_use();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(step(), first);
  EXPECT_EQ(player_.device().memory_use().blocks, use.blocks);
  EXPECT_EQ(player_.device().memory_use().bytes, 0U);
}

TEST_F(WebGpu, TooMuchMemoryIsAnErrorAndTheDeviceGoesOn) {
  FakePlayer small({.block_bytes = 1 << 20, .free_bytes = 2 << 20});
  use(small);
  const auto megabyte = [] { return Tensor::empty({1 << 18}, DType::kFloat32, kGpu); };
  expect_error(ErrorCode::kOutOfMemory, "1048580",
               [] { Tensor::empty({(1 << 18) + 1}, DType::kFloat32, kGpu); });
  {
    const TensorList three{megabyte(), megabyte(), megabyte()};
  }
  EXPECT_EQ(small.device().memory_use().blocks, 3U);
  // Many free blocks are released when a block of another size is made.
  EXPECT_EQ(values(full({100'000}, 3, DType::kFloat32, kGpu))[99'999], 3);
  EXPECT_EQ(small.device().memory_use().blocks, 1U);
  Engine::instance().stop();
  use(player_);
}

TEST_F(WebGpu, AnErrorOfTheGpuComesWithTheNextRead) {
  const Tensor x = full({2}, 1, DType::kFloat32, kGpu);
  player_.fail_next(Error(ErrorCode::kIndexOutOfRange, "[embedding] index 7"));
  expect_error(ErrorCode::kIndexOutOfRange, "index 7", [&] { (void)values(x); });
  EXPECT_EQ(values(x), (Values{1, 1}));
}

TEST_F(WebGpu, LossReachesWhoWaitsAndEverybodyAfterwards) {
  const Tensor x = full({2}, 1, DType::kFloat32, kGpu);
  EXPECT_EQ(values(x), (Values{1, 1}));
  {
    const std::unique_lock paused = player_.pause();
    const int before = player_.waits;
    std::thread waits(
        [&] { expect_error(ErrorCode::kDeviceLost, "unplugged", [&] { (void)values(x); }); });
    while (player_.waits == before) std::this_thread::yield();
    player_.device().lose("unplugged");
    waits.join();
  }
  expect_error(ErrorCode::kDeviceLost, "unplugged", [&] { (void)values(x); });
  expect_error(ErrorCode::kDeviceLost, "unplugged",
               [] { Tensor::empty({2}, DType::kFloat32, kGpu); });
  EXPECT_EQ(values(tensor({5}, {1}, Device{})), Values{5});
}

TEST_F(WebGpu, AProfileHasTheTimesOfTheGpu) {
  const Tensor x = leaf({1, 2}, {2}, kGpu);
  const Tensor y = testing::sum(Softmax::call(x, 0));
  const std::size_t first = Profiler::start();
  backward({y});
  const std::vector<ProfilerEvent> events = Profiler::stop(first);
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[1].name, "SoftmaxBackward0");
  EXPECT_EQ(events[1].device, kGpu);
  // The fake GPU takes a microsecond per kernel.
  EXPECT_GE(events[1].device_duration, 1);
  EXPECT_EQ(events[1].device_duration, std::round(events[1].device_duration));
}

// Kernels that the fake player supports.
Tensor mixed(const Tensor& x, const Tensor& w) {
  const Tensor y = Softmax::call(Matmul::call(x, w), 1);
  return Softmax::call(Matmul::call(y, y), 0);
}

IntrusivePtr<CapturedFunction> captured_mix(const Tensor& w) {
  auto f = make_intrusive<CapturedFunction>(TensorList{full({2, 3}, 1, DType::kFloat32, kGpu)});
  f->record();
  f->finish({mixed(f->places()[0], w)});
  return f;
}

TEST_F(WebGpu, CapturedCallsAreOneCommand) {
  const Tensor w = tensor({1, -1, 2, 0.5, 0, 1}, {3, 2}, kGpu);
  IntrusivePtr<CapturedFunction> f = captured_mix(w);
  for (const float k : {1.F, 2.F, 3.F}) {
    const Tensor x = tensor({k, 0, 1, 1, k, 2}, {2, 3}, kGpu);
    EXPECT_EQ(values(f->call({x})[0]), values(mixed(x, w)));
  }
  EXPECT_EQ(player_.recordings(), 1);
  const Tensor x = full({2, 3}, 1, DType::kFloat32, kGpu);
  values(f->call({x})[0]);
  const int kernels = player_.kernels;
  const std::size_t bytes = player_.device().memory_use().bytes;
  for (int i = 0; i < 10; ++i) values(f->call({x})[0]);
  // A copy in, four kernels, a copy out.
  EXPECT_EQ(player_.kernels - kernels, 60);
  EXPECT_EQ(player_.device().memory_use().bytes, bytes);
  f.reset();
  values(x);
  EXPECT_EQ(player_.recordings(), 0);
}

TEST_F(WebGpu, WhatWasCapturedOnALostGpuSaysSo) {
  IntrusivePtr<CapturedFunction> f;
  {
    const Tensor w = tensor({1, -1, 2, 0.5, 0, 1}, {3, 2}, kGpu);
    f = captured_mix(w);
    f->call({full({2, 3}, 1, DType::kFloat32, kGpu)});
  }
  player_.device().lose("for a test");
  player_.reopen();
  const Tensor x = full({2, 3}, 1, DType::kFloat32, kGpu);
  expect_error(ErrorCode::kDeviceLost, "lost", [&] { f->call({x}); });
  f.reset();
  EXPECT_EQ(values(testing::add(x, 1)), Values(6, 2));
}

TEST_F(WebGpu, AfterALossThereCanBeAnotherGpu) {
  const Tensor lost = full({2}, 1, DType::kFloat32, kGpu);
  player_.device().lose("unplugged");
  player_.reopen();
  const Tensor x = full({2}, 3, DType::kFloat32, kGpu);
  EXPECT_EQ(values(x), (Values{3, 3}));
  expect_error(ErrorCode::kDeviceLost, "create it again", [&] { (void)values(lost); });
  expect_error(ErrorCode::kDeviceLost, "create it again", [&] { testing::add(lost, x); });
  expect_error(ErrorCode::kDeviceLost, "create it again", [&] { copy_data(lost, x); });
  EXPECT_EQ(values(contiguous_copy(x)), (Values{3, 3}));
}

// Threads append to one stream: each observes its own calls in order.
TEST_F(WebGpu, ThreadsShareTheStream) {
  player_.most_delay_us = 200;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 25; ++i) {
        const Tensor x = full({3}, t * 100 + i, DType::kFloat32, kGpu);
        EXPECT_EQ(values(contiguous_copy(x)), Values(3, t * 100 + i));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace eg

#endif
