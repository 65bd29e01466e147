#include "kernels/recurrent.h"

#include "backend/cpu/nn/scratch_array.h"
#include "backend/cpu/vector/pack_math.h"
#include "backend/cpu/vector/vector_loop.h"
#include "kernels/matmul.h"
#include "runtime/thread_pool.h"

namespace eg::cpu {
namespace {

// The cost of an element is dominated by its five exponentials.
constexpr std::int64_t kCostOfElement = 16;

template <class Cell, class Body>
void for_each_row(const Cell& cell, Body&& body) {
  const std::int64_t work = kCostOfElement * cell.width;
  parallel_for(0, cell.rows, kMinElementsPerTask / work + 1,
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t row = begin; row < end; ++row) body(row);
               });
}

template <class T>
void apply_gates(const kernel::LstmStep& cell) {
  const std::int64_t width = cell.width;
  for_each_row(cell, [&](std::int64_t row) {
    const T* const x = cell.input_gates.as<T>() + row * 4 * width;
    T* const gates = cell.gates.as<T>() + row * 4 * width;
    const T* const state = cell.state.as<T>() + row * width;
    T* const next = cell.next_state.as<T>() + row * width;
    T* const hidden = cell.next_hidden.as<T>() + row * width;
    for_each_vector<T>(0, width, [&](auto at) {
      const auto sum = [&](std::int64_t gate) {
        return at.load(x + gate * width) + at.load(gates + gate * width);
      };
      const Vec<T> input = vec_sigmoid(sum(0));
      const Vec<T> forget = vec_sigmoid(sum(1));
      const Vec<T> candidate = vec_tanh(sum(2));
      const Vec<T> output = vec_sigmoid(sum(3));
      const Vec<T> kept = forget * at.load(state) + input * candidate;
      at.store(gates, input);
      at.store(gates + width, forget);
      at.store(gates + 2 * width, candidate);
      at.store(gates + 3 * width, output);
      at.store(next, kept);
      at.store(hidden, output * vec_tanh(kept));
    });
  });
}

template <class T>
void backward(const kernel::LstmStepBackward& cell, const T* of_next_step) {
  const std::int64_t width = cell.width;
  for_each_row(cell, [&](std::int64_t row) {
    const auto row_of = [&](const auto& memory) {
      auto* const first = memory.template as<T>();
      return first == nullptr ? first : first + row * width;
    };
    const T* const gates = cell.gates.as<T>() + row * 4 * width;
    T* const grads = cell.grad_gates.as<T>() + row * 4 * width;
    const T* const state = row_of(cell.state);
    const T* const next = row_of(cell.next_state);
    const T* const grad_output = row_of(cell.grad_output);
    const T* const grad_hidden = row_of(cell.grad_hidden);
    const T* const of_next = of_next_step == nullptr ? nullptr : of_next_step + row * width;
    T* const grad_state = row_of(cell.grad_state);
    for_each_vector<T>(0, width, [&](auto at) {
      const Vec<T> input = at.load(gates);
      const Vec<T> forget = at.load(gates + width);
      const Vec<T> candidate = at.load(gates + 2 * width);
      const Vec<T> output = at.load(gates + 3 * width);
      const Vec<T> shown = vec_tanh(at.load(next));
      Vec<T> g{};
      if (grad_output != nullptr) g += at.load(grad_output);
      if (grad_hidden != nullptr) g += at.load(grad_hidden);
      if (of_next != nullptr) g += at.load(of_next);
      const Vec<T> kept = at.load(grad_state) + g * output * (T{1} - shown * shown);
      at.store(grads, kept * candidate * (input * (T{1} - input)));
      at.store(grads + width, kept * at.load(state) * (forget * (T{1} - forget)));
      at.store(grads + 2 * width, kept * input * (T{1} - candidate * candidate));
      at.store(grads + 3 * width, g * shown * (output * (T{1} - output)));
      at.store(grad_state, kept * forget);
    });
  });
}

}  // namespace
}  // namespace eg::cpu

namespace eg::kernel {

void LstmStep::compute_on_cpu() const {
  MatrixProduct{.sizes = {{}, rows, 4 * width, width},
                .a = hidden,
                .a_layout = {{}, width, 1},
                .b = weight,
                .b_layout = {{}, 1, width},
                .c = gates,
                .c_layout = {{}, 4 * width, 1},
                .bias = bias}
      .compute_on_cpu();
  visit_floating(state.dtype(), name, [&]<class T>() { cpu::apply_gates<T>(*this); });
}

void LstmStepBackward::compute_on_cpu() const {
  visit_floating(state.dtype(), name, [&]<class T>() {
    const cpu::ScratchArray<T> product(next_grad_gates ? rows * width : 0);
    if (next_grad_gates) {
      MemoryView memory = grad_state.view();
      memory.base = product.data();
      memory.offset = 0;
      MatrixProduct{.sizes = {{}, rows, width, 4 * width},
                    .a = next_grad_gates,
                    .a_layout = {{}, 4 * width, 1},
                    .b = weight,
                    .b_layout = {{}, width, 1},
                    .c = memory,
                    .c_layout = {{}, width, 1}}
          .compute_on_cpu();
    }
    cpu::backward<T>(*this, product.data());
  });
}

}  // namespace eg::kernel
