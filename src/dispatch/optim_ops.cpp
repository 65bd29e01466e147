#include "dispatch/optim_ops.h"

#include "backend/cpu/optim.h"
#include "dispatch/factories.h"

namespace eg {
namespace {

// One tensor that a step works on besides the parameter, per parameter.
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
          "expected parameters of a floating point or complex dtype, got ", param.dtype(), '.');
    check_inplace(param, false);
  }
  for (const StepList& list : lists) {
    if (list.is_optional && list.tensors.empty()) continue;
    check(list.tensors.size() == params.size(), ErrorCode::kInvalidArgument, op, "expected ",
          params.size(), ' ', list.name, ", one per parameter, got ", list.tensors.size(), '.');
    for (std::size_t i = 0; i < params.size(); ++i) {
      const Tensor& t = list.tensors[i];
      const Tensor& param = params[i];
      check(t.shape() == param.shape(), ErrorCode::kShapeMismatch, op, list.name, '[', i,
            "] has shape ", t.shape(), ", its parameter ", param.shape(), '.');
      check(t.dtype() == param.dtype(), ErrorCode::kDtypeMismatch, op, list.name, '[', i,
            "] has dtype ", t.dtype(), ", its parameter ", param.dtype(), '.');
      check(t.device() == param.device(), ErrorCode::kDeviceMismatch, op, list.name, '[', i,
            "] is on ", t.device(), ", its parameter on ", param.device(), '.');
    }
  }
}

// The memory order in which a step runs over a parameter and all that belongs to it.
Strides order_of(const Tensor& param) {
  return is_non_overlapping_and_dense(param.shape(), param.strides())
             ? param.strides()
             : contiguous_strides(param.shape());
}

// A complex number is stepped as two real ones.
std::int64_t count_parts(const Tensor& param) {
  return is_complex(param.dtype()) ? 2 * param.numel() : param.numel();
}

// The elements of a tensor as one block in a given order: its own memory where it lies so, else a
// copy. Undefined stays so.
class Block {
 public:
  Block(const Tensor& t, const Strides& order) : tensor_(t), block_(t) {
    if (!t.defined() || t.strides() == order) return;
    block_ = Tensor::empty(t.shape(), t.dtype(), t.device()).alias(t.shape(), order, 0);
    copy_data(block_, tensor_);
  }

  template <class T>
  T* data() const {
    return block_.defined() ? block_.data_as<T>() : nullptr;
  }

  /// Ends a change of the block: the tensor has its values, and a new version.
  void commit() const {
    if (!tensor_.defined()) return;
    if (!block_.is_same(tensor_)) copy_data(tensor_, block_);
    tensor_.bump_version();
  }

 private:
  Tensor tensor_;
  Tensor block_;
};

}  // namespace

TensorList SgdStepInPlace::call(const TensorList& params, const TensorList& grads,
                                const TensorList& momentum_buffers, double lr, double momentum,
                                double dampening, double weight_decay, bool nesterov, bool maximize,
                                bool first) {
  const StepList buffers{"momentum_buffers", momentum_buffers, momentum == 0};
  check_lists(doc.name, params, {{"grads", grads}, buffers});
  const cpu::SgdStep step{lr, momentum, dampening, weight_decay, nesterov, maximize, first};
  for (std::size_t i = 0; i < params.size(); ++i) {
    const Strides order = order_of(params[i]);
    const Block param(params[i], order);
    const Block grad(grads[i], order);
    const Block buffer(buffers.at(i), order);
    visit_floating(real_dtype(params[i].dtype()), doc.name, [&]<class T>() {
      cpu::sgd_step(step, count_parts(params[i]), param.data<T>(), grad.data<T>(),
                    buffer.data<T>());
    });
    param.commit();
    buffer.commit();
  }
  return {};
}

TensorList AdamStepInPlace::call(const TensorList& params, const TensorList& grads,
                                 const TensorList& exp_avgs, const TensorList& exp_avg_sqs,
                                 const TensorList& max_exp_avg_sqs, std::int64_t step, double lr,
                                 double beta1, double beta2, double eps, double weight_decay,
                                 bool decoupled, bool maximize) {
  const StepList maxima{"max_exp_avg_sqs", max_exp_avg_sqs, true};
  check_lists(doc.name, params,
              {{"grads", grads}, {"exp_avgs", exp_avgs}, {"exp_avg_sqs", exp_avg_sqs}, maxima});
  check(step >= 1, ErrorCode::kInvalidArgument, doc.name, "steps count from 1, got ", step, '.');
  const cpu::AdamStep adam{
      static_cast<double>(step), lr, beta1, beta2, eps, weight_decay, decoupled, maximize};
  for (std::size_t i = 0; i < params.size(); ++i) {
    const Strides order = order_of(params[i]);
    const Block param(params[i], order);
    const Block grad(grads[i], order);
    const Block exp_avg(exp_avgs[i], order);
    const Block exp_avg_sq(exp_avg_sqs[i], order);
    const Block maximum(maxima.at(i), order);
    visit_floating(real_dtype(params[i].dtype()), doc.name, [&]<class T>() {
      cpu::adam_step(adam, count_parts(params[i]), param.data<T>(), grad.data<T>(),
                     exp_avg.data<T>(), exp_avg_sq.data<T>(), maximum.data<T>());
    });
    for (const Block* changed : {&param, &exp_avg, &exp_avg_sq, &maximum}) changed->commit();
  }
  return {};
}

}  // namespace eg
