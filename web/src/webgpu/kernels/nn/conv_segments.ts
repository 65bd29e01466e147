// Convolution and the gradient of its input, computed in segments (segments.ts).

import type { Commands } from "../kernel";
import { range } from "../text";
import type { Gathered } from "./convolution";
import {
  type AxisMap,
  backwardMap,
  Columns,
  forwardMap,
  kSegmentsHead,
  mapText,
  maxChannels,
  segmentOf,
  segmentWorkgroups,
  shareOf,
  unrolledTaps,
} from "./segments";

export function convolveSegments(commands: Commands, call: Gathered): void {
  const { rows, columns, inChannels, outChannels } = call.conv;
  const taps = rows.kernel * columns.kernel;
  gather(commands, call, {
    channels: outChannels,
    channelStride: inChannels * taps,
    summed: inChannels,
    summedStride: taps,
    to: [rows.out, columns.out],
    from: [rows.in, columns.in],
    maps: [forwardMap(rows), forwardMap(columns)],
  });
}

export function convolveSegmentsBackward(commands: Commands, call: Gathered): void {
  const { rows, columns, inChannels, outChannels } = call.conv;
  const taps = rows.kernel * columns.kernel;
  gather(commands, call, {
    channels: inChannels,
    channelStride: taps,
    summed: outChannels,
    summedStride: inChannels * taps,
    to: [rows.in, columns.in],
    from: [rows.out, columns.out],
    maps: [backwardMap(rows), backwardMap(columns)],
  });
}

/** The sums of one group: `channels` are results, `summed` are the channels of the operand; strides are those of the weight. */
interface Sums {
  readonly channels: number;
  readonly channelStride: number;
  readonly summed: number;
  readonly summedStride: number;
  readonly to: readonly [number, number];
  readonly from: readonly [number, number];
  readonly maps: readonly [AxisMap, AxisMap];
}

/** The maximum number of channels per invocation. */
const kMaxChannels = 16;

function gather(commands: Commands, call: Gathered, sums: Sums): void {
  const { conv, from, weight, bias, to } = call;
  const { channels, channelStride, summed, summedStride, maps } = sums;
  const [rows, columns] = sums.to;
  const taps = unrolledTaps(conv.columns);
  const positions = segmentOf(columns);
  const own = shareOf(channels, Math.min(kMaxChannels, maxChannels(positions * taps)));
  const blocks = Math.ceil(channels / own);
  const segments = Math.ceil(columns / positions);
  const count = conv.batch * conv.groups * blocks * rows * segments;
  if (!count) return;
  const [rowMap, columnMap] = maps;
  const isUnrolled = taps === conv.columns.kernel;
  commands.dispatch({
    key: `convolution segments ${own} ${positions} ${taps} ${isUnrolled} ${!!bias} ${Object.values(columnMap)} ${rowMap.divisor}`,
    memory: [
      { name: "from", view: from, mode: "read" },
      { name: "weight", view: weight, mode: "read" },
      ...(bias ? [{ name: "bias", view: bias, mode: "read" } as const] : []),
      { name: "to", view: to, mode: "write" },
    ],
    uniforms: {
      u32: {
        count,
        segments,
        rows,
        columns,
        blocks,
        groups: conv.groups,
        channels,
        channel_stride: channelStride,
        summed,
        summed_stride: summedStride,
        from_rows: sums.from[0],
        from_columns: sums.from[1],
        kernel_columns: conv.columns.kernel,
        kernel_taps: conv.rows.kernel * conv.columns.kernel,
        taps: conv.rows.kernel * (isUnrolled ? 1 : conv.columns.kernel),
      },
      i32: { row_step: rowMap.step, row_tap: rowMap.tapStep, row_offset: rowMap.offset },
    },
    workgroups: segmentWorkgroups(count),
    body: () => gatherText({ own, positions, taps, isUnrolled, rowMap, columnMap, bias: !!bias }),
  });
}

interface GatherText {
  readonly own: number;
  readonly positions: number;
  readonly taps: number;
  readonly isUnrolled: boolean;
  readonly rowMap: AxisMap;
  readonly columnMap: AxisMap;
  readonly bias: boolean;
}

function gatherText(text: GatherText): string {
  const { own, positions, taps, isUnrolled, rowMap, columnMap, bias } = text;
  const read = new Columns(columnMap, positions, taps);
  const row = mapText(rowMap, "number", "u.from_rows");
  const sums = range(own).flatMap((c) => range(positions).map((p) => `sum_${c}_${p}`));
  const tapColumn = isUnrolled ? "" : ` + i32(tap % u.kernel_columns) * ${columnMap.tapStep}`;
  const productsOf = (c: number, p: number) =>
    range(taps).map((tap) => `weight_${c}_${tap} * ${read.read("x", p, tap)}`);
  // Weights are used as soon as they are read.
  const channelText = (c: number) =>
    [
      ...range(taps).map(
        (tap) =>
          `let weight_${c}_${tap} = load_weight(weights + ${c}u * u.channel_stride + ${tap}u);`,
      ),
      ...range(positions).map((p) => `sum_${c}_${p} += ${productsOf(c, p).join(" + ")};`),
    ].join("\n      ");
  return `${kSegmentsHead}
  let column = i % u.segments * ${positions}u;
  let row = i / u.segments % u.rows;
  let rest = i / (u.segments * u.rows);
  let first = rest % u.blocks * ${own}u;
  let batch = rest / u.blocks;
  let group = batch % u.groups;
  ${sums.map((sum) => `var ${sum} = 0f;`).join(" ")}
  for (var tap = 0u; tap < u.taps; tap++) {
    let number = i32(row) * u.row_step + i32(tap${isUnrolled ? "" : " / u.kernel_columns"}) * u.row_tap + u.row_offset;
    if (!(${row.exists})) {
      continue;
    }
    let first_column = i32(column) * ${columnMap.step} + (${columnMap.offset})${tapColumn};
    ${read.findText("first_column", "u.from_columns")}
    let first_weight = group * u.channels * u.summed * u.kernel_taps + first * u.channel_stride + tap${isUnrolled ? " * u.kernel_columns" : ""};
    for (var summed = 0u; summed < u.summed; summed++) {
      let x_row = ((batch * u.summed + summed) * u.from_rows + ${row.position}) * u.from_columns;
      ${read.readText("x", "load_from", "x_row")}
      let weights = first_weight + summed * u.summed_stride;
      ${range(own).map(channelText).join("\n      ")}
    }
  }
  ${range(own)
    .map(
      (c) => `if (first + ${c}u < u.channels) {
    let to_row = ((batch * u.channels + first + ${c}u) * u.rows + row) * u.columns;
    ${bias ? `let bias = load_bias(group * u.channels + first + ${c}u);` : ""}
    ${range(positions)
      .map(
        (p) =>
          `if (column + ${p}u < u.columns) { store_to(to_row + column + ${p}u, sum_${c}_${p}${bias ? " + bias" : ""}); }`,
      )
      .join("\n    ")}
  }`,
    )
    .join("\n  ")}
}
`;
}
