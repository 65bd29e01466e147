// markers: threads

#include "autograd/engine/ready_queue.h"

#include <memory>
#include <thread>

#include <gtest/gtest.h>

#include "autograd/graph/basic_nodes.h"

namespace eg {
namespace {

class NumberedNode final : public Node {
 public:
  explicit NumberedNode(std::uint64_t sequence_nr) : Node({}, sequence_nr) {}
  std::string name() const override { return "Numbered"; }
  GradList apply(GradList&& grads) override { return std::move(grads); }
};

IntrusivePtr<Node> node(std::uint64_t sequence_nr) {
  return make_intrusive<NumberedNode>(sequence_nr);
}

IntrusivePtr<GraphTask> task_of_depth(int depth) {
  return make_intrusive<GraphTask>(false, false, depth, std::make_shared<ReadyQueue>());
}

// rule: queue-order, accumulator-at-once
TEST(ReadyQueue, PopsShutdownThenWakeUpsThenExpiredThenDeepThenNewest) {
  ReadyQueue queue;
  const auto shallow = task_of_depth(0);
  const auto deep = task_of_depth(1);
  queue.push(NodeTask(shallow, node(5), {}));
  queue.push(NodeTask(shallow, node(9), {}));
  queue.push(NodeTask(deep, node(1), {}));
  queue.push(NodeTask(shallow, node(kAccumulateGradSequenceNr), {}));
  queue.push_wake_up();
  queue.push_shutdown();
  queue.push(NodeTask(nullptr, node(3), {}));

  EXPECT_TRUE(queue.pop().is_shutdown);
  EXPECT_EQ(queue.pop().fn, nullptr);
  EXPECT_EQ(queue.pop().graph_task.lock(), nullptr);
  EXPECT_EQ(queue.pop().sequence_nr, 1U);
  EXPECT_EQ(queue.pop().sequence_nr, kAccumulateGradSequenceNr);
  EXPECT_EQ(queue.pop().sequence_nr, 9U);
  EXPECT_EQ(queue.pop().sequence_nr, 5U);
  EXPECT_TRUE(queue.empty());
}

// rule: outstanding-tasks
TEST(ReadyQueue, CountsPushedTasksAsOutstanding) {
  ReadyQueue queue;
  const auto task = task_of_depth(0);
  queue.push(NodeTask(task, node(1), {}));
  queue.push(NodeTask(task, node(2), {}));
  EXPECT_EQ(task->outstanding_tasks.load(), 2);
  EXPECT_EQ(queue.size(), 2U);
}

// rule: ended-call-keeps-nothing
TEST(ReadyQueue, ATaskOfACallThatHasEndedKeepsNothing) {
  auto queue = std::make_shared<ReadyQueue>();
  const std::weak_ptr<ReadyQueue> watched = queue;
  {
    const auto task = make_intrusive<GraphTask>(false, false, 0, queue);
    queue->push(NodeTask(task, node(1), {}));
  }
  queue.reset();
  EXPECT_TRUE(watched.expired());
}

// rule: queued-tasks-skipped
TEST(ReadyQueue, DropsTheTasksOfOneCall) {
  ReadyQueue queue;
  const auto dropped = task_of_depth(1);
  const auto kept = task_of_depth(0);
  for (const std::uint64_t number : {1U, 2U, 3U}) {
    queue.push(NodeTask(dropped, node(number), {}));
    queue.push(NodeTask(kept, node(number), {}));
  }
  queue.drop_tasks_of(*dropped);
  EXPECT_EQ(queue.size(), 3U);
  for (const std::uint64_t number : {3U, 2U, 1U}) EXPECT_EQ(queue.pop().sequence_nr, number);
}

#if EG_THREADS
// rule: queue-waits
TEST(ReadyQueue, PopWaitsForAPushFromAnotherThread) {
  ReadyQueue queue;
  const auto task = task_of_depth(0);
  std::thread pusher([&] { queue.push(NodeTask(task, node(7), {})); });
  EXPECT_EQ(queue.pop().sequence_nr, 7U);
  pusher.join();
}
#endif

}  // namespace
}  // namespace eg
