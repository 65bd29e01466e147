#include <limits>

#include <gtest/gtest.h>

#include "autograd/anomaly_mode.h"
#include "autograd/autograd.h"
#include "autograd/engine/engine.h"
#include "support/errors.h"
#include "support/graphs.h"
#include "support/live_counts.h"
#include "support/tensors.h"
#include "support/warnings.h"

namespace eg {
namespace {

using testing::expect_error;
using testing::leaf;
using testing::mul;
using testing::sum;
using testing::tensor;
using testing::through;
using testing::value;
using testing::WarningRecorder;

std::string here;

class Anomaly : public ::testing::Test {
 protected:
  void SetUp() override {
    previous_ = set_stack_capture([] { return here; });
  }
  void TearDown() override { set_stack_capture(previous_); }

  bool warned(const std::string& text) const {
    for (const std::string& message : warnings_.messages()) {
      if (message.find(text) != std::string::npos) return true;
    }
    return false;
  }

  WarningRecorder warnings_;

 private:
  StackCapture previous_ = nullptr;
};

Tensor nan_maker(const Tensor& x) {
  return through(x, [](GradList&& g) {
    return GradList{mul(g[0], std::numeric_limits<double>::quiet_NaN())};
  });
}

// rule: anomaly-nan, anomaly-origin
TEST_F(Anomaly, FindsTheNodeThatReturnsNan) {
  const Tensor x = leaf({1, 2});
  backward({sum(nan_maker(x))});
  const AnomalyModeGuard guard(true);
  here = "at train.js:12";
  const Tensor y = nan_maker(mul(x, 2));
  set_grad(x, Tensor());
  expect_error(ErrorCode::kAnomalyNan, "FunctionalBackward returned NaN in gradient 0",
               [&] { backward({sum(y)}); });
  EXPECT_FALSE(grad(x).defined());
  EXPECT_TRUE(warned(
      "backward failed in FunctionalBackward. FunctionalBackward was made here:\nat train.js:12"));
}

// rule: anomaly-nan
TEST_F(Anomaly, AllowsInfinity) {
  const AnomalyModeGuard guard(true);
  const Tensor x = leaf(1);
  backward({sum(through(x, [](GradList&& g) {
    return GradList{mul(g[0], std::numeric_limits<double>::infinity())};
  }))});
  EXPECT_EQ(value(grad(x)), std::numeric_limits<double>::infinity());
}

// rule: anomaly-origin
TEST_F(Anomaly, SaysSoWhenTheForwardPassWasOutside) {
  const Tensor x = leaf(1);
  const Tensor y = through(x, [](GradList&&) -> GradList { throw std::runtime_error("Boom!"); });
  const AnomalyModeGuard guard(true);
  EXPECT_THROW(backward({y}), std::runtime_error);
  EXPECT_TRUE(warned("backward failed in FunctionalBackward. Its origin is unknown"));
}

// rule: anomaly-parents
TEST_F(Anomaly, NamesTheNodeThatMadeTheFailingOne) {
  const AnomalyModeGuard guard(true);
  const Tensor x = leaf(1);
  here = "first";
  const Tensor y = through(x, [](GradList&& g) {
    here = "second";
    return GradList{nan_maker(g[0])};
  });
  const Tensor go = leaf(1);
  const Tensor g = grad({y}, {x}, {go}, {{.create_graph = true}})[0];
  expect_error(ErrorCode::kAnomalyNan, "returned NaN in gradient ", [&] { (void)grad({g}, {go}); });
  ASSERT_EQ(warnings_.messages().size(), 2U);
  EXPECT_TRUE(
      warned("backward failed in FunctionalBackward. FunctionalBackward was made here:\nsecond"));
  EXPECT_TRUE(
      warned("made by backward of FunctionalBackward. FunctionalBackward was made here:\nfirst"));
}

// rule: anomaly-nan, anomaly-restored
TEST_F(Anomaly, ChecksForNanOnlyWhenAskedToAndRestoresBothFlags) {
  const Tensor x = leaf(1);
  {
    const AnomalyModeGuard outer(true, false);
    backward({nan_maker(x)});
    {
      const AnomalyModeGuard inner(true, true);
      expect_error(ErrorCode::kAnomalyNan, "returned NaN in gradient ",
                   [&] { backward({nan_maker(x)}); });
    }
    EXPECT_TRUE(AnomalyMode::is_enabled());
    EXPECT_FALSE(AnomalyMode::should_check_nan());
    backward({nan_maker(x)});
  }
  EXPECT_FALSE(AnomalyMode::is_enabled());
  EXPECT_TRUE(AnomalyMode::should_check_nan());
}

// rule: anomaly-no-cycles, node-metadata
TEST_F(Anomaly, MetadataMakesNoCycles) {
  const std::int64_t nodes = testing::live_nodes();
  const std::int64_t tensors = testing::live_tensors();
  {
    const AnomalyModeGuard guard(true);
    const Tensor x = leaf(2);
    const Tensor y = mul(mul(x, x), x);
    const Tensor g = grad({y}, {x}, {}, {{.create_graph = true}})[0];
    const Tensor h = grad({g}, {x}, {}, {{.create_graph = true}})[0];
    EXPECT_EQ(grad_fn(x), nullptr);
    EXPECT_NE(grad_fn(h)->metadata(), nullptr);
    EXPECT_NE(grad_fn(h)->metadata()->parent, nullptr);
  }
  EXPECT_EQ(testing::live_nodes(), nodes);
  EXPECT_EQ(testing::live_tensors(), tensors);
}

TEST_F(Anomaly, OffRemembersNothing) {
  const Tensor x = leaf(1);
  EXPECT_EQ(grad_fn(mul(x, 2))->metadata(), nullptr);
}

}  // namespace
}  // namespace eg
