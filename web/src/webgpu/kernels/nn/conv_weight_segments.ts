// The gradient of a convolution's weight, computed in segments (segments.ts): sums over all positions of all images, which several
// invocations share if there are few weights.

import type { Access } from "../../shader";
import type { Commands } from "../kernel";
import { range } from "../text";
import type { Convolution, WeightGradient } from "./convolution";
import {
  type AxisMap,
  Columns,
  forwardMap,
  kSegmentsHead,
  maxChannels,
  segmentOf,
  segmentWorkgroups,
  shareOf,
  unrolledTaps,
} from "./segments";
import { addShares } from "./weight_shares";

/** With this many invocations, all cores are busy. */
const kEnough = 512;

export function weightGradientSegments(commands: Commands, call: WeightGradient): void {
  const { conv, g, x, to } = call;
  const { batch, groups, inChannels, outChannels, rows, columns } = conv;
  const taps = unrolledTaps(columns);
  const isUnrolled = taps === columns.kernel;
  const positions = segmentOf(columns.out);
  const own = ownChannels(conv, positions * taps);
  const outBlocks = Math.ceil(outChannels / own.out);
  const inBlocks = Math.ceil(inChannels / own.in);
  const outerTaps = rows.kernel * (isUnrolled ? 1 : columns.kernel);
  const weights = groups * outChannels * inChannels * rows.kernel * columns.kernel;
  if (weights === 0) return;
  const blocks = groups * outBlocks * inBlocks * outerTaps;
  // The rows of positions of all images.
  const lines = batch * rows.out;
  const share = Math.max(1, shareOf(lines, (lines * blocks) / kEnough));
  const shares = Math.max(1, Math.ceil(lines / share));
  const isShared = shares > 1;
  const result: Access = {
    name: "to",
    view: isShared ? commands.scratch(4 * shares * weights, "float32") : to,
    mode: "write",
  };
  const columnMap = forwardMap(columns);
  const count = shares * blocks;
  commands.dispatch({
    key: `convolve_backward_weight segments ${Object.values(own)} ${positions} ${taps} ${isUnrolled} ${Object.values(columnMap)}`,
    memory: [{ name: "g", view: g, mode: "read" }, { name: "x", view: x, mode: "read" }, result],
    uniforms: {
      u32: {
        count,
        outer_taps: outerTaps,
        in_blocks: inBlocks,
        out_blocks: outBlocks,
        groups,
        in_channels: inChannels,
        out_channels: outChannels,
        lines,
        share,
        weights,
        segments: Math.ceil(columns.out / positions),
        in_rows: rows.in,
        in_columns: columns.in,
        out_rows: rows.out,
        out_columns: columns.out,
        kernel_rows: rows.kernel,
        kernel_columns: columns.kernel,
      },
      i32: { row_step: rows.stride, row_tap: rows.dilation, row_offset: -rows.padding },
    },
    workgroups: segmentWorkgroups(count),
    body: () => gradientText({ own, positions, taps, isUnrolled, columnMap }),
  });
  if (isShared) addShares(commands, result.view, to, weights, shares);
}

interface Channels {
  readonly in: number;
  readonly out: number;
}

/** Chooses the channels of an invocation, with `products` multiplications for each pair of channels: as many of both kinds, if possible. */
function ownChannels({ inChannels, outChannels }: Convolution, products: number): Channels {
  const most = maxChannels(products);
  const side = Math.max(1, Math.floor(Math.sqrt(most)));
  if (inChannels < outChannels) {
    const own = shareOf(inChannels, side);
    return { in: own, out: shareOf(outChannels, Math.min(kMaxChannels, most / own)) };
  }
  const own = shareOf(outChannels, side);
  return { in: shareOf(inChannels, Math.min(kMaxChannels, most / own)), out: own };
}

const kMaxChannels = 16;

interface GradientText {
  readonly own: Channels;
  readonly positions: number;
  readonly taps: number;
  readonly isUnrolled: boolean;
  readonly columnMap: AxisMap;
}

function gradientText({ own, positions, taps, isUnrolled, columnMap }: GradientText): string {
  const read = new Columns(columnMap, positions, taps);
  const sumsOf = (o: number) =>
    range(own.in).flatMap((c) =>
      range(taps).map((tap) => ({ c, tap, sum: `sum_${o}_${c}_${tap}` })),
    );
  const productsOf = (o: number, c: number, tap: number) =>
    range(positions).map((p) => `g_${o}_${p} * ${read.read(`x_${c}`, p, tap)}`);
  // Gradients are used as soon as they are read.
  const channelText = (o: number) =>
    [
      ...range(positions).map(
        (p) =>
          `let g_${o}_${p} = select(0f, load_g(g_first + ${o}u * g_plane + column + ${p}u), is_place_${p});`,
      ),
      ...sumsOf(o).map(({ c, tap, sum }) => `${sum} += ${productsOf(o, c, tap).join(" + ")};`),
    ].join("\n      ");
  const [tapRow, tapColumn] = isUnrolled
    ? ["tap", "0u"]
    : ["tap / u.kernel_columns", "tap % u.kernel_columns"];
  return `${kSegmentsHead}
  let tap = i % u.outer_taps;
  let tap_row = ${tapRow};
  let tap_column = ${tapColumn};
  let first_in = i / u.outer_taps % u.in_blocks * ${own.in}u;
  let first_out = i / (u.outer_taps * u.in_blocks) % u.out_blocks * ${own.out}u;
  let rest = i / (u.outer_taps * u.in_blocks * u.out_blocks);
  let group = rest % u.groups;
  let share = rest / u.groups;
  let x_plane = u.in_rows * u.in_columns;
  let g_plane = u.out_rows * u.out_columns;
  let tap_offset = i32(tap_column) * ${columnMap.tapStep} + (${columnMap.offset});
  ${range(own.out)
    .flatMap(sumsOf)
    .map(({ sum }) => `var ${sum} = 0f;`)
    .join(" ")}
  for (var line = share * u.share; line < min((share + 1u) * u.share, u.lines); line++) {
    let row = line % u.out_rows;
    let image = line / u.out_rows * u.groups + group;
    let x_row = i32(row) * u.row_step + i32(tap_row) * u.row_tap + u.row_offset;
    if (u32(x_row) >= u.in_rows) {
      continue;
    }
    let x_first = (image * u.in_channels + first_in) * x_plane + u32(x_row) * u.in_columns;
    let g_first = (image * u.out_channels + first_out) * g_plane + row * u.out_columns;
    for (var segment = 0u; segment < u.segments; segment++) {
      let column = segment * ${positions}u;
      let first_column = i32(column) * ${columnMap.step} + tap_offset;
      ${read.findText("first_column", "u.in_columns")}
      ${range(positions)
        .map((p) => `let is_place_${p} = column + ${p}u < u.out_columns;`)
        .join("\n      ")}
      ${range(own.in)
        .map((c) => read.readText(`x_${c}`, "load_x", `x_first + ${c}u * x_plane`))
        .join("\n      ")}
      ${range(own.out).map(channelText).join("\n      ")}
    }
  }
  let taps = u.kernel_rows * u.kernel_columns;
  let first_weight = share * u.weights + tap_row * u.kernel_columns + tap_column;
  ${range(own.out)
    .flatMap((o) =>
      range(own.in).map(
        (c) => `if (first_out + ${o}u < u.out_channels && first_in + ${c}u < u.in_channels) {
    let at = first_weight + ((group * u.out_channels + first_out + ${o}u) * u.in_channels + first_in + ${c}u) * taps;
    ${range(taps)
      .map((tap) => `store_to(at + ${tap}u, sum_${o}_${c}_${tap});`)
      .join("\n    ")}
  }`,
      ),
    )
    .join("\n  ")}
}
`;
}
