// markers: threads, variant

#include "ops/nn/recurrent.h"

#include <cmath>
#include <functional>
#include <string>

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

void expect_states(const Tensor& actual, const std::vector<double>& expected) {
  testing::expect_close(actual, expected, 1e-12);
}

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }

// The hidden state and, for LSTM, the state of one row with one unit.
struct Unit {
  double hidden;
  double state;
};

struct Cell {
  std::string name;
  std::int64_t gates;
  bool has_state;
  // Operands: input gates, hidden, weight, bias and, for LSTM, state.
  std::function<TensorList(const TensorList& operands, bool reverse)> run;
  // One step by its definition, from both parts of each gate.
  std::function<Unit(const std::vector<double>& x, const std::vector<double>& h, Unit before)> step;
};

Cell rnn(const std::string& name, Nonlinearity nonlinearity, double (*activation)(double)) {
  return {name, 1, false,
          [=](const TensorList& in, bool reverse) {
            return RnnSteps::call(in[0], in[1], in[2], in[3], nonlinearity, reverse);
          },
          [=](const auto& x, const auto& h, Unit) { return Unit{activation(x[0] + h[0]), 0}; }};
}

std::vector<Cell> all_cells() {
  const Cell lstm{"lstm", 4, true,
                  [](const TensorList& in, bool reverse) {
                    return LstmSteps::call(in[0], in[1], in[4], in[2], in[3], reverse);
                  },
                  [](const auto& x, const auto& h, Unit before) {
                    const double input = sigmoid_of(x[0] + h[0]);
                    const double forget = sigmoid_of(x[1] + h[1]);
                    const double candidate = std::tanh(x[2] + h[2]);
                    const double state = forget * before.state + input * candidate;
                    return Unit{sigmoid_of(x[3] + h[3]) * std::tanh(state), state};
                  }};
  const Cell gru{"gru", 3, false,
                 [](const TensorList& in, bool reverse) {
                   return GruSteps::call(in[0], in[1], in[2], in[3], reverse);
                 },
                 [](const auto& x, const auto& h, Unit before) {
                   const double reset = sigmoid_of(x[0] + h[0]);
                   const double update = sigmoid_of(x[1] + h[1]);
                   const double candidate = std::tanh(x[2] + reset * h[2]);
                   return Unit{(1 - update) * candidate + update * before.hidden, 0};
                 }};
  return {lstm, gru, rnn("tanh", Nonlinearity::kTanh, [](double x) { return std::tanh(x); }),
          rnn("relu", Nonlinearity::kRelu, [](double x) { return x > 0 ? x : 0; })};
}

TensorList random_operands(const Cell& cell, std::int64_t steps, std::int64_t rows,
                           std::int64_t width) {
  TensorList list{random_leaf({steps, rows, cell.gates * width}, 1), random_leaf({rows, width}, 2),
                  random_leaf({cell.gates * width, width}, 4),
                  random_leaf({cell.gates * width}, 5)};
  if (cell.has_state) list.push_back(random_leaf({rows, width}, 3));
  return list;
}

class RecurrentSteps : public ::testing::TestWithParam<Cell> {};

INSTANTIATE_TEST_SUITE_P(Cells, RecurrentSteps, ::testing::ValuesIn(all_cells()),
                         [](const auto& one) { return one.param.name; });

TEST_P(RecurrentSteps, AreTheirFormula) {
  const Cell& cell = GetParam();
  for (const bool reverse : {false, true}) {
    const TensorList operands = random_operands(cell, 3, 1, 1);
    const auto gates = values(operands[0]);
    const auto weight = values(operands[2]);
    const auto bias = values(operands[3]);
    Unit unit{values(operands[1])[0], cell.has_state ? values(operands[4])[0] : 0};
    std::vector<double> outputs(3);
    const auto count = static_cast<std::size_t>(cell.gates);
    for (std::size_t step = 0; step < 3; ++step) {
      const std::size_t place = reverse ? 2 - step : step;
      std::vector<double> x;
      std::vector<double> h;
      for (std::size_t gate = 0; gate < count; ++gate) {
        x.push_back(gates[count * place + gate]);
        h.push_back(weight[gate] * unit.hidden + bias[gate]);
      }
      unit = cell.step(x, h, unit);
      outputs[place] = unit.hidden;
    }
    const TensorList results = cell.run(operands, reverse);
    ASSERT_EQ(results.size(), cell.has_state ? 3u : 2u);
    expect_states(results[0], outputs);
    expect_states(results[1], {unit.hidden});
    if (cell.has_state) expect_states(results[2], {unit.state});
  }
}

// Compares the gradient of the kernels, the gradient under create_graph and finite differences, for
// odd widths, with and without biases and for a loss of each result separately.
TEST_P(RecurrentSteps, GradientsAreTheSameByEitherWay) {
  const Cell& cell = GetParam();
  for (const bool reverse : {false, true}) {
    const TensorList operands = random_operands(cell, 3, 2, 5);
    const std::size_t results = cell.has_state ? 3 : 2;
    for (std::size_t result = 0; result < results; ++result) {
      const auto steps = [&](const TensorList& in) { return cell.run(in, reverse)[result]; };
      EXPECT_TRUE(gradcheck_one(steps, operands));
      const auto gradients = [&](bool create_graph) {
        const Tensor out = steps(operands);
        return grad({out}, operands, {detach(out)}, {{.create_graph = create_graph}});
      };
      const TensorList fused = gradients(false);
      const TensorList composed = gradients(true);
      for (std::size_t i = 0; i < operands.size(); ++i)
        expect_states(fused[i], values(composed[i]));
    }
  }
}

TEST_P(RecurrentSteps, KeepNothingWithoutARecord) {
  const Cell& cell = GetParam();
  const TensorList operands = random_operands(cell, 4, 3, 6);
  const TensorList recorded = cell.run(operands, true);
  const GradModeGuard no_grad(false);
  const TensorList plain = cell.run(operands, true);
  for (std::size_t i = 0; i < plain.size(); ++i) EXPECT_EQ(values(plain[i]), values(recorded[i]));
}

TEST_P(RecurrentSteps, DoNotDependOnTheNumberOfThreads) {
  const Cell& cell = GetParam();
  const auto run_once = [&] {
    const TensorList operands = random_operands(cell, 3, 150, 67);
    const TensorList results = cell.run(operands, false);
    backward({results[0]}, {detach(results[0])});
    std::vector<std::vector<double>> numbers{values(results[0])};
    for (const Tensor& operand : operands) numbers.push_back(values(grad(operand)));
    return numbers;
  };
  const auto alone = run_once();
  set_num_threads(4);
  const auto shared = run_once();
  set_num_threads(1);
  EXPECT_EQ(alone, shared);
}

// For any number of steps; the gradients of the shared parameters are zero.
TEST_P(RecurrentSteps, OfNothingAreEmpty) {
  const Cell& cell = GetParam();
  constexpr std::int64_t kManySteps = std::int64_t{1} << 40;
  for (const bool reverse : {false, true}) {
    const TensorList operands = random_operands(cell, kManySteps, 0, 2);
    const TensorList results = cell.run(operands, reverse);
    EXPECT_EQ(results[0].shape(), (Shape{kManySteps, 0, 2}));
    for (std::size_t i = 1; i < results.size(); ++i) EXPECT_EQ(results[i].shape(), (Shape{0, 2}));
    backward({Sum::call(results[0])});
    EXPECT_EQ(values(grad(operands[2])),
              std::vector<double>(static_cast<std::size_t>(4 * cell.gates)));
    EXPECT_EQ(grad(operands[0]).shape(), operands[0].shape());
  }
}

TEST_P(RecurrentSteps, RefuseWhatDoesNotFit) {
  const Cell& cell = GetParam();
  const TensorList operands = random_operands(cell, 2, 3, 4);
  const auto with = [&](std::size_t i, const Tensor& other) {
    TensorList changed = operands;
    changed[i] = other;
    return [=, &cell] { cell.run(changed, false); };
  };
  expect_error(ErrorCode::kShapeMismatch, "weight do not match", with(2, operands[0]));
  expect_error(ErrorCode::kShapeMismatch, "weight do not match", with(3, random_leaf({5}, 1)));
  if (cell.has_state) {
    expect_error(ErrorCode::kShapeMismatch, "expected a state of shape [3, 4]",
                 with(4, random_leaf({3, 5}, 1)));
  }
  expect_error(ErrorCode::kShapeMismatch,
               "expected gates [steps, batch, " + std::to_string(cell.gates) + " * size]",
               with(0, operands[1]));
}

// A kink's gradient is that of relu(), and NaN is not lost.
TEST(RnnSteps, ReluIsZeroForNegativeSumsAndNanForNan) {
  const Tensor gates = leaf<double>({-1, 0, std::nan("")}, {3, 1, 1});
  const Tensor zeros = tensor<double>({0}, {1, 1});
  const Tensor output = RnnSteps::call(gates, zeros, zeros, {}, Nonlinearity::kRelu, false)[0];
  backward({output}, {tensor<double>({1, 1, 1}, {3, 1, 1})});
  EXPECT_EQ(values(output)[0], 0);
  EXPECT_EQ(values(output)[1], 0);
  EXPECT_TRUE(std::isnan(values(output)[2]));
  const auto found = values(grad(gates));
  EXPECT_EQ(found[1], 0);
}

}  // namespace
}  // namespace eg
