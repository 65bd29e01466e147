// Products with matrices of 4 or 8 bits. A number is decoded where it is multiplied, for up to four rows of X.

import type { QuantizedProduct } from "../../../generated/stream";
import type { Kernel } from "../kernel";
import { chooseLanes, combineLanes, dispatchOfLanes, forEachLane, kSum } from "../lanes";
import { accesses } from "../nn/rows";
import { range } from "../text";

/** The rows of X that share what is decoded. */
const kMostRows = 4;

export const quantizedProduct: Kernel<QuantizedProduct> = {
  supported: { views: [["float32"], ["uint8"], ["float32"], ["float32"], ["float32"]] },

  play({ count, layout, turned, x, codes, scales, bias, y }, commands): void {
    const { rows, columns, bits, group } = layout;
    const [lines, depth] = turned ? [columns, rows] : [rows, columns];
    const few = Math.min(count, kMostRows);
    const positions = Math.ceil(count / few) * lines;
    const chosen = chooseLanes(commands, positions, depth, !turned);
    const perRow = Math.ceil((columns * bits) / 8);
    const groups = Math.max(1, Math.ceil(columns / group));
    const code = "load_codes(row * u.row_bytes + column)";
    const half = "((load_codes(row * u.row_bytes + column / 2u) >> (4u * (column & 1u))) & 15u)";
    const dispatch = dispatchOfLanes(chosen, positions, (lanes) => ({
      key: `quantized_product ${bits} ${turned} ${few} ${!!bias}`,
      memory: [...accesses("read", { x, codes, scales, bias }), ...accesses("write", { y })],
      uniforms: {
        u32: { positions, count, lines, depth, row_bytes: perRow, groups, group },
      },
      stores: [{ name: "y", count: count * lines }],
      body: () =>
        [
          combineLanes("sum_of_lanes", lanes, kSum),
          `fn number_at(row: u32, column: u32) -> f32 {
  return (f32(${bits === 4 ? half : code}) - ${2 ** (bits - 1)}f) * load_scales(row * u.groups + column / u.group);
}`,
          forEachLane(
            lanes,
            `let line = position % u.lines;
  let block = position / u.lines * ${few}u;
  ${each(few, (i) => `var sum_${i} = 0f;`)}
  ${each(few, (i) => `let from_${i} = min(block + ${i}u, u.count - 1u) * u.depth;`)}
  for (var k = lane; k < u.depth; k += kLanes) {
    let number = number_at(${turned ? "k, line" : "line, k"});
    ${each(few, (i) => `sum_${i} += load_x(from_${i} + k) * number;`)}
  }
  ${each(few, (i) => `sum_${i} = sum_of_lanes(thread, sum_${i});`)}
  if (lane == 0u && is_inside) {
    ${each(few, (i) => `if (block + ${i}u < u.count) { store_y((block + ${i}u) * u.lines + line, sum_${i}${bias ? " + load_bias(line)" : ""}); }`)}
  }`,
          ),
        ].join("\n"),
    }));
    commands.dispatch(dispatch);
  },
};

const each = (count: number, text: (i: number) => string) => range(count).map(text).join("\n    ");
