// markers: threads

#include "ops/optim/optim.h"

#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "runtime/thread_pool.h"
#include "support/errors.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::expect_error;
using testing::leaf;
using testing::tensor;
using testing::values;

using Values = std::vector<double>;

// torch.optim.SGD for one parameter, by its documentation.
struct SgdOptions {
  double lr = 0.1;
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;
  bool nesterov = false;
  bool maximize = false;
};

struct ReferenceSgd {
  SgdOptions options;
  bool has_buffer = false;
  double buffer = 0;

  double step(double theta, double g) {
    if (options.maximize) g = -g;
    g += options.weight_decay * theta;
    if (options.momentum != 0) {
      buffer = has_buffer ? options.momentum * buffer + (1 - options.dampening) * g : g;
      has_buffer = true;
      g = options.nesterov ? g + options.momentum * buffer : buffer;
    }
    return theta - options.lr * g;
  }
};

// torch.optim.Adam and AdamW for one parameter, by their documentation.
struct AdamOptions {
  double lr = 1e-2;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
  bool decoupled = false;
  bool amsgrad = false;
  bool maximize = false;
};

struct ReferenceAdam {
  AdamOptions options;
  int t = 0;
  double m = 0;
  double v = 0;
  double v_max = 0;

  double step(double theta, double g) {
    ++t;
    if (options.maximize) g = -g;
    if (options.decoupled)
      theta -= options.lr * options.weight_decay * theta;
    else
      g += options.weight_decay * theta;
    m = options.beta1 * m + (1 - options.beta1) * g;
    v = options.beta2 * v + (1 - options.beta2) * g * g;
    v_max = std::max(v_max, v);
    const double m_hat = m / (1 - std::pow(options.beta1, t));
    const double v_hat = (options.amsgrad ? v_max : v) / (1 - std::pow(options.beta2, t));
    return theta - options.lr * m_hat / (std::sqrt(v_hat) + options.eps);
  }
};

// A gradient that depends on the step and on the parameter, so that errors would accumulate.
double gradient(double theta, std::size_t i, int step) {
  return std::sin(theta * 3 + static_cast<double>(i)) + 0.1 * std::cos(0.7 * step);
}

template <class T>
Tensor gradient_of(const Tensor& param, int step) {
  const Values theta = values(param);
  std::vector<T> g;
  for (std::size_t i = 0; i < theta.size(); ++i)
    g.push_back(static_cast<T>(gradient(theta[i], i, step)));
  return tensor<T>(g, param.shape());
}

template <class T>
std::vector<T> start_values(std::size_t count) {
  std::mt19937 engine(7);
  std::uniform_real_distribution<double> distribution(-1, 1);
  std::vector<T> start;
  for (std::size_t i = 0; i < count; ++i) start.push_back(static_cast<T>(distribution(engine)));
  return start;
}

void expect_close(const Values& actual, const Values& expected, double tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    EXPECT_NEAR(actual[i], expected[i], tolerance * std::max(1.0, std::abs(expected[i])))
        << "at " << i;
  }
}

// 7 elements: whole vectors and a partial one.
constexpr std::size_t kCount = 7;
constexpr int kSteps = 50;

template <class T>
void compare_sgd(const SgdOptions& o, double tolerance) {
  const Tensor param = leaf<T>(start_values<T>(kCount));
  const Tensor buffer = testing::full({kCount}, 123, dtype_of<T>());
  Values expected = values(param);
  std::vector<ReferenceSgd> reference(kCount, {o});
  for (int step = 0; step < kSteps; ++step) {
    const TensorList buffers = o.momentum == 0 ? TensorList{} : TensorList{buffer};
    SgdStepInPlace::call({param}, {gradient_of<T>(param, step)}, buffers, o.lr, o.momentum,
                         o.dampening, o.weight_decay, o.nesterov, o.maximize, step == 0);
    for (std::size_t i = 0; i < kCount; ++i) {
      expected[i] = reference[i].step(expected[i], gradient(expected[i], i, step));
    }
  }
  expect_close(values(param), expected, tolerance);
}

template <class T>
void compare_adam(const AdamOptions& o, double tolerance) {
  const Tensor param = leaf<T>(start_values<T>(kCount));
  const Tensor m = testing::full({kCount}, 0, dtype_of<T>());
  const Tensor v = testing::full({kCount}, 0, dtype_of<T>());
  const Tensor v_max = testing::full({kCount}, 0, dtype_of<T>());
  Values expected = values(param);
  std::vector<ReferenceAdam> reference(kCount, {o});
  for (int step = 1; step <= kSteps; ++step) {
    AdamStepInPlace::call({param}, {gradient_of<T>(param, step)}, {m}, {v},
                          o.amsgrad ? TensorList{v_max} : TensorList{}, step, o.lr, o.beta1,
                          o.beta2, o.eps, o.weight_decay, o.decoupled, o.maximize);
    for (std::size_t i = 0; i < kCount; ++i) {
      expected[i] = reference[i].step(expected[i], gradient(expected[i], i, step));
    }
  }
  expect_close(values(param), expected, tolerance);
}

TEST(OptimOps, SgdFollowsPyTorchForFiftySteps) {
  for (const SgdOptions& options :
       {SgdOptions{}, SgdOptions{.weight_decay = 0.05}, SgdOptions{.momentum = 0.9},
        SgdOptions{.momentum = 0.9, .dampening = 0.3, .weight_decay = 0.01},
        SgdOptions{.lr = 0.02, .momentum = 0.8, .weight_decay = 0.01, .nesterov = true},
        SgdOptions{.lr = 0.01, .momentum = 0.5, .maximize = true}}) {
    compare_sgd<double>(options, 1e-12);
    compare_sgd<float>(options, 2e-6);
  }
}

TEST(OptimOps, AdamFollowsPyTorchForFiftySteps) {
  for (const AdamOptions& options :
       {AdamOptions{}, AdamOptions{.weight_decay = 0.1},
        AdamOptions{.weight_decay = 0.1, .decoupled = true},
        AdamOptions{.lr = 0.05, .amsgrad = true}, AdamOptions{.maximize = true},
        AdamOptions{.beta1 = 0.3, .beta2 = 0.9, .eps = 1e-4}, AdamOptions{.beta1 = 0, .eps = 0}}) {
    compare_adam<double>(options, 1e-12);
    compare_adam<float>(options, 2e-6);
  }
}

TEST(OptimOps, TheFirstAdamStepIsTheLearningRateInTheDirectionOfTheSign) {
  const Tensor param = leaf({1, 1, 1});
  const Tensor m = full_like(param, 0);
  const Tensor v = full_like(param, 0);
  AdamStepInPlace::call({param}, {tensor({2, -0.5, 0})}, {m}, {v}, {}, 1, 0.1, 0.9, 0.999, 1e-8, 0,
                        false, false);
  expect_close(values(param), {0.9, 1.1, 1}, 1e-6);
  expect_close(values(m), {0.2, -0.05, 0}, 1e-7);
  expect_close(values(v), {0.004, 0.00025, 0}, 1e-9);
}

TEST(OptimOps, StateThatHasDecayedBecomesZeroNotDenormal) {
  const Tensor param = leaf(start_values<float>(64));
  const Tensor m = testing::full({64}, 1, DType::kFloat32);
  const Tensor v = testing::full({64}, 1, DType::kFloat32);
  const Tensor buffer = testing::full({64}, 1, DType::kFloat32);
  const Tensor zero = testing::full({64}, 0, DType::kFloat32);
  const auto expect_no_denormals = [](const Tensor& state) {
    for (const double x : values(state)) {
      EXPECT_TRUE(x == 0 || std::abs(x) >= std::numeric_limits<float>::min()) << x;
    }
  };
  for (int step = 1; step < 2000; ++step) {
    AdamStepInPlace::call({param}, {zero}, {m}, {v}, {}, step, 1e-3, 0.9, 0.95, 1e-8, 0, false,
                          false);
    SgdStepInPlace::call({param}, {zero}, {buffer}, 0.1, 0.9, 0, 0, false, false, false);
    for (const Tensor& state : {m, v, buffer}) expect_no_denormals(state);
  }
  for (const Tensor& state : {m, v, buffer}) EXPECT_EQ(values(state), Values(64, 0.0));
}

TEST(OptimOps, NanReachesParametersAndState) {
  const Tensor param = leaf({1, 1});
  const Tensor m = full_like(param, 0);
  const Tensor v = full_like(param, 0);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  AdamStepInPlace::call({param}, {tensor({nan, 1})}, {m}, {v}, {}, 1, 0.1, 0.9, 0.999, 1e-8, 0,
                        false, false);
  EXPECT_TRUE(std::isnan(values(param)[0]) && std::isnan(values(m)[0]) && std::isnan(values(v)[0]));
  EXPECT_NEAR(values(param)[1], 0.9, 1e-6);
}

TEST(OptimOps, AnyLayoutOfParameterGradientAndStateGivesTheSameStep) {
  const std::vector<float> start = start_values<float>(6);
  const Tensor g = tensor({1, -2, 3, -4, 5, -6}, {2, 3});
  const auto step = [&](const Tensor& param, const Tensor& grad, const Tensor& m, const Tensor& v) {
    copy_data(param, tensor(start, {2, 3}));
    for (int t = 1; t <= 3; ++t) {
      AdamStepInPlace::call({param}, {grad}, {m}, {v}, {}, t, 0.1, 0.9, 0.999, 1e-8, 0.1, false,
                            false);
    }
    return values(param);
  };
  const auto zeros = [] { return testing::full({2, 3}, 0, DType::kFloat32); };
  const auto transposed = [] {
    return testing::full({6}, 0, DType::kFloat32).alias({2, 3}, {1, 2}, 0);
  };
  const auto every_other = [] {
    return testing::full({12}, 0, DType::kFloat32).alias({2, 3}, {6, 2}, 1);
  };
  const Tensor turned = transposed();
  copy_data(turned, g);
  const Values expected = step(zeros(), g, zeros(), zeros());
  EXPECT_EQ(step(zeros(), turned, zeros(), zeros()), expected);
  EXPECT_EQ(step(transposed(), g, zeros(), transposed()), expected);
  EXPECT_EQ(step(transposed(), turned, transposed(), transposed()), expected);
  EXPECT_EQ(step(every_other(), g, every_other(), transposed()), expected);

  const Tensor spaced = every_other();
  SgdStepInPlace::call({spaced}, {g}, {}, 0.5, 0, 0, 0, false, false, true);
  EXPECT_EQ(values(spaced), (Values{-0.5, 1, -1.5, 2, -2.5, 3}));
}

TEST(OptimOps, LargeParametersAreSharedByThreadsWithTheSameResult) {
  constexpr std::size_t kLarge = 100'003;
  const auto run = [] {
    const Tensor param = leaf(start_values<float>(kLarge));
    const Tensor m = full_like(param, 0);
    const Tensor v = full_like(param, 0);
    AdamStepInPlace::call({param}, {detach(param)}, {m}, {v}, {}, 1, 0.1, 0.9, 0.999, 1e-8, 0,
                          false, false);
    return values(param);
  };
  const Values alone = run();
  set_num_threads(4);
  const Values shared = run();
  set_num_threads(1);
  EXPECT_EQ(alone, shared);
}

TEST(OptimOps, AStepRaisesVersionsAndIsNotRecorded) {
  const Tensor param = leaf({1, 2});
  const Tensor buffer = full_like(param, 0);
  const Tensor g = tensor({1, 1});
  SgdStepInPlace::call({param}, {g}, {buffer}, 0.1, 0.9, 0, 0, false, false, true);
  EXPECT_EQ(param.version(), 1U);
  EXPECT_EQ(buffer.version(), 1U);
  EXPECT_EQ(g.version(), 0U);
  EXPECT_TRUE(is_leaf(param) && requires_grad(param));
}

// torch.optim.RMSprop and Adagrad for one parameter, by their documentation.
template <class T>
void compare_rmsprop(double momentum, bool centered, double weight_decay, double tolerance) {
  constexpr double kLr = 0.02;
  constexpr double kAlpha = 0.9;
  constexpr double kEps = 1e-8;
  const Tensor param = leaf<T>(start_values<T>(kCount));
  const auto state = [] { return testing::full({kCount}, 0, dtype_of<T>()); };
  const TensorList squares{state()};
  const TensorList buffers = momentum == 0 ? TensorList{} : TensorList{state()};
  const TensorList averages = centered ? TensorList{state()} : TensorList{};
  Values expected = values(param);
  Values v(kCount);
  Values mean(kCount);
  Values buffer(kCount);
  for (int step = 0; step < kSteps; ++step) {
    RmspropStepInPlace::call({param}, {gradient_of<T>(param, step)}, squares, buffers, averages,
                             kLr, kAlpha, kEps, weight_decay, momentum, false);
    for (std::size_t i = 0; i < kCount; ++i) {
      const double g = gradient(expected[i], i, step) + weight_decay * expected[i];
      v[i] = kAlpha * v[i] + (1 - kAlpha) * g * g;
      if (centered) mean[i] = kAlpha * mean[i] + (1 - kAlpha) * g;
      const double change = g / (std::sqrt(v[i] - mean[i] * mean[i]) + kEps);
      buffer[i] = momentum * buffer[i] + change;
      expected[i] -= kLr * buffer[i];
    }
  }
  expect_close(values(param), expected, tolerance);
}

TEST(OptimOps, RmspropFollowsItsFormula) {
  for (const double momentum : {0.0, 0.5}) {
    for (const bool centered : {false, true}) {
      compare_rmsprop<double>(momentum, centered, 0.1, 1e-9);
      compare_rmsprop<float>(momentum, centered, 0, 2e-3);
    }
  }
}

TEST(OptimOps, AdagradFollowsItsFormula) {
  const Tensor param = leaf<double>(start_values<double>(kCount));
  const Tensor sums = testing::full({kCount}, 0.5, DType::kFloat64);
  Values expected = values(param);
  Values sum(kCount, 0.5);
  for (int step = 0; step < kSteps; ++step) {
    AdagradStepInPlace::call({param}, {gradient_of<double>(param, step)}, {sums}, 0.1, 1e-10, 0.05,
                             true);
    for (std::size_t i = 0; i < kCount; ++i) {
      const double g = -gradient(expected[i], i, step) + 0.05 * expected[i];
      sum[i] += g * g;
      expected[i] -= 0.1 * g / (std::sqrt(sum[i]) + 1e-10);
    }
  }
  expect_close(values(param), expected, 1e-10);
}

TEST(OptimOps, CheckStepFindsWhatTheStepWouldFind) {
  const Tensor param = leaf({1, 2});
  const Tensor g = tensor({1, 1});
  const auto state = [] { return testing::full({2}, 0, DType::kFloat32); };
  CheckStepInPlace::call({param}, {g}, {state(), state()});
  expect_error(ErrorCode::kShapeMismatch, "grads[0] has shape [1, 2], but its parameter has [2]",
               [&] { CheckStepInPlace::call({param}, {tensor({1, 1}, {1, 2})}, {}); });
  expect_error(ErrorCode::kShapeMismatch, "state[0] has shape [3], but its parameter has [2]", [&] {
    CheckStepInPlace::call({param}, {g}, {state(), testing::full({3}, 0, DType::kFloat32)});
  });
  const Tensor expanded = tensor({1}).alias({2}, {0}, 0);
  expect_error(ErrorCode::kInvalidArgument, "share one memory location",
               [&] { CheckStepInPlace::call({expanded}, {g}, {}); });
  CheckStepInPlace::call({param}, {expanded}, {});
}

TEST(OptimOps, MistakesAreReportedBeforeAnythingChanges) {
  const Tensor good = leaf({1, 2});
  const Tensor g = tensor({1, 1});
  const auto sgd = [&](const TensorList& params, const TensorList& grads,
                       const TensorList& buffers) {
    SgdStepInPlace::call(params, grads, buffers, 0.1, 0.9, 0, 0, false, false, true);
  };
  const TensorList two{full_like(g, 0), full_like(g, 0)};
  expect_error(ErrorCode::kInvalidArgument, "expected 2 grads, one per parameter, got 1",
               [&] { sgd({good, leaf({1, 2})}, {g}, two); });
  expect_error(ErrorCode::kInvalidArgument, "momentum_buffers", [&] { sgd({good}, {g}, {}); });
  expect_error(ErrorCode::kShapeMismatch, "grads[1] has shape [2], but its parameter has [3]",
               [&] { sgd({good, leaf({1, 2, 3})}, {g, g}, two); });
  expect_error(ErrorCode::kDtypeMismatch,
               "grads[1] has dtype float32, but its parameter has float64",
               [&] { sgd({good, leaf<double>({1, 2})}, {g, g}, two); });
  expect_error(ErrorCode::kDtypeMismatch, "parameters must be floating-point or complex, got int64",
               [&] { sgd({good, tensor<std::int64_t>({1, 2})}, {g, g}, two); });
  expect_error(ErrorCode::kInvalidArgument, "step must be at least 1, got 0", [&] {
    AdamStepInPlace::call({good}, {g}, {two[0]}, {two[1]}, {}, 0, 0.1, 0.9, 0.999, 1e-8, 0, false,
                          false);
  });
  EXPECT_EQ(values(good), (Values{1, 2}));
}

}  // namespace
}  // namespace eg
