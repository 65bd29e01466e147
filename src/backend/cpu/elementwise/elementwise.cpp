#include "kernels/elementwise.h"

#include <algorithm>

#include "backend/cpu/elementwise/kernel.h"
#include "backend/cpu/elementwise/packed.h"
#include "runtime/thread_pool.h"

namespace eg::cpu {
namespace {

// A tile per operand together fills about half of a first-level data cache.
constexpr std::int64_t kTileBytes = 4096;

struct Tile {
  alignas(64) char bytes[kTileBytes];
};

enum class Access : std::uint8_t { kDirect, kConstant, kTiled };

struct Plan {
  Kernel kernel;
  DType compute;
  DType kernel_output;
  const double* params;
  std::int64_t lanes;
  std::int64_t out_item;
  std::array<Access, kMaxOperands> access{};
};

// Runs elements [begin, end). Direct operands are only read up to a whole number of packs; what
// remains goes through tiles, whose padding may hold anything.
void run_range(const Loop& loop, const Plan& plan, std::int64_t begin, std::int64_t end) {
  const std::size_t inputs = loop.operands.size() - 1;
  std::array<Tile, kMaxOperands> tiles;
  KernelArgs args;
  args.params = plan.params;

  const auto compute_item = static_cast<std::int64_t>(item_size(plan.compute));
  const std::int64_t tile_elements = kTileBytes / compute_item;
  bool all_direct = plan.access[0] == Access::kDirect;
  for (std::size_t i = 1; i <= inputs; ++i) {
    all_direct = all_direct && plan.access[i] != Access::kTiled;
    if (plan.access[i] != Access::kConstant) continue;
    // One element spread over a pack: the kernel reads it again and again.
    convert_elements(tiles[i].bytes, plan.compute, 1, loop.operands[i].memory.address(),
                     loop.operands[i].memory.dtype, 0, plan.lanes);
  }

  for (std::int64_t at = begin; at < end;) {
    const std::int64_t left = end - at;
    const bool whole_packs = left >= plan.lanes;
    std::int64_t count = all_direct && whole_packs ? left : std::min(left, tile_elements);
    if (whole_packs) count -= count % plan.lanes;
    args.packs = (count + plan.lanes - 1) / plan.lanes;
    for (std::size_t i = 1; i <= inputs; ++i) {
      const Operand& operand = loop.operands[i];
      const bool direct = plan.access[i] == Access::kDirect && whole_packs;
      args.step[i - 1] = plan.access[i] == Access::kConstant ? 0 : kPackBytes;
      if (direct) {
        args.in[i - 1] = static_cast<const char*>(operand.memory.address()) + at * compute_item;
      } else {
        args.in[i - 1] = tiles[i].bytes;
        if (plan.access[i] != Access::kConstant) {
          gather(loop, operand, at, count, tiles[i].bytes, plan.compute);
        }
      }
    }
    const bool direct_output = plan.access[0] == Access::kDirect && whole_packs;
    args.out = direct_output
                   ? static_cast<char*>(loop.operands[0].memory.address()) + at * plan.out_item
                   : tiles[0].bytes;
    plan.kernel(args);
    if (!direct_output)
      scatter(loop, loop.operands[0], at, count, tiles[0].bytes, plan.kernel_output);
    at += count;
  }
}

// Of one dimension, with all operands side by side or one element for all.
bool ran_packed(const kernel::Elementwise& call) {
  if (call.shape.size() != 1 || call.operands[0].strides[0] != 1) return false;
  std::array<PackedOperand, kMaxOperands> packed;
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    const Operand& operand = call.operands[i];
    const std::int64_t step = operand.strides[0];
    if (step != 0 && step != 1) return false;
    packed[i] = {operand.memory, step == 0};
  }
  return run_packed(call.formula, call.compute, call.result, call.shape[0],
                    std::span(packed).first(call.operands.size()));
}

}  // namespace

}  // namespace eg::cpu

namespace eg::kernel {

void Elementwise::compute_on_cpu() {
  if (numel(shape) == 0 || cpu::ran_packed(*this)) return;
  const cpu::Loop loop = cpu::make_loop(shape, {operands.data(), operands.size()});
  if (shape.size() != 1) shape = loop.sizes;
  cpu::Plan plan{formula.on_cpu,
                 compute,
                 result,
                 formula.params.data(),
                 cpu::kPackBytes / static_cast<std::int64_t>(item_size(compute)),
                 static_cast<std::int64_t>(item_size(result)),
                 {}};
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const DType expected = i == 0 ? result : compute;
    if (i > 0 && cpu::is_constant(operands[i])) {
      plan.access[i] = cpu::Access::kConstant;
    } else {
      plan.access[i] = operands[i].memory.dtype == expected && cpu::is_linear(loop, operands[i])
                           ? cpu::Access::kDirect
                           : cpu::Access::kTiled;
    }
  }
  parallel_for(0, loop.numel(), kMinElementsPerTask, [&](std::int64_t begin, std::int64_t end) {
    cpu::run_range(loop, plan, begin, end);
  });
}

}  // namespace eg::kernel
