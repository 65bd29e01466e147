// compile: engine

#include "kernels/elementwise.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "backend/cpu/elementwise/convert.h"
#include "backend/cpu/elementwise/items.h"
#include "backend/cpu/elementwise/kernel.h"
#include "backend/cpu/elementwise/packed.h"
#include "runtime/thread_pool.h"

namespace eg::cpu {
namespace {

// One tile per operand; together they fill about half of an L1 data cache.
constexpr std::int64_t kTileBytes = 4096;

// From this length on, a row is worth a separate kernel call; shorter rows are combined in tiles.
constexpr std::int64_t kMinRow = 128;

struct Tile {
  alignas(64) char bytes[kTileBytes];
};

enum class Access : std::uint8_t {
  kDirect,    ///< packed in memory, in the order of the loop
  kConstant,  ///< one element for the whole loop
  kRepeated,  ///< periodic; a tile holds a whole number of periods
  kTiled,     ///< is copied through a tile
};

struct Plan {
  kernel::FormulaLoop loop;
  DType compute;
  DType kernel_output;
  const double* params;
  std::int64_t lanes;
  std::int64_t item;
  std::int64_t out_item;
  std::int64_t tile_elements;
  /// The common period of the repeated operands: after this many elements all of them start over.
  std::int64_t period;
  std::array<Access, kMaxOperands> access{};
};

// Runs elements [begin, end). Direct operands are only read up to a whole number of packs; the
// remainder goes through tiles, whose padding may contain anything.
void run_range(const Loop& loop, const Plan& plan, std::int64_t begin, std::int64_t end) {
  const std::size_t inputs = loop.operands.size() - 1;
  std::array<Tile, kMaxOperands> tiles;
  KernelArgs args;
  args.params = plan.params;

  bool all_direct = plan.access[0] == Access::kDirect;
  for (std::size_t i = 1; i <= inputs; ++i) {
    const Access access = plan.access[i];
    all_direct = all_direct && (access == Access::kDirect || access == Access::kConstant);
    if (access != Access::kConstant) continue;
    // The element is broadcast to a pack, which the kernel reads with a step of 0.
    convert_elements(tiles[i].bytes, plan.compute, 1, loop.operands[i].memory.address(),
                     loop.operands[i].memory.dtype, 0, plan.lanes);
  }

  // Where the tiles of repeated operands were last filled, and with how many elements.
  std::int64_t filled_at = begin;
  std::int64_t filled = 0;
  for (std::int64_t at = begin; at < end;) {
    const std::int64_t left = end - at;
    const bool whole_packs = left >= plan.lanes;
    std::int64_t count = all_direct && whole_packs ? left : std::min(left, plan.tile_elements);
    if (whole_packs) count -= count % plan.lanes;
    const bool repeats = (at - filled_at) % plan.period == 0 && count <= filled;
    if (!repeats) {
      filled_at = at;
      filled = count;
    }
    args.packs = (count + plan.lanes - 1) / plan.lanes;
    for (std::size_t i = 1; i <= inputs; ++i) {
      const Operand& operand = loop.operands[i];
      const Access access = plan.access[i];
      args.step[i - 1] = access == Access::kConstant ? 0 : kPackBytes;
      if (access == Access::kDirect && whole_packs) {
        args.in[i - 1] = static_cast<const char*>(operand.memory.address()) + at * plan.item;
        continue;
      }
      args.in[i - 1] = tiles[i].bytes;
      const bool is_there = access == Access::kConstant || (access == Access::kRepeated && repeats);
      if (!is_there) gather(loop, operand, at, count, tiles[i].bytes, plan.compute);
    }
    const bool direct_output = plan.access[0] == Access::kDirect && whole_packs;
    args.out = direct_output
                   ? static_cast<char*>(loop.operands[0].memory.address()) + at * plan.out_item
                   : tiles[0].bytes;
    plan.loop(args);
    if (!direct_output)
      scatter(loop, loop.operands[0], at, count, tiles[0].bytes, plan.kernel_output);
    at += count;
  }
}

// Runs rows [begin, end) along the innermost dimension, in which every operand is either packed or
// constant.
void run_rows(const Loop& loop, const Plan& plan, std::int64_t begin, std::int64_t end) {
  const std::size_t inner = loop.sizes.size() - 1;
  const std::size_t inputs = loop.operands.size() - 1;
  struct alignas(kPackBytes) Pack {
    char bytes[kPackBytes];
  };
  std::array<Pack, kMaxOperands> packs;
  const RowFunction spread = copy_of_items(static_cast<std::size_t>(plan.item));
  KernelArgs args;
  args.params = plan.params;
  for (std::int64_t row = begin; row < end; ++row) {
    std::array<std::int64_t, kMaxOperands> offset{};
    std::int64_t rest = row;
    for (std::size_t d = inner; d-- > 0;) {
      const std::int64_t index = rest % loop.sizes[d];
      rest /= loop.sizes[d];
      for (std::size_t i = 0; i <= inputs; ++i) offset[i] += index * loop.operands[i].strides[d];
    }
    for (std::size_t i = 1; i <= inputs; ++i) {
      const Operand& operand = loop.operands[i];
      const char* const from =
          static_cast<const char*>(operand.memory.address()) + offset[i] * plan.item;
      const bool is_constant = operand.strides[inner] == 0;
      args.step[i - 1] = is_constant ? 0 : kPackBytes;
      args.in[i - 1] = is_constant ? packs[i].bytes : from;
      if (is_constant) spread(packs[i].bytes, 1, from, 0, plan.lanes);
    }
    args.out = static_cast<char*>(loop.operands[0].memory.address()) + offset[0] * plan.out_item;
    run_row(plan.loop, args, inputs, loop.sizes[inner], plan.item, plan.out_item);
  }
}

// True when run_rows() is possible and faster than tiles.
bool runs_by_rows(const Loop& loop, const Plan& plan) {
  const std::size_t inner = loop.sizes.size() - 1;
  if (inner == 0 || loop.sizes[inner] < kMinRow) return false;
  const Operand& out = loop.operands[0];
  if (out.strides[inner] != 1 || out.memory.dtype != plan.kernel_output) return false;
  bool is_tiled = plan.access[0] == Access::kTiled;
  for (std::size_t i = 1; i < loop.operands.size(); ++i) {
    const Operand& operand = loop.operands[i];
    const std::int64_t step = operand.strides[inner];
    if ((step != 0 && step != 1) || operand.memory.dtype != plan.compute) return false;
    is_tiled = is_tiled || plan.access[i] == Access::kTiled;
  }
  return is_tiled;
}

// Returns the number of loop elements after which an operand starts over.
std::int64_t period_of(const Loop& loop, const Operand& operand) {
  std::int64_t period = loop.numel();
  for (std::size_t d = 0; d < loop.sizes.size() && operand.strides[d] == 0; ++d)
    period /= loop.sizes[d];
  return period;
}

// Marks operands that are broadcast along their outer dimensions as kRepeated, where tiles can hold
// a whole number of their periods. Such tiles are filled once and reused.
void keep_repeated(const Loop& loop, Plan& plan) {
  for (std::size_t i = 1; i < loop.operands.size(); ++i) {
    if (plan.access[i] != Access::kTiled) continue;
    const std::int64_t period = period_of(loop, loop.operands[i]);
    if (period == loop.numel() || period > plan.tile_elements) continue;
    const std::int64_t common = std::lcm(std::lcm(period, plan.lanes), plan.period);
    if (common > plan.tile_elements) continue;
    plan.period = common;
    plan.access[i] = Access::kRepeated;
  }
  plan.tile_elements -= plan.tile_elements % plan.period;
}

Plan make_plan(const kernel::Elementwise& call, const Loop& loop) {
  const auto item = static_cast<std::int64_t>(item_size(call.compute));
  const std::int64_t lanes = kPackBytes / item;
  Plan plan{call.formula.on_cpu,
            call.compute,
            call.result,
            call.formula.params.data(),
            lanes,
            item,
            static_cast<std::int64_t>(item_size(call.result)),
            kTileBytes / item,
            lanes,
            {}};
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    const Operand& operand = call.operands[i];
    const bool is_direct =
        operand.memory.dtype == (i == 0 ? call.result : call.compute) && is_linear(loop, operand);
    plan.access[i] = i > 0 && is_constant(operand) ? Access::kConstant
                     : is_direct                   ? Access::kDirect
                                                   : Access::kTiled;
  }
  keep_repeated(loop, plan);
  return plan;
}

// Runs the call directly if it has one dimension and every operand is packed or constant.
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
  const cpu::Plan plan = cpu::make_plan(*this, loop);
  if (cpu::runs_by_rows(loop, plan)) {
    const std::int64_t row = loop.sizes[loop.sizes.size() - 1];
    return parallel_for(
        0, loop.numel() / row, std::max<std::int64_t>(1, kMinElementsPerTask / row),
        [&](std::int64_t begin, std::int64_t end) { cpu::run_rows(loop, plan, begin, end); });
  }
  parallel_for(0, loop.numel(), kMinElementsPerTask, [&](std::int64_t begin, std::int64_t end) {
    cpu::run_range(loop, plan, begin, end);
  });
}

}  // namespace eg::kernel
