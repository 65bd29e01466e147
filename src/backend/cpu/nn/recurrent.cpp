#include "kernels/recurrent.h"

#include "backend/cpu/nn/scratch_array.h"
#include "backend/cpu/vector/pack_math.h"
#include "backend/cpu/vector/vector_loop.h"
#include "kernels/matmul.h"
#include "runtime/thread_pool.h"

namespace eg::cpu {
namespace {

using kernel::RecurrentCell;
using kernel::RecurrentStep;
using kernel::RecurrentStepBackward;

// Row `row` of an array with rows of `size`; null if there is no array.
template <class T, class Memory>
auto* row_of(const Memory& memory, std::int64_t row, std::int64_t size) {
  auto* const first = memory.template as<T>();
  return first == nullptr ? first : first + row * size;
}

// The cost of an element is dominated by the exponentials of the gates.
template <class Step, class Body>
void for_each_row(const Step& step, Body&& body) {
  const std::int64_t work = 4 * kernel::gates_of(step.sizes.cell) * step.sizes.width;
  parallel_for(0, step.sizes.rows, kMinElementsPerTask / work + 1,
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t row = begin; row < end; ++row) body(row);
               });
}

// ---------------------------------------------------------------- the steps of rows

template <class T>
void lstm_row(const RecurrentStep& step, std::int64_t row) {
  const std::int64_t width = step.sizes.width;
  const T* const x = row_of<T>(step.input_gates, row, 4 * width);
  T* const kept = row_of<T>(step.kept, row, 4 * width);
  const T* const state = row_of<T>(step.state, row, width);
  T* const next = row_of<T>(step.next_state, row, width);
  T* const hidden = row_of<T>(step.next_hidden, row, width);
  for_each_vector<T>(0, width, [&](auto at) {
    const auto sum = [&](std::int64_t gate) {
      return at.load(x + gate * width) + at.load(kept + gate * width);
    };
    const Vec<T> input = vec_sigmoid(sum(0));
    const Vec<T> forget = vec_sigmoid(sum(1));
    const Vec<T> candidate = vec_tanh(sum(2));
    const Vec<T> output = vec_sigmoid(sum(3));
    const Vec<T> after = forget * at.load(state) + input * candidate;
    at.store(kept, input);
    at.store(kept + width, forget);
    at.store(kept + 2 * width, candidate);
    at.store(kept + 3 * width, output);
    at.store(next, after);
    at.store(hidden, output * vec_tanh(after));
  });
}

template <class T>
void gru_row(const RecurrentStep& step, std::int64_t row) {
  const std::int64_t width = step.sizes.width;
  const T* const x = row_of<T>(step.input_gates, row, 3 * width);
  T* const kept = row_of<T>(step.kept, row, 4 * width);
  const T* const hidden = row_of<T>(step.hidden, row, width);
  T* const next = row_of<T>(step.next_hidden, row, width);
  for_each_vector<T>(0, width, [&](auto at) {
    const Vec<T> reset = vec_sigmoid(at.load(x) + at.load(kept));
    const Vec<T> update = vec_sigmoid(at.load(x + width) + at.load(kept + width));
    const Vec<T> candidate = vec_tanh(at.load(x + 2 * width) + reset * at.load(kept + 2 * width));
    at.store(kept, reset);
    at.store(kept + width, update);
    at.store(kept + 3 * width, candidate);
    at.store(next, (at.load(hidden) - candidate) * update + candidate);
  });
}

// Zero for a sum that is not positive; NaN remains.
template <class T>
Vec<T> where_positive(Vec<T> sum, Vec<T> value) {
  return sum <= T{0} ? Vec<T>{} : value;
}

template <class T>
void rnn_row(const RecurrentStep& step, std::int64_t row) {
  const std::int64_t width = step.sizes.width;
  const bool is_tanh = step.sizes.cell == RecurrentCell::kTanh;
  const T* const x = row_of<T>(step.input_gates, row, width);
  T* const next = row_of<T>(step.next_hidden, row, width);
  for_each_vector<T>(0, width, [&](auto at) {
    const Vec<T> sum = at.load(x) + at.load(next);
    at.store(next, is_tanh ? vec_tanh(sum) : where_positive<T>(sum, sum));
  });
}

// ---------------------------------------------------------------- their gradients

// The gradient of the next hidden state. `product` is that of the next step's gates and the weight.
template <class T>
class HiddenGrad {
 public:
  HiddenGrad(const RecurrentStepBackward& step, const T* product, std::int64_t row)
      : parts_{row_of<T>(step.grad_output, row, step.sizes.width),
               row_of<T>(step.grad_hidden, row, step.sizes.width),
               product == nullptr ? nullptr : product + row * step.sizes.width} {}

  template <class At>
  Vec<T> load(const At& at) const {
    Vec<T> sum{};
    for (const T* part : parts_)
      if (part != nullptr) sum += at.load(part);
    return sum;
  }

 private:
  const T* parts_[3];
};

template <class T>
void lstm_row(const RecurrentStepBackward& step, std::int64_t row, const HiddenGrad<T>& grad) {
  const std::int64_t width = step.sizes.width;
  const T* const kept = row_of<T>(step.kept, row, 4 * width);
  const T* const state = row_of<T>(step.state, row, width);
  const T* const next = row_of<T>(step.next_state, row, width);
  T* const grad_state = row_of<T>(step.grad_state, row, width);
  T* const grads = row_of<T>(step.grad_gates, row, 4 * width);
  for_each_vector<T>(0, width, [&](auto at) {
    const Vec<T> input = at.load(kept);
    const Vec<T> forget = at.load(kept + width);
    const Vec<T> candidate = at.load(kept + 2 * width);
    const Vec<T> output = at.load(kept + 3 * width);
    const Vec<T> shown = vec_tanh(at.load(next));
    const Vec<T> g = grad.load(at);
    const Vec<T> of_next = at.load(grad_state) + g * output * (T{1} - shown * shown);
    at.store(grads, of_next * candidate * (input * (T{1} - input)));
    at.store(grads + width, of_next * at.load(state) * (forget * (T{1} - forget)));
    at.store(grads + 2 * width, of_next * input * (T{1} - candidate * candidate));
    at.store(grads + 3 * width, g * shown * (output * (T{1} - output)));
    at.store(grad_state, of_next * forget);
  });
}

template <class T>
void gru_row(const RecurrentStepBackward& step, std::int64_t row, const HiddenGrad<T>& grad) {
  const std::int64_t width = step.sizes.width;
  const T* const kept = row_of<T>(step.kept, row, 4 * width);
  const T* const hidden = row_of<T>(step.state, row, width);
  T* const grad_state = row_of<T>(step.grad_state, row, width);
  T* const grads = row_of<T>(step.grad_gates, row, 3 * width);
  T* const input_grads = row_of<T>(step.grad_input_gates, row, 3 * width);
  for_each_vector<T>(0, width, [&](auto at) {
    const Vec<T> reset = at.load(kept);
    const Vec<T> update = at.load(kept + width);
    const Vec<T> hidden_part = at.load(kept + 2 * width);
    const Vec<T> candidate = at.load(kept + 3 * width);
    const Vec<T> g = at.load(grad_state) + grad.load(at);
    const Vec<T> of_candidate = g * (T{1} - update) * (T{1} - candidate * candidate);
    const Vec<T> of_reset = of_candidate * hidden_part * (reset * (T{1} - reset));
    const Vec<T> of_update = g * (at.load(hidden) - candidate) * (update * (T{1} - update));
    at.store(input_grads, of_reset);
    at.store(input_grads + width, of_update);
    at.store(input_grads + 2 * width, of_candidate);
    at.store(grads, of_reset);
    at.store(grads + width, of_update);
    at.store(grads + 2 * width, of_candidate * reset);
    at.store(grad_state, g * update);
  });
}

template <class T>
void rnn_row(const RecurrentStepBackward& step, std::int64_t row, const HiddenGrad<T>& grad) {
  const bool is_tanh = step.sizes.cell == RecurrentCell::kTanh;
  const T* const next = row_of<T>(step.next_state, row, step.sizes.width);
  T* const grads = row_of<T>(step.grad_gates, row, step.sizes.width);
  for_each_vector<T>(0, step.sizes.width, [&](auto at) {
    const Vec<T> y = at.load(next);
    const Vec<T> g = grad.load(at);
    at.store(grads, is_tanh ? g * (T{1} - y * y) : where_positive<T>(y, g));
  });
}

// Calls the function of a step's cell.
template <class T, class... Args>
void compute_row(const auto& step, const Args&... args) {
  if (step.sizes.cell == RecurrentCell::kLstm) return lstm_row<T>(step, args...);
  if (step.sizes.cell == RecurrentCell::kGru) return gru_row<T>(step, args...);
  rnn_row<T>(step, args...);
}

}  // namespace
}  // namespace eg::cpu

namespace eg::kernel {

// The product is computed in `kept` or, for an RNN, in `next_hidden`.
void RecurrentStep::compute_on_cpu() const {
  const auto [cell, rows, width] = sizes;
  const std::int64_t columns = gates_of(cell) * width;
  MatrixProduct{.sizes = {{}, rows, columns, width},
                .a = hidden,
                .a_layout = {{}, width, 1},
                .b = weight,
                .b_layout = {{}, 1, width},
                .c = kept ? kept : next_hidden,
                .c_layout = {{}, kept ? kept_of(cell) * width : width, 1},
                .bias = bias}
      .compute_on_cpu();
  visit_floating(hidden.dtype(), name, [&]<class T>() {
    cpu::for_each_row(*this, [&](std::int64_t row) { cpu::compute_row<T>(*this, row); });
  });
}

void RecurrentStepBackward::compute_on_cpu() const {
  const auto [cell, rows, width] = sizes;
  const std::int64_t columns = gates_of(cell) * width;
  visit_floating(state.dtype(), name, [&]<class T>() {
    const cpu::ScratchArray<T> product(next_grad_gates ? rows * width : 0);
    if (next_grad_gates) {
      MemoryView memory = grad_gates.view();
      memory.base = product.data();
      memory.offset = 0;
      MatrixProduct{.sizes = {{}, rows, width, columns},
                    .a = next_grad_gates,
                    .a_layout = {{}, columns, 1},
                    .b = weight,
                    .b_layout = {{}, width, 1},
                    .c = memory,
                    .c_layout = {{}, width, 1}}
          .compute_on_cpu();
    }
    cpu::for_each_row(*this, [&](std::int64_t row) {
      cpu::compute_row<T>(*this, row, cpu::HiddenGrad<T>(*this, product.data(), row));
    });
  });
}

}  // namespace eg::kernel
