// Random programs of views and in-place changes, compared with equivalent programs without either.
//
// The equivalent program has one tensor per storage that is never changed: a view is a selection of
// its elements by index, and a change of the view makes a new tensor with those elements replaced.
// The elements of a view are found by applying the same view ops to a tensor of indices. If a
// program overwrites a value that backward needs, which the test determines independently, backward
// must throw.

#include <random>

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "autograd/grad_mode.h"
#include "ops/index/index.h"
#include "ops/shape/stride.h"
#include "support/gradcheck.h"
#include "support/live_counts.h"
#include "support/ops.h"
#include "support/repetitions.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::add;
using testing::clone;
using testing::mul;
using testing::sum;
using testing::values;

Tensor flat(const Tensor& t) { return Reshape::call(t, {-1}); }

class Program {
 public:
  explicit Program(unsigned seed) : random_(seed) {
    for (int i = 0; i < 2; ++i) leaves_.push_back(testing::random_leaf({3, 4}, random_(), -1, 1));
    for (const Tensor& leaf : leaves_) add_base(clone(leaf), clone(leaf));
    const Tensor constant = detach(testing::random_leaf({3, 4}, random_(), -1, 1));
    add_base(clone(constant), constant);
    const int steps = pick(4, 14);
    for (int i = 0; i < steps; ++i) step();
  }

  // Runs backward of both programs and compares the gradients.
  void check() {
    const TensorList weights = make_weights();
    const TensorList expected = derivatives(functional_, weights);
    if (has_overwritten_a_saved_value()) {
      EXPECT_THROW(derivatives(eager_bases(), weights), Error) << log_;
      release_graph();
      return;
    }
    compare(eager_bases(), functional_, "value");
    compare(derivatives(eager_bases(), weights), expected, "derivative");
  }
  bool has_overwritten_a_saved_value() const {
    return std::any_of(saved_.begin(), saved_.end(), [](const SavedValue& saved) {
      return saved.tensor.version() != saved.version;
    });
  }

  // A tensor that was saved and then changed by a result computed from it ends up owning itself.
  // This is the cost of saving inputs as they are, in cases where backward throws anyway.
  void release_graph() const {
    std::vector<Node*> found;
    const auto find = [&](Node* node) {
      if (node != nullptr && std::find(found.begin(), found.end(), node) == found.end()) {
        found.push_back(node);
      }
    };
    std::vector<IntrusivePtr<Node>> roots;
    for (const Tensor& base : eager_bases()) roots.push_back(grad_fn(base));
    for (const IntrusivePtr<Node>& root : roots) find(root.get());
    for (std::size_t i = 0; i < found.size(); ++i) {
      for (const Edge& edge : found[i]->next_edges()) find(edge.function.get());
    }
    for (Node* node : found) node->release_variables();
  }

 private:
  struct View {
    std::size_t base;
    Tensor eager;
    Tensor index;  ///< which elements of the base, in the shape of the view
  };
  // A value that a node saves, according to the formulas.
  struct SavedValue {
    Tensor tensor;
    std::uint32_t version;
  };

  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  View& any_view() { return views_[static_cast<std::size_t>(pick(0, int(views_.size()) - 1))]; }

  void add_base(const Tensor& eager, const Tensor& functional) {
    const Tensor index =
        testing::generated<std::int64_t>(eager.shape(), [](std::int64_t i) { return i; });
    bases_.push_back(views_.size());
    views_.push_back({functional_.size(), eager, index});
    functional_.push_back(functional);
  }
  TensorList eager_bases() const {
    TensorList result;
    for (const std::size_t view : bases_) result.push_back(views_[view].eager);
    return result;
  }

  Tensor read(const View& v) const {
    return Reshape::call(IndexSelect::call(flat(functional_[v.base]), 0, flat(v.index)),
                         v.index.shape());
  }
  void write(const View& v, const Tensor& value) {
    Tensor& base = functional_[v.base];
    base = Reshape::call(IndexCopy::call(flat(base), 0, flat(v.index), flat(value)), base.shape());
  }
  void will_save(const Tensor& t) { saved_.push_back({detach(t), t.version()}); }

  void step() {
    switch (pick(0, 8)) {
      case 0:
      case 1:
      case 2:
        return make_view();
      case 3:
      case 4:
        return change_by_number();
      case 5:
        return change_by_tensor();
      case 6:
        return make_base();
      case 7:
        return change_unrecorded();
      default:
        // Reading a history may update it, but must not change anything else.
        (void)grad_fn(any_view().eager);
    }
  }

  void make_view() {
    const View from = any_view();
    const std::int64_t ndim = from.eager.ndim();
    const int kind = pick(0, 4);
    if (ndim == 0) return;
    const std::int64_t dim = pick(0, static_cast<int>(ndim) - 1);
    const auto size = static_cast<int>(from.eager.size(dim));
    const int start = pick(0, size - 1);
    const int end = pick(start + 1, size);
    const int step = pick(1, 2);
    const auto show = [&](const Tensor& t) -> Tensor {
      if (kind == 0) return Select::call(t, dim, start);
      if (kind == 1) return Transpose::call(t, 0, -1);
      if (kind == 2) return Unsqueeze::call(t, dim);
      return Slice::call(t, dim, start, end, step);
    };
    views_.push_back({from.base, show(from.eager), show(from.index)});
    log_ += "view ";
  }

  void change_by_number() {
    View& v = any_view();
    const bool recorded = requires_grad(v.eager);
    switch (pick(0, 4)) {
      case 0:
        call_in_place<op::Mul>(v.eager, 1.5);
        write(v, mul(read(v), 1.5));
        break;
      case 1:
        call_in_place<op::Add>(v.eager, 0.5);
        write(v, add(read(v), 0.5));
        break;
      case 2:
        call_in_place<op::Sin>(v.eager);
        write(v, call<op::Sin>(read(v)));
        break;
      case 3:
        FillInPlace::call(v.eager, 0.25);
        write(v, full_like(read(v), 0.25));
        break;
      default:
        call_in_place<op::Tanh>(v.eager);
        write(v, call<op::Tanh>(read(v)));
        if (recorded) will_save(v.eager);
        log_ += "tanh";
    }
    log_ += "change ";
  }

  void change_by_tensor() {
    View& v = any_view();
    const View& other = any_view();
    if (other.eager.numel() != v.eager.numel()) return;
    Tensor operand = Reshape::call(other.eager, v.eager.shape());
    const bool lies_across =
        operand.shares_storage_with(v.eager) &&
        (operand.strides() != v.eager.strides() || operand.offset() != v.eager.offset());
    if (lies_across && is_dense(operand) && is_dense(v.eager)) {
      // Throws if the view overlaps itself.
      operand = Clone::call(operand);
    }
    const Tensor operand_value = Reshape::call(read(other), v.eager.shape());
    const bool target_requires_grad = requires_grad(v.eager);
    switch (pick(0, 2)) {
      case 0:
        CopyInPlace::call(v.eager, operand);
        write(v, operand_value);
        break;
      case 1:
        call_in_place<op::Add>(v.eager, operand);
        write(v, add(read(v), operand_value));
        break;
      default: {
        // Overlapping memory is copied before it is read and saved.
        if (target_requires_grad && !lies_across) will_save(operand);
        call_in_place<op::Mul>(v.eager, operand);
        write(v, mul(read(v), operand_value));
      }
    }
    log_ += "combine ";
  }

  static bool is_dense(const Tensor& t) {
    return is_non_overlapping_and_dense(t.shape(), t.strides());
  }

  void make_base() {
    const View a = any_view();
    const View b = any_view();
    if (a.eager.shape() != b.eager.shape() || views_.size() > 24) return;
    if (requires_grad(b.eager)) will_save(a.eager);
    if (requires_grad(a.eager)) will_save(b.eager);
    add_base(mul(a.eager, b.eager), mul(read(a), read(b)));
    log_ += "multiply ";
  }

  // Values change, but gradients pass unchanged.
  void change_unrecorded() {
    View& v = any_view();
    const Tensor before = detach(read(v));
    if (pick(0, 1) == 0) {
      const NoGradGuard guard;
      call_in_place<op::Mul>(v.eager, -1);
    } else {
      call_in_place<op::Mul>(detach(v.eager), -1);
    }
    write(v, add(read(v), mul(before, -2)));
    log_ += "unrecorded ";
  }

  TensorList make_weights() {
    TensorList weights;
    for (const Tensor& base : functional_) {
      weights.push_back(detach(testing::random_leaf(base.shape(), random_(), 0.5, 1)));
    }
    return weights;
  }
  // First and second derivatives of the weighted sum.
  TensorList derivatives(const TensorList& bases, const TensorList& weights) const {
    Tensor loss = testing::full({}, 0, DType::kFloat64);
    for (std::size_t i = 0; i < bases.size(); ++i) {
      loss = add(loss, sum(mul(bases[i], weights[i])));
    }
    const GradOptions options{{.create_graph = true}, /*allow_unused=*/true};
    if (!requires_grad(loss)) return TensorList(2 * leaves_.size());
    TensorList result = grad({loss}, leaves_, {}, options);
    Tensor squares = testing::full({}, 0, DType::kFloat64);
    for (const Tensor& g : result) {
      if (g.defined()) squares = add(squares, sum(mul(g, g)));
    }
    TensorList second(leaves_.size());
    if (requires_grad(squares)) {
      second = grad({squares}, leaves_, {}, {{}, /*allow_unused=*/true});
    }
    result.insert(result.end(), second.begin(), second.end());
    return result;
  }
  void compare(const TensorList& actual, const TensorList& expected, const char* what) const {
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const std::size_t size = 12;
      const auto a = actual[i].defined() ? values(actual[i]) : std::vector<double>(size);
      const auto b = expected[i].defined() ? values(expected[i]) : std::vector<double>(a.size());
      ASSERT_LE(b.size(), a.size()) << log_;
      for (std::size_t j = 0; j < b.size(); ++j) {
        ASSERT_NEAR(a[j], b[j], 1e-9 * (1 + std::abs(b[j])))
            << what << ' ' << i << ", element " << j << " of: " << log_;
      }
    }
  }

  std::mt19937 random_;
  TensorList leaves_;
  std::vector<View> views_;
  std::vector<std::size_t> bases_;  ///< places in views_, in the order of functional_
  TensorList functional_;
  std::vector<SavedValue> saved_;
  std::string log_;
};

// rule: inplace-programs-agree
TEST(InPlacePrograms, EqualTheirFunctionalRewriting) {
  unsigned refused = 0;
  constexpr unsigned kPrograms = testing::repetitions(4000);
  for (unsigned seed = 0; seed < kPrograms && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    const std::int64_t nodes = testing::live_nodes();
    const std::int64_t tensors = testing::live_tensors();
    bool is_refused = false;
    {
      Program program(seed);
      is_refused = program.has_overwritten_a_saved_value();
      program.check();
    }
    refused += is_refused ? 1 : 0;
    EXPECT_EQ(testing::live_nodes(), nodes);
    EXPECT_EQ(testing::live_tensors(), tensors);
  }
  // Both kinds of programs have occurred.
  EXPECT_GT(refused, kPrograms / 20);
  EXPECT_LT(refused, kPrograms / 2);
}

}  // namespace
}  // namespace eg
