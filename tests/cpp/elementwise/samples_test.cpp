// Gamma and Dirichlet samples, which are internal to the package: values and gradients are those of
// PyTorch 1.13.1.

#include "ops/random/samples.h"

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "base/error.h"
#include "dispatch/var.h"
#include "runtime/random.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::leaf;
using testing::tensor;
using testing::values;

void expect_samples(const Tensor& actual, const std::vector<double>& expected) {
  const auto numbers = values(actual);
  ASSERT_EQ(numbers.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(numbers[i], expected[i], 1e-9 * std::abs(expected[i])) << i;
}

Tensor alphas() { return leaf<double>({2, 3, 4, 0.5, 9, 20}, {2, 3}); }

template <class Op>
void expect_no_second_derivative() {
  const Tensor alpha = alphas();
  GradOptions options;
  options.create_graph = true;
  const Tensor weighted = (Var(Op::call(alpha)) * Var(alpha)).tensor();
  const Tensor slope = grad({testing::sum(weighted)}, {alpha}, {}, options)[0];
  try {
    grad({testing::sum(slope)}, {alpha});
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kNotDifferentiable) << error.what();
  }
}

TEST(StandardGamma, IsDrawnAsPyTorchDraws) {
  const Tensor alpha = leaf<double>({0.05, 0.9, 1.5, 4, 8.5, 20, 300}, {7});
  manual_seed(12);
  const Tensor drawn = StandardGamma::call(alpha);
  expect_samples(
      drawn, {1.968862140883529e-12, 0.11893917480980423, 0.6603980992563724, 2.1537259828073547,
              7.753594775039632, 23.228462433844214, 286.22877173051825});
  expect_samples(grad({testing::sum(drawn)}, {alpha})[0],
                 {1.0417533238336258e-09, 0.35453951536627143, 0.7158511204340644,
                  0.7522755863239705, 0.9736481090355245, 1.0857025659595252, 0.9772391860330375});
}

TEST(StandardGamma, OfNoShapeIsTheSmallestNumber) {
  const std::vector<float> expected(2, std::numeric_limits<float>::min());
  EXPECT_EQ(values(StandardGamma::call(tensor<float>({0, std::nanf("")}))),
            values(tensor<float>(expected)));
}

TEST(SampleDirichlet, IsDrawnAsPyTorchDraws) {
  const Tensor alpha = leaf<double>({0.1, 0.5, 1, 2, 3, 4, 8, 9, 20}, {3, 3});
  const Tensor weights = tensor<double>({1, 2, 3, 4, 5, 6, 7, 8, 9}, {3, 3});
  manual_seed(16);
  const Tensor drawn = SampleDirichlet::call(alpha);
  expect_samples(drawn, {0.0026840666226276913, 0.3837717367964273, 0.613544196580945,
                         0.20031231444439665, 0.12128766494791227, 0.678400020607691,
                         0.20786605265200922, 0.24962513789014598, 0.542508809457845});
  const Tensor weighted = (Var(drawn) * Var(weights)).tensor();
  expect_samples(grad({testing::sum(weighted)}, {alpha})[0],
                 {-0.23316486931717642, -0.6990354768453746, 0.3482295162581348,
                  -0.17543518040974684, -0.03330308552923807, 0.07732224043519663,
                  -0.03642607121748757, -0.009418749242057142, 0.018329458280026033});
}

TEST(SampleDirichlet, RefusesAScalar) {
  EXPECT_THROW(SampleDirichlet::call(leaf<double>({1}, {})), Error);
}

TEST(Samples, HaveNoSecondDerivative) {
  expect_no_second_derivative<StandardGamma>();
  expect_no_second_derivative<SampleDirichlet>();
}

TEST(Generator, OfAThreadsOwnLeavesTheCommonOneAlone) {
  manual_seed(3);
  const auto before = default_generator().state();
  use_own_generator(true);
  manual_seed(4);
  EXPECT_EQ(active_generator().initial_seed(), 4u);
  use_own_generator(false);
  EXPECT_EQ(active_generator().initial_seed(), 3u);
  EXPECT_EQ(default_generator().state(), before);
}

}  // namespace
}  // namespace eg
