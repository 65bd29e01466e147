#include "ops/optim/optim.h"

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "dispatch/factories.h"
#include "dispatch/overlap.h"
#include "kernels/optim.h"

namespace eg {
namespace {

// An argument of a step with one tensor for each parameter.
struct StepList {
  std::string_view name;
  const TensorList& tensors;
  /// An optional list may be empty.
  bool is_optional = false;

  Tensor at(std::size_t i) const { return tensors.empty() ? Tensor() : tensors[i]; }
};

void check_lists(std::string_view op, const TensorList& params,
                 std::initializer_list<StepList> lists) {
  for (const Tensor& param : params) {
    check(is_differentiable(param.dtype()), ErrorCode::kDtypeMismatch, op,
          "parameters must be floating-point or complex, got ", param.dtype(), '.');
    check_inplace(param, false);
    check_no_internal_overlap(param);
  }
  for (const StepList& list : lists) {
    if (list.is_optional && list.tensors.empty()) continue;
    check(list.tensors.size() == params.size(), ErrorCode::kInvalidArgument, op, "expected ",
          params.size(), ' ', list.name, ", one per parameter, got ", list.tensors.size(), '.');
    for (std::size_t i = 0; i < params.size(); ++i) {
      const Tensor& t = list.tensors[i];
      const Tensor& param = params[i];
      check(t.shape() == param.shape(), ErrorCode::kShapeMismatch, op, list.name, '[', i,
            "] has shape ", t.shape(), ", but its parameter has ", param.shape(), '.');
      check(t.dtype() == param.dtype(), ErrorCode::kDtypeMismatch, op, list.name, '[', i,
            "] has dtype ", t.dtype(), ", but its parameter has ", param.dtype(), '.');
      check(t.device() == param.device(), ErrorCode::kDeviceMismatch, op, list.name, '[', i,
            "] is on ", t.device(), ", but its parameter is on ", param.device(), '.');
    }
  }
}

// The memory order in which a step processes a parameter, its gradient and its state.
Strides order_of(const Tensor& param) {
  return is_non_overlapping_and_dense(param.shape(), param.strides())
             ? param.strides()
             : contiguous_strides(param.shape());
}

// A complex number is updated as two real ones.
std::int64_t count_parts(const Tensor& param) {
  return is_complex(param.dtype()) ? 2 * param.numel() : param.numel();
}

// The elements of a tensor as one block in a given order: the tensor's memory if it has that order,
// else a copy. Undefined for an undefined tensor.
class Block {
 public:
  Block(const Tensor& t, const Strides& order) : tensor_(t), block_(t) {
    if (!t.defined() || t.strides() == order) return;
    block_ = Tensor::empty(t.shape(), t.dtype(), t.device()).alias(t.shape(), order, 0);
    copy_data(block_, tensor_);
  }

  /// The memory of the block for a kernel; for complex numbers, that of their parts.
  MemoryView memory() const {
    if (!block_.defined()) return {};
    const MemoryView memory = block_.memory();
    return {memory.base, memory.offset, real_dtype(memory.dtype), memory.device};
  }

  /// Writes a changed block to the tensor and raises the tensor's version.
  void commit() const {
    if (!tensor_.defined()) return;
    if (!block_.is_same(tensor_)) copy_data(tensor_, block_);
    tensor_.bump_version();
  }

 private:
  Tensor tensor_;
  Tensor block_;
};

// A parameter, its gradient and its state.
using Blocks = std::vector<Block>;

// Checks the lists of a step and prepares all memory before anything changes. Then calls
// `step(count, blocks)` for every parameter; the blocks are the parameter and its tensor of each
// list.
template <class Step>
TensorList for_each_param(std::string_view op, const TensorList& params,
                          std::initializer_list<StepList> lists, Step&& step) {
  check_lists(op, params, lists);
  std::vector<Blocks> all(params.size());
  for (std::size_t i = 0; i < params.size(); ++i) {
    const Strides order = order_of(params[i]);
    all[i].emplace_back(params[i], order);
    for (const StepList& list : lists) all[i].emplace_back(list.at(i), order);
  }
  for (std::size_t i = 0; i < params.size(); ++i) {
    step(count_parts(params[i]), all[i]);
    for (std::size_t k = 0; k < all[i].size(); ++k) {
      // The second block, the gradient, is only read.
      if (k != 1) all[i][k].commit();
    }
  }
  return {};
}

}  // namespace

TensorList CheckStepInPlace::call(const TensorList& params, const TensorList& grads,
                                  const TensorList& states) {
  check_lists(doc.name, params, {{"grads", grads}});
  for (std::size_t first = 0; first < states.size(); first += params.size()) {
    const std::size_t end = std::min(states.size(), first + params.size());
    const auto begin = states.begin();
    const TensorList list(begin + static_cast<std::ptrdiff_t>(first),
                          begin + static_cast<std::ptrdiff_t>(end));
    check_lists(doc.name, params, {{"state", list}});
    for (const Tensor& t : list) check_inplace(t, false);
  }
  return {};
}

TensorList SgdStepInPlace::call(const TensorList& params, const TensorList& grads,
                                const TensorList& momentum_buffers, double lr, double momentum,
                                double dampening, double weight_decay, bool nesterov, bool maximize,
                                bool first) {
  const kernel::SgdOptions options{lr,       momentum, dampening, weight_decay,
                                   nesterov, maximize, first};
  return for_each_param(
      doc.name, params, {{"grads", grads}, {"momentum_buffers", momentum_buffers, momentum == 0}},
      [&](std::int64_t count, const Blocks& b) {
        run(kernel::SgdStep{options, count, b[0].memory(), b[1].memory(), b[2].memory()});
      });
}

TensorList AdamStepInPlace::call(const TensorList& params, const TensorList& grads,
                                 const TensorList& exp_avgs, const TensorList& exp_avg_sqs,
                                 const TensorList& max_exp_avg_sqs, std::int64_t step, double lr,
                                 double beta1, double beta2, double eps, double weight_decay,
                                 bool decoupled, bool maximize) {
  check(step >= 1, ErrorCode::kInvalidArgument, doc.name, "step must be at least 1, got ", step,
        '.');
  const kernel::AdamOptions options{
      static_cast<double>(step), lr, beta1, beta2, eps, weight_decay, decoupled, maximize};
  return for_each_param(doc.name, params,
                        {{"grads", grads},
                         {"exp_avgs", exp_avgs},
                         {"exp_avg_sqs", exp_avg_sqs},
                         {"max_exp_avg_sqs", max_exp_avg_sqs, true}},
                        [&](std::int64_t count, const Blocks& b) {
                          run(kernel::AdamStep{options, count, b[0].memory(), b[1].memory(),
                                               b[2].memory(), b[3].memory(), b[4].memory()});
                        });
}

TensorList RmspropStepInPlace::call(const TensorList& params, const TensorList& grads,
                                    const TensorList& square_avgs,
                                    const TensorList& momentum_buffers, const TensorList& grad_avgs,
                                    double lr, double alpha, double eps, double weight_decay,
                                    double momentum, bool maximize) {
  const kernel::RmspropOptions options{lr, alpha, eps, weight_decay, momentum, maximize};
  return for_each_param(doc.name, params,
                        {{"grads", grads},
                         {"square_avgs", square_avgs},
                         {"momentum_buffers", momentum_buffers, momentum == 0},
                         {"grad_avgs", grad_avgs, true}},
                        [&](std::int64_t count, const Blocks& b) {
                          run(kernel::RmspropStep{options, count, b[0].memory(), b[1].memory(),
                                                  b[2].memory(), b[3].memory(), b[4].memory()});
                        });
}

TensorList AdagradStepInPlace::call(const TensorList& params, const TensorList& grads,
                                    const TensorList& sums, double lr, double eps,
                                    double weight_decay, bool maximize) {
  const kernel::AdagradOptions options{lr, eps, weight_decay, maximize};
  return for_each_param(
      doc.name, params, {{"grads", grads}, {"sums", sums}},
      [&](std::int64_t count, const Blocks& b) {
        run(kernel::AdagradStep{options, count, b[0].memory(), b[1].memory(), b[2].memory()});
      });
}

}  // namespace eg
