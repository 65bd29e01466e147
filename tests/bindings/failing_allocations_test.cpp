// Every function that JavaScript calls, with each of its allocations failing: it fails with
// OutOfMemory or not at all, nothing is left behind, and the engine works on.

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>

#include "js/border_test.h"
#include "js/failing_memory.h"
#include "support/test_device.h"

namespace eg::testing::js {
namespace {

using Threads = FailingMemory::Threads;
using Length = FailingMemory::Length;

constexpr int kMaterialize = 32;
constexpr int kCapture = 128;

/// Calls a function at the end of a scope.
class Finally {
 public:
  explicit Finally(std::function<void()> body) : body_(std::move(body)) {}
  ~Finally() { body_(); }
  Finally(const Finally&) = delete;
  Finally& operator=(const Finally&) = delete;

 private:
  std::function<void()> body_;
};

Tensor owned(double handle) { return Tensor(checked(handle)); }

std::vector<Tensor> owned_results(double count) {
  std::vector<Tensor> all;
  for (const double handle : results(checked(count))) all.emplace_back(handle);
  return all;
}

// The node that a call has written to the front of the frame.
Node node_of(double count) {
  checked(count);
  return Node(results(1)[0]);
}

// A hook of a node: takes lists, and changes nothing.
double hold_node_hook() {
  return hold_function([](const Words& words) {
    std::vector<Tensor> given;
    for (std::size_t i = 0; i < words.size();) {
      const std::size_t end = i + 1 + static_cast<std::size_t>(words[i]);
      for (++i; i < end; ++i) given.emplace_back(words[i]);
    }
    return Words{};
  });
}

// Settles all, and throws the first error.
void settle_all(const std::vector<OutcomePtr>& outcomes) {
  settle(outcomes);
  for (const OutcomePtr& one : outcomes) {
    if (one->error != nullptr) throw Thrown{one->error};
  }
}

void tensors() {
  const Tensor a = tensor({1, 2, 3, 4});
  const Tensor same = owned(native::retain(a.handle()));
  native::makeFirstHandle(same.handle());
  native::firstHandle(a.handle());
  const Tensor view = call("select", {a.handle(), 0, 1});
  const Tensor base = owned(native::base(view.handle()));
  const Tensor data = owned(native::data(a.handle()));
  const Tensor detached = owned(native::detach(a.handle()));
  checked(native::ownResult(view.handle()));
  const std::vector<Tensor> parts = call_for_list("split", {a.handle(), 1, 1, 0});
  checked(native::info(parts.at(3).handle()));
  add_(a, data);
  checked(native::frame(600));
}

void values_on_a_device() {
  const Tensor a = tensor({1, 2, 3, 4});
  const Tensor there = owned(native::toDevice(a.handle(), static_cast<int>(DeviceType::kTest)));
  checked(native::dataAddress(there.handle()));
  // Lets go of the copy.
  checked(native::dataAddress(a.handle()));
}

void random_numbers() {
  const Finally end([] { native::useOwnGenerator(0); });
  native::useOwnGenerator(1);
  native::manualSeed(0, 7);
  const Tensor state = owned(native::rngState());
  checked(native::setRngState(state.handle()));
}

void numbers() {
  native::memory();
  native::features();
  native::borderHash();
  native::hasFailed();
  native::reserveStack();
  native::dropThrown();
  native::graphTaskId();
  native::setEngineNumber(0);
  native::setWarnAlways(native::setWarnAlways(false));
  native::useFactoryDevice(0);
  native::useFactoryDevice(-1);
  checked(native::runPieces(1));
  checked(native::endedThreads());
  checked(native::cancelGraph(0));
  native::beginMessages();
  native::endMessages();
}

void gradients() {
  const Tensor x = leaf({1, 2, 3});
  const Tensor y = mul(x, x);
  checked(native::retainGrad(y.handle()));
  backward(sum(exp(y)), kRetain);
  grad_of(x);
  grad_of(y);
  set_grad(x, tensor({1, 1, 1}).handle());
  set_grad(x, 0);
  const Tensor alone = owned(native::detach(y.handle()));
  checked(native::setRequiresGrad(alone.handle(), true));
  checked(native::detachInPlace(alone.handle()));
}

void derivatives_of_derivatives() {
  const Tensor x = leaf({1, 2, 3});
  const Tensor y = mul(x, x);
  const Tensor root = sum(exp(y));
  write({root.handle(), -1, 0, x.handle(), -1, y.handle(), -1});
  const std::vector<Tensor> grads =
      owned_results(native::runGraph(1, 2, kRetain | kCreateGraph | kMaterialize | kCapture));
  backward(sum(grads.at(0)));
}

void views_changed_in_place() {
  const Tensor x = leaf({1, 2, 3});
  const Tensor y = mul(x, x);
  const Tensor part = call("select", {y.handle(), 0, 1});
  add_(part, part);
  grad_of(y);
  const Node maker = node_of(native::gradFn(part.handle()));
  backward(sum(y));
}

void nodes() {
  const Tensor x = leaf({1, 2, 3});
  const Tensor y = mul(x, x);
  const Node node = node_of(native::gradFn(y.handle()));
  const Node of_leaf = node_of(native::gradientNode(x.handle()));
  const Node of_edge = node_of(native::gradientEdge(y.handle()));
  const Tensor variable = owned(native::nodeVariable(of_leaf.handle()));
  checked(native::nextFunctions(node.handle()));
  const Words next = results(6);
  const Node first(next[0]);
  const Node second(next[3]);
  checked(native::nodeNumbers(node.handle()));
  checked(native::inputMetadata(node.handle()));
  const std::vector<Tensor> all_saved = owned_results(native::nodeSavedTensors(node.handle()));
  checked(native::setNodeMetadata(node.handle(), Realm::own().hold(std::make_shared<Value>())));
  checked(native::nodeMetadata(node.handle()));
  embound<std::string>("nodeName", node.handle());
  embound<std::string>("gradFnName", y.handle());
  embound<std::string>("savedNames", node.handle());
  embound<std::string>("savedNumbers", node.handle());
  const Tensor saved = owned(native::savedTensor(node.handle(), 0));
}

void hooks() {
  const Tensor x = leaf({1, 2, 3});
  const Tensor y = mul(x, x);
  const Node node = node_of(native::gradFn(y.handle()));
  const auto hook = std::make_shared<Hook>();
  *hook = register_hook(y, [hook](const Tensor& grad) {
    checked(native::hookWillRun(hook->id));
    checked(native::queueCallback(hold_function([](const Words&) { return Words{}; })));
    checked(native::keepWithCall(Realm::own().hold(std::make_shared<Value>())));
    native::graphTaskId();
    native::isCheckpointValid();
    return mul(grad, 2);
  });
  const Hook removed = register_hook(x, [](const Tensor&) { return Tensor(); });
  removed.remove();
  register_post_accumulate_grad_hook(x, [](const Tensor&) {});
  checked(native::registerNodePrehook(node.handle(), hold_node_hook()));
  checked(native::registerNodeHook(node.handle(), hold_node_hook()));
  backward(sum(y));
}

void functions() { backward(sum(square(leaf({1, 2, 3})))); }

void options_of_functions() {
  const Tensor x = leaf({1, 2, 3});
  const Tensor changed = mul(x, 2);
  const double id = hold_function([](const Words& words) {
    const Tensor grad(words[0]);
    return Words{0};
  });
  write({changed.handle(), 'F'});
  const Node node(checked(native::beginFunction(id, 1, 1, 1)));
  checked(native::setMaterializeGrads(id, false));
  checked(native::needsInputGrad(id, 0));
  write({changed.handle()});
  checked(native::markDirty(id, 1));
  const Tensor other = tensor({1, 2});
  write({other.handle()});
  checked(native::markNonDifferentiable(id, 1));
  native::setGradEnabled(false);
  const Finally end([] { native::setGradEnabled(true); });
  write({changed.handle(), other.handle()});
  checked(native::endFunction(id, 2));
  std::vector<Tensor> made;
  for (const double handle : results(2)) made.emplace_back(handle == -1 ? 0 : handle);
}

void saved_tensors() {
  const Tensor x = leaf({1, 2, 3});
  Tensor root;
  {
    const PackedElsewhere packed;
    packed.push();
    const Finally end([] { native::popSavedTensorHooks(); });
    root = sum(exp(mul(x, x)));
  }
  backward(root);
  const Tensor y = exp(x);
  const Node node = node_of(native::gradFn(y.handle()));
  const auto same = [](const Words& words) {
    const Tensor given(words.back());
    return Words{1, given.handle()};
  };
  const double pack = hold_function([](const Words& words) {
    const Tensor given(words[0]);
    return Words{0, Realm::own().hold(std::make_shared<Value>())};
  });
  checked(native::registerSavedHooks(node.handle(), 0, pack, hold_function(same)));
}

void modes() {
  const bool was_enabled = native::isGradEnabled();
  native::setGradEnabled(was_enabled);
  native::setDefaultDtype(native::defaultDtype());
  native::setAutocast(native::setAutocast(static_cast<int>(DType::kFloat32)));
  {
    checked(native::pushInferenceMode(true));
    const Finally end([] { native::popInferenceMode(); });
    native::isInferenceModeEnabled();
    const Tensor x = tensor({1, 2, 3});
    mul(x, x);
  }
  checked(embound<double>("disableSavedTensorHooks", std::string(100, '.')));
  native::enableSavedTensorHooks();
}

void forward_mode() {
  checked(native::enterDualLevel());
  const Finally end([] { native::exitDualLevel(); });
  const Tensor x = tensor({1, 2, 3});
  const Tensor tangent = tensor({1, 1, 1});
  const Tensor dual = owned(native::makeDual(x.handle(), tangent.handle()));
  const Tensor y = sum(mul(exp(dual), dual));
  const std::vector<Tensor> both = owned_results(native::unpackDual(y.handle()));
  const double id = hold_function([](const Words&) { return Words{0}; });
  write({dual.handle(), 'F'});
  const Node node(checked(native::beginFunction(id, 1, 1, 2)));
  const auto kept = std::make_shared<Tensor>();
  const double jvp = hold_function([kept](const Words& words) {
    const Tensor given(words[0]);
    *kept = mul(given, 2);
    return Words{kept->handle()};
  });
  checked(native::setFunctionJvp(id, jvp));
  Tensor raw;
  {
    checked(native::hideDualLevel());
    const Finally show([] { native::showDualLevel(); });
    raw = mul(dual, 2);
    write({dual.handle()});
    checked(native::saveForForward(id, 1));
  }
  const Tensor output = end_function(id, std::move(raw));
}

void versions() {
  const Tensor x = tensor({1, 2, 3});
  checked(native::storageAddress(x.handle()));
  checked(native::incrementVersion(x.handle()));
  checked(native::setVersion(x.handle(), 0));
}

void captured_functions() {
  const Tensor example = tensor({0, 1});
  write({example.handle()});
  const Owned function(checked(native::beginCapture(1)));
  {
    bool is_finished = false;
    const Tensor place(results(1)[0]);
    const Finally end([&] {
      if (!is_finished) native::stopCapture(function.handle());
    });
    const Tensor result = mul(exp(place), 2);
    checked(native::runLive(hold_function([](const Words&) { return Words{}; })));
    write({result.handle()});
    checked(native::endCapture(function.handle(), 1));
    is_finished = true;
  }
  for (int i = 0; i < 2; ++i) {
    write({example.handle()});
    const std::vector<Tensor> results_of_call =
        owned_results(native::callCaptured(function.handle(), 1));
  }
  native::outdate(example.handle());
}

void stopped_capture() {
  const Tensor example = tensor({0, 1});
  write({example.handle()});
  const Owned function(checked(native::beginCapture(1)));
  const Finally end([&] { native::stopCapture(function.handle()); });
  const Tensor place(results(1)[0]);
  const Tensor result = exp(place);
}

void anomaly_mode() {
  const int before = native::anomalyMode();
  native::setAnomalyMode(3);
  const Finally end([before] { native::setAnomalyMode(before); });
  native::connectMessages();
  const Tensor x = leaf({1, 2, 3});
  const Tensor y = square(x);
  const Node node = node_of(native::gradFn(y.handle()));
  embound<std::string>("forwardStack", node.handle());
  backward(sum(y));
  settle_all({backward_async(sum(square(x)))});
}

void profiles() {
  const double first = checked(native::startProfiler());
  const Finally end([first] {
    native::stopProfiler(first);
    embound<std::string>("profiled");
  });
  const Tensor x = leaf({1, 2, 3});
  backward(sum(mul(x, x)));
  native::profilerNow();
}

void threads_of_kernels() {
  const Finally end([] { native::setThreads(1); });
  checked(native::setThreads(3));
  native::threadCount();
  const Tensor x = tensor(std::vector<float>(200'000, 1));
  sum(exp(x));
}

void nested_calls() {
  int depth = 0;
  const std::function<void()> nest = [&] {
    const Tensor x = leaf({1});
    register_hook(x, [&](const Tensor&) {
      // It is off in a backward call, which restores it.
      native::setGradEnabled(true);
      if (++depth < 64) nest();
      return Tensor();
    });
    backward(sum(x));
  };
  nest();
}

void calls_that_run_later() {
  const Tensor x = leaf({1, 2, 3});
  const Tensor root = sum(mul(exp(x), x));
  std::vector<OutcomePtr> outcomes;
  const Finally end([&] { settle(outcomes); });
  for (int i = 0; i < 4; ++i) outcomes.push_back(backward_async(root, kRetain));
  settle_all(outcomes);
}

void functions_that_run_later() {
  const Tensor x = leaf({1, 2, 3});
  const Tensor y = square(square(x));
  register_hook(y, [](const Tensor& grad) { return mul(grad, 2); });
  const Node node = node_of(native::gradFn(y.handle()));
  checked(native::registerNodePrehook(node.handle(), hold_node_hook()));
  settle_all({backward_async(sum(y))});
}

void many_gradients_later() {
  std::vector<Tensor> leaves;
  for (int i = 0; i < 10; ++i) leaves.push_back(leaf({1, 2}));
  Tensor total = mul(leaves[0], 2);
  for (const Tensor& one : leaves) total = add(total, mul(one, one));
  std::vector<const Tensor*> inputs;
  for (const Tensor& one : leaves) inputs.push_back(&one);
  settle_all({grad_async(sum(total), inputs)});
}

void packed_values_later() {
  const Tensor x = leaf({1, 2, 3});
  const Tensor root = sum(mul(exp(x), x));
  const PackedElsewhere packed;
  packed.push();
  OutcomePtr outcome;
  {
    const Finally end([] { native::popSavedTensorHooks(); });
    outcome = grad_async(root, {&x}, kRetain | kCreateGraph);
  }
  settle_all({outcome});
  backward(sum(outcome->results.at(0)));
}

// Made in advance: a thread that cannot begin to run has no call that could fail.
Worker*& started_worker() {
  static Worker* worker = nullptr;
  return worker;
}

void hooks_of_a_worker() {
  Worker& worker = *started_worker();
  const Tensor x = leaf({1, 2, 3});
  std::optional<Thrown> thrown;
  worker.run([&] {
    try {
      register_hook(x, [](const Tensor& grad) { return mul(grad, 2); });
    } catch (const Thrown& error) {
      thrown = error;
    }
  });
  worker.wait();
  if (thrown.has_value()) throw Thrown{*thrown};
  Tensor given = mul(x, 2);
  native::giveHandle(given.handle(), worker.thread());
  backward(sum(x));
  settle_all({backward_async(sum(x))});
}

void gradients_of_a_device() {
  const DefaultDeviceGuard device(kTestDevice);
  const Finally end([] { Engine::instance().stop(); });
  const Tensor x = leaf({1, 2, 3});
  const Tensor y = square(mul(x, x));
  backward(sum(y));
}

void gradients_of_a_device_later() {
  const DefaultDeviceGuard device(kTestDevice);
  const Finally end([] { Engine::instance().stop(); });
  const Tensor x = leaf({1, 2, 3});
  const OutcomePtr first = backward_async(sum(square(mul(x, x))));
  const Finally settled([&] { settle({first}); });
  settle_all({first, backward_async(sum(mul(x, x)))});
}

struct Program {
  const char* name;
  void (*run)();
};

constexpr std::array kPrograms{
    Program{"tensors", &tensors},
    Program{"values on a device", &values_on_a_device},
    Program{"random numbers", &random_numbers},
    Program{"numbers", &numbers},
    Program{"gradients", &gradients},
    Program{"derivatives of derivatives", &derivatives_of_derivatives},
    Program{"views changed in place", &views_changed_in_place},
    Program{"nodes", &nodes},
    Program{"hooks", &hooks},
    Program{"functions", &functions},
    Program{"options of functions", &options_of_functions},
    Program{"saved tensors", &saved_tensors},
    Program{"modes", &modes},
    Program{"forward mode", &forward_mode},
    Program{"versions", &versions},
    Program{"captured functions", &captured_functions},
    Program{"stopped capture", &stopped_capture},
    Program{"anomaly mode", &anomaly_mode},
    Program{"profiles", &profiles},
    Program{"threads of kernels", &threads_of_kernels},
    Program{"nested calls", &nested_calls},
    Program{"calls that run later", &calls_that_run_later},
    Program{"functions that run later", &functions_that_run_later},
    Program{"many gradients later", &many_gradients_later},
    Program{"packed values later", &packed_values_later},
    Program{"hooks of a worker", &hooks_of_a_worker},
    Program{"gradients of a device", &gradients_of_a_device},
    Program{"gradients of a device later", &gradients_of_a_device_later},
};

struct Way {
  const char* name;
  Threads threads;
  Length length;
};

constexpr std::array kWays{
    Way{"in a call", Threads::kOfJavaScript, Length::kOnce},
    Way{"in calls from then on", Threads::kOfJavaScript, Length::kForGood},
    Way{"on a thread of the engine", Threads::kOfEngine, Length::kOnce},
    Way{"on threads of the engine from then on", Threads::kOfEngine, Length::kForGood},
    Way{"anywhere from then on", Threads::kAll, Length::kForGood},
};

// Of programs with more allocations than this, a sample is tried.
constexpr std::int64_t kEach = 48;

class FailingAllocations : public BorderTest {
 protected:
  void SetUp() override {
    BorderTest::SetUp();
    started_worker() = &worker_.emplace();
  }
  void TearDown() override {
    worker_.reset();
    BorderTest::TearDown();
  }

  // Runs a program with failures; returns whether an allocation has failed.
  static bool run_failing(const Program& program, std::int64_t successes, const Way& way) {
    const FailingMemory failing(successes, way.threads, way.length);
    try {
      program.run();
    } catch (const Thrown& thrown) {
      const RunningScope scope(Running::kJavaScript);
      const auto error = std::dynamic_pointer_cast<ErrorValue>(thrown.value);
      EXPECT_TRUE(error != nullptr && error->code == "OutOfMemory") << described(thrown.value);
    } catch (const std::exception& error) {
      ADD_FAILURE() << "An exception of C++ reached JavaScript: " << error.what();
    }
    return FailingMemory::has_failed();
  }

  static void expect_engine_works() {
    const Tensor x = leaf({1, 2, 3});
    backward(sum(square(x)));
    EXPECT_EQ(values(grad_of(x)), (std::vector<double>{2, 4, 6}));
    settle_all({backward_async(sum(square(x)))});
    EXPECT_EQ(values(grad_of(x)), (std::vector<double>{4, 8, 12}));
    EXPECT_TRUE(native::isGradEnabled());
    warnings().clear();
  }

 private:
  std::optional<Worker> worker_;
};

TEST_F(FailingAllocations, EndInErrors) {
  for (const Program& program : kPrograms) {
    for (const Way& way : kWays) {
      bool has_failed = true;
      for (std::int64_t successes = 0; has_failed && !HasFailure();
           successes += 1 + successes / kEach) {
        SCOPED_TRACE(std::string(program.name) + ": allocation " + std::to_string(successes) +
                     " fails " + way.name);
        has_failed = run_failing(program, successes, way);
        expect_nothing_left();
        expect_engine_works();
      }
    }
  }
}

TEST_F(FailingAllocations, AreTriedInEveryFunction) {
  // They need a main thread that loads parts, or are called when a thread starts or ends.
  const std::set<std::string_view> left_out{
      "sharedParts", "allocatePart",     "requestPart", "failWithoutPart", "joinThread",
      "leaveThread", "releaseHandlesOf", "closeInbox",  "stopThread",      "freeThread",
      "loseThread",  "startThread",      "threadDied"};
  called_exports().clear();  // Other tests may have run before, or not.
  for (const Program& program : kPrograms) program.run();
  for (const std::string_view name : native::kAll) {
    EXPECT_TRUE(called_exports().contains(name) || left_out.contains(name)) << name;
  }
  warnings().clear();
}

}  // namespace
}  // namespace eg::testing::js
