// compile: engine

#include "backend/cpu/elementwise/packed.h"

#include <cstring>

#include "backend/cpu/elementwise/convert.h"
#include "runtime/thread_pool.h"

namespace eg::cpu {
namespace {

struct alignas(kPackBytes) OnePack {
  char bytes[kPackBytes];
};

bool can_run_packed(DType compute, DType result, std::int64_t count,
                    std::span<const PackedOperand> operands) {
  if (count > kMinElementsPerTask || operands[0].memory.dtype != result) return false;
  for (const PackedOperand& operand : operands.subspan(1)) {
    if (operand.memory.dtype != compute && !operand.is_constant) return false;
  }
  return true;
}

}  // namespace

bool run_packed(const kernel::Formula& formula, DType compute, DType result, std::int64_t count,
                std::span<const PackedOperand> operands) {
  if (!can_run_packed(compute, result, count, operands)) return false;
  if (count == 0) return true;  // An empty view may have any offset.
  const auto out_item = static_cast<std::int64_t>(item_size(result));
  const std::span<const PackedOperand> inputs = operands.subspan(1);
  std::array<OnePack, kMaxOperands> packs;
  KernelArgs args;
  args.params = formula.params.data();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const MemoryView& memory = inputs[i].memory;
    args.in[i] = static_cast<const char*>(memory.address());
    args.step[i] = kPackBytes;
    if (!inputs[i].is_constant) continue;
    const auto lanes = kPackBytes / static_cast<std::int64_t>(item_size(compute));
    convert_elements(packs[i].bytes, compute, 1, args.in[i], memory.dtype, 0, lanes);
    args.in[i] = packs[i].bytes;
    args.step[i] = 0;
  }
  args.out = static_cast<char*>(operands[0].memory.address());
  run_row(formula.on_cpu, args, inputs.size(), count, static_cast<std::int64_t>(item_size(compute)),
          out_item);
  return true;
}

void run_row(kernel::FormulaLoop loop, KernelArgs args, std::size_t inputs, std::int64_t count,
             std::int64_t item, std::int64_t out_item) {
  const std::int64_t lanes = kPackBytes / item;
  args.packs = count / lanes;
  if (args.packs > 0) loop(args);

  // The last, partial pack is processed in local buffers, because memory may end after its
  // elements.
  const std::int64_t rest = count % lanes;
  if (rest == 0) return;
  std::array<OnePack, kMaxOperands> packs;
  for (std::size_t i = 0; i < inputs; ++i) {
    if (args.step[i] == 0) continue;
    std::memcpy(packs[i].bytes, args.in[i] + args.packs * kPackBytes,
                static_cast<std::size_t>(rest * item));
    args.in[i] = packs[i].bytes;
  }
  char* const last = args.out + (count - rest) * out_item;
  OnePack result_pack;
  args.packs = 1;
  args.out = result_pack.bytes;
  loop(args);
  std::memcpy(last, result_pack.bytes, static_cast<std::size_t>(rest * out_item));
}

}  // namespace eg::cpu
