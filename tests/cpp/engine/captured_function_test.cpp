// markers: threads

// Functions that run once and are then replayed.

#include "dispatch/capture/captured_function.h"

#include <memory>
#include <thread>

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "ops/create/factory.h"
#include "ops/index/index.h"
#include "ops/matrix/matmul.h"
#include "ops/optim/optim.h"
#include "ops/random/random.h"
#include "ops/shape/view.h"
#include "runtime/accelerator.h"
#include "runtime/memory.h"
#include "support/errors.h"
#include "support/live_counts.h"
#include "support/ops.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::add;
using testing::add_;
using testing::clone;
using testing::expect_error;
using testing::leaf;
using testing::mul;
using testing::mul_;
using testing::tensor;
using testing::value;
using testing::values;
using Values = std::vector<double>;
using CapturedPtr = IntrusivePtr<CapturedFunction>;

// Captures `fn`, which is called with the input tensors of the recording and returns a list.
template <class Fn>
CapturedPtr captured(const TensorList& inputs, Fn&& fn) {
  auto function = make_intrusive<CapturedFunction>(inputs);
  function->record();
  try {
    const TensorList results = fn(function->places());
    function->finish(results);
  } catch (...) {
    function->stop();
    throw;
  }
  return function;
}

TEST(Capture, PlaysTheSameOverOtherValues) {
  const CapturedPtr f = captured(
      {tensor({1, 2})}, [](const TensorList& in) { return TensorList{add(mul(in[0], in[0]), 1)}; });
  const TensorList first = f->call({tensor({3, 4})});
  const TensorList second = f->call({tensor({-1, 0.5})});
  // Results of different calls are different tensors.
  EXPECT_EQ(values(first[0]), (Values{10, 17}));
  EXPECT_EQ(values(second[0]), (Values{2, 1.25}));
}

TEST(Capture, TakesInputsInAnyLayout) {
  const CapturedPtr f = captured({tensor({1, 2, 3, 4}, {2, 2})},
                                 [](const TensorList& in) { return TensorList{add(in[0], 0)}; });
  const Tensor turned = Transpose::call(tensor({1, 2, 3, 4}, {2, 2}), 0, 1);
  EXPECT_EQ(values(f->call({turned})[0]), (Values{1, 3, 2, 4}));
}

TEST(Capture, PlaysMergedDimensionsAgainAndAgain) {
  const CapturedPtr f =
      captured({testing::full({2, 3, 4}, 1.0, DType::kFloat32)}, [](const TensorList& in) {
        const Tensor turned = Transpose::call(in[0], 0, 2);
        return TensorList{mul(turned, turned),
                          add(in[0], testing::full({3, 1}, 2.0, DType::kFloat32))};
      });
  for (int i = 1; i < 4; ++i) {
    const TensorList results =
        f->call({testing::full({2, 3, 4}, static_cast<double>(i), DType::kFloat32)});
    EXPECT_EQ(values(results[0]), Values(24, i * i));
    EXPECT_EQ(values(results[1]), Values(24, i + 2));
  }
}

// A step of gradient descent, in ordinary code.
Tensor descend(const Tensor& w, const Tensor& x) {
  const Tensor loss = testing::sum(mul(mul(w, x), mul(w, x)));
  set_grad(w, Tensor());
  backward({loss});
  const NoGradGuard no_grad;
  add_(w, mul(grad(w), -0.125));
  return loss;
}

TEST(Capture, TrainsAsTheStepItself) {
  const Tensor eager = leaf({1, -2, 3});
  const Tensor played = leaf({1, -2, 3});
  const Tensor x = tensor({0.5, 1, 0.25});
  descend(played, x);
  const CapturedPtr step =
      captured({x}, [&](const TensorList& in) { return TensorList{descend(played, in[0])}; });
  descend(eager, x);
  descend(eager, x);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(value(step->call({x})[0]), value(descend(eager, x)));
    EXPECT_EQ(values(played), values(eager));
    EXPECT_EQ(values(grad(played)), values(grad(eager)));
  }
}

TEST(Capture, AccumulatesIntoAGradientThatIsThere) {
  const Tensor w = leaf(3);
  set_grad(w, testing::full({}, 0.0, DType::kFloat32));
  const CapturedPtr f = captured({tensor({2}, {})}, [&](const TensorList& in) {
    backward({mul(w, in[0])});
    return TensorList{};
  });
  f->call({tensor({5}, {})});
  f->call({tensor({7}, {})});
  EXPECT_EQ(value(grad(w)), 14);
}

TEST(Capture, MakesConstantsOnceUnlessTheyChange) {
  const CapturedPtr f = captured({tensor({1, 1})}, [](const TensorList& in) {
    const Tensor counted = testing::full({2}, 0.0, DType::kFloat32);
    add_(counted, in[0]);
    const Tensor listed = tensor({10, 20});
    const Tensor result = add(add(counted, listed), 1);
    mul_(listed, 0);
    return TensorList{result, testing::full({2}, 4.0, DType::kFloat32)};
  });
  for (int i = 0; i < 3; ++i) {
    const TensorList results = f->call({tensor({1, 2})});
    EXPECT_EQ(values(results[0]), (Values{12, 23}));
    EXPECT_EQ(values(results[1]), (Values{4, 4}));
    // A result belongs to the caller.
    mul_(results[1], 0);
  }
}

TEST(Capture, MayReadConstantsAndNothingElse) {
  const Tensor outside = tensor({3}, {});
  const CapturedPtr f = captured({tensor({1}, {})}, [](const TensorList& in) {
    return TensorList{is_true(testing::full({}, 1.0, DType::kBool)) ? add(in[0], 1) : in[0]};
  });
  EXPECT_EQ(value(f->call({tensor({5}, {})})[0]), 6);
  const auto refuses = [&](auto&& fn) {
    expect_error(ErrorCode::kInvalidArgument, "capture", [&] { captured({tensor({1}, {})}, fn); });
  };
  refuses(
      [](const TensorList& in) { return TensorList{tensor({static_cast<float>(value(in[0]))})}; });
  refuses(
      [&](const TensorList&) { return TensorList{tensor({static_cast<float>(value(outside))})}; });
  refuses([&](const TensorList& in) {
    return TensorList{tensor({static_cast<float>(value(add(in[0], 1)))})};
  });
  EXPECT_EQ(recording(), nullptr);
}

TEST(Capture, RefusesRandomNumbersAndAnotherCapture) {
  expect_error(ErrorCode::kInvalidArgument, "random numbers",
               [] { captured({}, [](const TensorList&) { return TensorList{Rand::call({3})}; }); });
  const CapturedPtr other = captured({}, [](const TensorList&) { return TensorList{}; });
  expect_error(ErrorCode::kInvalidArgument, "capture",
               [&] { captured({}, [&](const TensorList&) { return other->call({}); }); });
  expect_error(ErrorCode::kInvalidArgument, "capture", [&] {
    captured({}, [&](const TensorList&) {
      captured({}, [](const TensorList&) { return TensorList{}; });
      return TensorList{};
    });
  });
}

TEST(Capture, ChecksItsInputs) {
  const CapturedPtr f =
      captured({tensor({1, 2})}, [](const TensorList& in) { return TensorList{in[0]}; });
  expect_error(ErrorCode::kInvalidArgument, "expected 1 inputs", [&] { f->call({}); });
  expect_error(ErrorCode::kShapeMismatch, "shape", [&] { f->call({tensor({1, 2, 3})}); });
  expect_error(ErrorCode::kDtypeMismatch, "int64",
               [&] { f->call({tensor<std::int64_t>({1, 2})}); });
  const Device other = default_device().is_cpu() ? testing::kTestDevice : Device{};
  expect_error(ErrorCode::kDeviceMismatch, "on '", [&] { f->call({tensor({1, 2}, {2}, other)}); });
}

TEST(Capture, ChecksIndicesEachTime) {
  const Tensor table = tensor({1, 2, 3, 4}, {2, 2});
  const Tensor index = tensor<std::int64_t>({0, 1});
  const CapturedPtr f = captured({index}, [&](const TensorList& in) {
    return TensorList{IndexSelect::call(table, 0, in[0])};
  });
  expect_error(ErrorCode::kIndexOutOfRange, "2", [&] { f->call({tensor<std::int64_t>({0, 2})}); });
  EXPECT_EQ(values(f->call({tensor<std::int64_t>({1, 0})})[0]), (Values{3, 4, 1, 2}));
}

TEST(Capture, LiveWorkIsDoneAnewInItsPlace) {
  int count = 0;
  const Tensor t = tensor({0}, {});
  const CapturedPtr f = captured({tensor({1}, {})}, [&](const TensorList& in) {
    add_(t, in[0]);
    run_live([&] { mul_(t, ++count); });
    return TensorList{t};
  });
  EXPECT_EQ(value(t), 1);
  EXPECT_EQ(value(f->call({tensor({1}, {})})[0]), 4);
  EXPECT_EQ(value(f->call({tensor({1}, {})})[0]), 15);
  // Outside a recording it is simply called.
  run_live([&] { count = 100; });
  EXPECT_EQ(count, 100);
}

TEST(Capture, KeepsTheMemoryThatItUses) {
  testing::settle();
  const std::int64_t before = memory_stats().bytes;
  CapturedPtr f;
  {
    const Tensor table = testing::full({1000}, 2.0, DType::kFloat32);
    f = captured({testing::full({1000}, 1.0, DType::kFloat32)},
                 [&](const TensorList& in) { return TensorList{mul(in[0], table)}; });
  }
  // Would reuse the memory of `table` if that had been freed.
  const Tensor other = testing::full({1000}, 9.0, DType::kFloat32);
  EXPECT_EQ(values(f->call({testing::full({1000}, 3.0, DType::kFloat32)})[0]), Values(1000, 6));
  EXPECT_EQ(values(other), Values(1000, 9));
  const std::int64_t kept = memory_stats().bytes;
  for (int i = 0; i < 10; ++i) f->call({other});
  EXPECT_EQ(memory_stats().bytes, kept);
  f.reset();
  EXPECT_EQ(memory_stats().bytes, before + 4000);
}

TEST(Capture, ReusesWhatIsFreedInIt) {
  testing::settle();
  const Tensor x = testing::full({10000}, 1.0, DType::kFloat32);
  const std::int64_t before = memory_stats().bytes;
  const CapturedPtr f = captured({x}, [](const TensorList& in) {
    Tensor t = in[0];
    for (int i = 0; i < 50; ++i) t = add(t, 1);
    return TensorList{t};
  });
  EXPECT_LT(memory_stats().bytes - before, 5 * 40000);
  EXPECT_EQ(values(f->call({x})[0]), Values(10000, 51));
}

TEST(Capture, TensorsOutliveIt) {
  Tensor kept;
  CapturedPtr f = captured({tensor({1, 2})}, [&](const TensorList& in) {
    kept = add(in[0], 1);
    return TensorList{mul(kept, 2)};
  });
  f->call({tensor({5, 6})});
  f.reset();
  const Tensor other = testing::full({2}, 9.0, DType::kFloat32);
  EXPECT_EQ(values(kept), (Values{6, 7}));
  EXPECT_EQ(values(other), (Values{9, 9}));
}

TEST(Capture, SeveralMayUseTheSameTensor) {
  Tensor shared = testing::full({2}, 0.0, DType::kFloat32);
  const auto adding = [&] {
    return captured({tensor({1, 1})}, [&](const TensorList& in) {
      add_(shared, in[0]);
      return TensorList{shared};
    });
  };
  CapturedPtr first = adding();
  const CapturedPtr second = adding();
  shared.reset();
  first->call({tensor({1, 2})});
  first.reset();
  EXPECT_EQ(values(second->call({tensor({10, 20})})[0]), (Values{13, 24}));
}

#if EG_THREADS
TEST(Capture, RecordsItsOwnThreadAlone) {
  const Tensor x = tensor({1, 2});
  Tensor elsewhere;
  const CapturedPtr f = captured({x}, [&](const TensorList& in) {
    std::thread([&] {
      EXPECT_EQ(recording(), nullptr);
      elsewhere = add(x, 1);
    }).join();
    return TensorList{add(in[0], 1)};
  });
  mul_(elsewhere, 0);
  f->call({x});
  EXPECT_EQ(values(elsewhere), (Values{0, 0}));
}
#endif

TEST(Capture, AnErrorLeavesNothingBehind) {
  const Tensor x = testing::full({1000}, 1.0, DType::kFloat32);
  const std::int64_t before = memory_stats().bytes;
  expect_error(ErrorCode::kShapeMismatch, "cannot be multiplied", [&] {
    captured({x}, [](const TensorList& in) {
      const Tensor t = add(in[0], 1);
      return TensorList{Matmul::call(t, testing::full({3, 3}, 1.0, DType::kFloat32))};
    });
  });
  EXPECT_EQ(recording(), nullptr);
  EXPECT_EQ(memory_stats().bytes, before);
  EXPECT_EQ(values(add(x, 1)), Values(1000, 2));
}

}  // namespace
}  // namespace eg
