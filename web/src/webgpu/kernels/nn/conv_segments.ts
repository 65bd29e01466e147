// A convolution, and the gradient of its input, as segments.

import type { Commands } from "../kernel";
import { upTo } from "../text";
import type { Gathered } from "./convolution";
import {
  backwardMeeting,
  Columns,
  forwardMeeting,
  kSegmentsHead,
  type Meeting,
  meetText,
  mostChannels,
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
    meetings: [forwardMeeting(rows), forwardMeeting(columns)],
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
    meetings: [backwardMeeting(rows), backwardMeeting(columns)],
  });
}

/** Channels are those of a group; strides are those of weights. */
interface Sums {
  readonly channels: number;
  readonly channelStride: number;
  readonly summed: number;
  readonly summedStride: number;
  readonly to: readonly [number, number];
  readonly from: readonly [number, number];
  readonly meetings: readonly [Meeting, Meeting];
}

/** Channels of an invocation, at most. */
const kMostChannels = 16;

function gather(commands: Commands, call: Gathered, sums: Sums): void {
  const { conv, from, weight, bias, to } = call;
  const { channels, channelStride, summed, summedStride, meetings } = sums;
  const [rows, columns] = sums.to;
  const taps = unrolledTaps(conv.columns);
  const places = segmentOf(columns);
  const own = shareOf(channels, Math.min(kMostChannels, mostChannels(places * taps)));
  const blocks = Math.ceil(channels / own);
  const segments = Math.ceil(columns / places);
  const count = conv.batch * conv.groups * blocks * rows * segments;
  if (!count) return;
  const [meetsRow, meetsColumn] = meetings;
  const isUnrolled = taps === conv.columns.kernel;
  commands.dispatch({
    key: `convolution segments ${own} ${places} ${taps} ${isUnrolled} ${!!bias} ${Object.values(meetsColumn)} ${meetsRow.divisor}`,
    memory: [
      { name: "from", view: from, mode: "read" },
      { name: "weight", view: weight, mode: "read" },
      ...(bias ? [{ name: "bias", view: bias, mode: "read" } as const] : []),
      { name: "to", view: to, mode: "write" },
    ],
    numbers: {
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
      i32: { row_step: meetsRow.step, row_tap: meetsRow.tapStep, row_offset: meetsRow.offset },
    },
    workgroups: segmentWorkgroups(count),
    body: () => gatherText({ own, places, taps, isUnrolled, meetsRow, meetsColumn, bias: !!bias }),
  });
}

interface GatherText {
  readonly own: number;
  readonly places: number;
  readonly taps: number;
  readonly isUnrolled: boolean;
  readonly meetsRow: Meeting;
  readonly meetsColumn: Meeting;
  readonly bias: boolean;
}

function gatherText(text: GatherText): string {
  const { own, places, taps, isUnrolled, meetsRow, meetsColumn, bias } = text;
  const read = new Columns(meetsColumn, places, taps);
  const row = meetText(meetsRow, "number", "u.from_rows");
  const sums = upTo(own).flatMap((c) => upTo(places).map((p) => `sum_${c}_${p}`));
  const tapColumn = isUnrolled ? "" : ` + i32(tap % u.kernel_columns) * ${meetsColumn.tapStep}`;
  const productsOf = (c: number, p: number) =>
    upTo(taps).map((tap) => `weight_${c}_${tap} * ${read.read("x", p, tap)}`);
  // Weights are used as soon as they are read.
  const channelText = (c: number) =>
    [
      ...upTo(taps).map(
        (tap) =>
          `let weight_${c}_${tap} = load_weight(weights + ${c}u * u.channel_stride + ${tap}u);`,
      ),
      ...upTo(places).map((p) => `sum_${c}_${p} += ${productsOf(c, p).join(" + ")};`),
    ].join("\n      ");
  return `${kSegmentsHead}
  let column = i % u.segments * ${places}u;
  let row = i / u.segments % u.rows;
  let rest = i / (u.segments * u.rows);
  let first = rest % u.blocks * ${own}u;
  let batch = rest / u.blocks;
  let group = batch % u.groups;
  ${sums.map((sum) => `var ${sum} = 0f;`).join(" ")}
  for (var tap = 0u; tap < u.taps; tap++) {
    let number = i32(row) * u.row_step + i32(tap${isUnrolled ? "" : " / u.kernel_columns"}) * u.row_tap + u.row_offset;
    if (!(${row.isThere})) {
      continue;
    }
    let first_column = i32(column) * ${meetsColumn.step} + (${meetsColumn.offset})${tapColumn};
    ${read.findText("first_column", "u.from_columns")}
    let first_weight = group * u.channels * u.summed * u.kernel_taps + first * u.channel_stride + tap${isUnrolled ? " * u.kernel_columns" : ""};
    for (var summed = 0u; summed < u.summed; summed++) {
      let x_row = ((batch * u.summed + summed) * u.from_rows + ${row.place}) * u.from_columns;
      ${read.readText("x", "load_from", "x_row")}
      let weights = first_weight + summed * u.summed_stride;
      ${upTo(own).map(channelText).join("\n      ")}
    }
  }
  ${upTo(own)
    .map(
      (c) => `if (first + ${c}u < u.channels) {
    let to_row = ((batch * u.channels + first + ${c}u) * u.rows + row) * u.columns;
    ${bias ? `let bias = load_bias(group * u.channels + first + ${c}u);` : ""}
    ${upTo(places)
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
