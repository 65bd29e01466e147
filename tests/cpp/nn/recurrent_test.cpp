#include "ops/nn/recurrent.h"

#include <cmath>

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "ops/reduce/reduction.h"
#include "runtime/thread_pool.h"
#include "support/errors.h"
#include "support/expect_near.h"
#include "support/gradcheck.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::expect_error;
using testing::gradcheck_one;
using testing::leaf;
using testing::random_leaf;
using testing::tensor;
using testing::values;

struct Layer {
  Tensor gates;
  Tensor hidden;
  Tensor state;
  Tensor weight;
  Tensor bias;
};

Layer random_layer(std::int64_t steps, std::int64_t rows, std::int64_t width) {
  return {random_leaf({steps, rows, 4 * width}, 1), random_leaf({rows, width}, 2),
          random_leaf({rows, width}, 3), random_leaf({4 * width, width}, 4),
          random_leaf({4 * width}, 5)};
}

TensorList run(const Layer& layer, bool reverse) {
  return LstmSteps::call(layer.gates, layer.hidden, layer.state, layer.weight, layer.bias, reverse);
}

void expect_near(const Tensor& actual, const std::vector<double>& expected) {
  testing::expect_close(actual, expected, 1e-12);
}

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }

// The definition with one number per state, so that a step takes five lines.
TEST(LstmSteps, AreTheirFormula) {
  for (const bool reverse : {false, true}) {
    const Layer layer = random_layer(3, 1, 1);
    const auto gates = values(layer.gates);
    const auto weight = values(layer.weight);
    const auto bias = values(layer.bias);
    double hidden = values(layer.hidden)[0];
    double state = values(layer.state)[0];
    std::vector<double> outputs(3);
    for (std::size_t step = 0; step < 3; ++step) {
      const std::size_t place = reverse ? 2 - step : step;
      const auto sum = [&](std::size_t gate) {
        return gates[4 * place + gate] + weight[gate] * hidden + bias[gate];
      };
      const double input = sigmoid_of(sum(0));
      const double forget = sigmoid_of(sum(1));
      const double candidate = std::tanh(sum(2));
      const double output = sigmoid_of(sum(3));
      state = forget * state + input * candidate;
      hidden = output * std::tanh(state);
      outputs[place] = hidden;
    }
    const TensorList results = run(layer, reverse);
    expect_near(results[0], outputs);
    expect_near(results[1], {hidden});
    expect_near(results[2], {state});
  }
}

// Compares the gradient of the kernels, the gradient under create_graph and finite differences, for
// odd widths and for a loss of each result separately.
TEST(LstmSteps, GradientsAreTheSameByEitherWay) {
  for (const bool reverse : {false, true}) {
    for (const std::size_t result : {0, 1, 2}) {
      const Layer layer = random_layer(3, 2, 5);
      const TensorList inputs{layer.gates, layer.hidden, layer.state, layer.weight, layer.bias};
      const auto steps = [&](const TensorList& in) {
        return LstmSteps::call(in[0], in[1], in[2], in[3], in[4], reverse)[result];
      };
      EXPECT_TRUE(gradcheck_one(steps, inputs));
      const auto gradients = [&](bool create_graph) {
        const Tensor out = steps(inputs);
        return grad({out}, {inputs[0], inputs[1], inputs[2], inputs[3], inputs[4]}, {detach(out)},
                    {{.create_graph = create_graph}});
      };
      const TensorList fused = gradients(false);
      const TensorList composed = gradients(true);
      for (std::size_t i = 0; i < inputs.size(); ++i) expect_near(fused[i], values(composed[i]));
    }
  }
}

TEST(LstmSteps, KeepNothingWithoutARecord) {
  const Layer layer = random_layer(4, 3, 6);
  const TensorList recorded = run(layer, true);
  const GradModeGuard no_grad(false);
  const TensorList plain = run(layer, true);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(values(plain[i]), values(recorded[i]));
}

TEST(LstmSteps, DoNotDependOnTheNumberOfThreads) {
  const auto run_once = [] {
    const Layer layer = random_layer(3, 70, 33);
    const TensorList results = run(layer, false);
    backward({results[0]}, {detach(results[0])});
    return std::vector{values(results[0]), values(grad(layer.gates)), values(grad(layer.weight)),
                       values(grad(layer.bias)), values(grad(layer.state))};
  };
  const auto alone = run_once();
  set_num_threads(4);
  const auto shared = run_once();
  set_num_threads(1);
  EXPECT_EQ(alone, shared);
}

// For any number of steps; the gradients of the shared parameters are zero.
TEST(LstmSteps, OfNothingAreEmpty) {
  constexpr std::int64_t kSteps = std::int64_t{1} << 40;
  for (const bool reverse : {false, true}) {
    const Layer layer = random_layer(kSteps, 0, 2);
    const TensorList results = run(layer, reverse);
    EXPECT_EQ(results[0].shape(), (Shape{kSteps, 0, 2}));
    EXPECT_EQ(results[1].shape(), (Shape{0, 2}));
    EXPECT_EQ(results[2].shape(), (Shape{0, 2}));
    backward({Sum::call(results[0])});
    EXPECT_EQ(values(grad(layer.weight)), std::vector<double>(16));
    EXPECT_EQ(grad(layer.gates).shape(), layer.gates.shape());
  }
}

TEST(LstmSteps, RefuseWhatDoesNotFit) {
  const Layer layer = random_layer(2, 3, 4);
  expect_error(ErrorCode::kShapeMismatch, "weight do not match", [&] {
    LstmSteps::call(layer.gates, layer.hidden, layer.state, layer.gates, {}, false);
  });
  expect_error(ErrorCode::kShapeMismatch, "expected gates [steps, batch, 4 * size]", [&] {
    LstmSteps::call(layer.state, layer.hidden, layer.state, layer.weight, {}, false);
  });
}

}  // namespace
}  // namespace eg
