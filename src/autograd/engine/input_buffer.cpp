// compile: engine

#include "autograd/engine/input_buffer.h"

#include "autograd/grad_mode.h"
#include "autograd/tensor_math.h"
#include "base/error.h"

namespace eg {
namespace {

bool can_accumulate_into(const Tensor& t) {
  return !ops_are_differentiated() && !t.is_sparse() && t.use_count() == 1 &&
         t.storage()->use_count() == 1 && is_non_overlapping_and_dense(t.shape(), t.strides());
}

}  // namespace

void InputBuffer::add(std::size_t position, Tensor grad) {
  invariant(position < slots_.size(), "InputBuffer has ", slots_.size(), " slots, got position ",
            position, '.');
  if (!grad.defined()) return;
  Tensor& slot = slots_[position];
  if (!slot.defined()) {
    slot = std::move(grad);
  } else if (can_accumulate_into(slot) && slot.dtype() == grad.dtype()) {
    math::add_in_place(slot, grad);
  } else if (can_accumulate_into(grad) && slot.dtype() == grad.dtype()) {
    math::add_in_place(grad, slot);
    slot = std::move(grad);
  } else {
    slot = math::add(slot, grad);
  }
}

}  // namespace eg
