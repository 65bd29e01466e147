#include "kernels/recurrent.h"

#include "backend/cpu/vector/pack_math.h"
#include "backend/cpu/vector/vector_loop.h"
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
void step(const kernel::LstmCell& cell) {
  const std::int64_t width = cell.width;
  for_each_row(cell, [&](std::int64_t row) {
    const T* const x = cell.input_gates.as<T>() + row * 4 * width;
    T* const gates = cell.gates.as<T>() + row * 4 * width;
    const T* const state = cell.state.as<T>() + row * width;
    T* const next = cell.next_state.as<T>() + row * width;
    T* const hidden = cell.hidden.as<T>() + row * width;
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
void backward(const kernel::LstmCellBackward& cell) {
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

void LstmCell::compute_on_cpu() const {
  visit_floating(state.dtype(), name, [&]<class T>() { cpu::step<T>(*this); });
}

void LstmCellBackward::compute_on_cpu() const {
  visit_floating(state.dtype(), name, [&]<class T>() { cpu::backward<T>(*this); });
}

}  // namespace eg::kernel
