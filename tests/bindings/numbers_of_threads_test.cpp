// Functions of several threads that have the same number: every thread numbers its values from 1.

#include <atomic>
#include <cmath>

#include "js/border_test.h"

namespace eg::testing::js {
namespace {

class NumbersOfThreads : public BorderTest {};

// Uses one number of this thread up, and returns it.
double use_number() {
  Realm& realm = Realm::own();
  const double number = realm.hold(std::make_shared<Value>());
  realm.drop(number);
  return number;
}

TEST_F(NumbersOfThreads, RemovingAHookLeavesThatOfAnotherThread) {
  const Tensor here = leaf({1, 2});
  const Tensor there = leaf({1, 2});
  int calls_here = 0;
  std::atomic<int> calls_there{0};
  const double last = use_number();
  const Hook own = register_hook(here, [&](const Tensor&) {
    ++calls_here;
    return Tensor();
  });
  Worker worker;
  Hook of_worker;
  worker.run([&] {
    while (use_number() < last) {
    }
    of_worker = register_hook(there, [&](const Tensor&) {
      ++calls_there;
      return Tensor();
    });
  });
  worker.wait();
  ASSERT_EQ(own.id, of_worker.id);
  own.remove();
  backward(sum(here));
  backward(sum(there));
  EXPECT_EQ(calls_here, 0);
  EXPECT_EQ(calls_there, 1);
  worker.run([&] { of_worker.remove(); });
  worker.wait();
  backward(sum(there));
  EXPECT_EQ(calls_there, 1);
}

TEST_F(NumbersOfThreads, FunctionsAreNeverTakenForEachOther) {
  constexpr int kThreads = 3;
  constexpr int kSteps = 100;
  const auto train = [](float first) {
    for (int step = 0; step < kSteps; ++step) {
      const float value = first + static_cast<float>(step);
      const Tensor x = leaf({value, -value});
      const Tensor y = square(x);
      const Tensor z = square(y);
      backward(sum(z));
      const double expected = 4.0 * std::pow(static_cast<double>(value), 3);
      const std::vector<double> got = values(grad_of(x));
      EXPECT_NEAR(got[0], expected, std::abs(expected) * 1e-5);
      EXPECT_NEAR(got[1], -expected, std::abs(expected) * 1e-5);
    }
  };
  std::vector<std::unique_ptr<Worker>> workers;
  for (int i = 0; i < kThreads; ++i) {
    workers.push_back(std::make_unique<Worker>());
    workers.back()->run([&train, i] { train(static_cast<float>(i + 1)); });
  }
  train(0.5F);
  for (const auto& worker : workers) worker->wait();
}

}  // namespace
}  // namespace eg::testing::js
