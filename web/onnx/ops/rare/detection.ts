// Ops of object detection models.

import * as eg from "edgegrad";
import { Host } from "../../values/host.js";
import { host, ints, number, tensor, type Value } from "../../values/value.js";
import { range } from "../axes.js";
import { flag, float, int, type Ops, op, string } from "../op.js";

type Box = readonly [number, number, number, number];

// Returns [top, left, bottom, right] of two corners in any order, or of a center and sizes.
function boxOf(values: readonly number[], isCentered: boolean): Box {
  const [a = 0, b = 0, c = 0, d = 0] = values;
  if (isCentered) return [b - d / 2, a - c / 2, b + d / 2, a + c / 2];
  return [Math.min(a, c), Math.min(b, d), Math.max(a, c), Math.max(b, d)];
}

function overlap(a: Box, b: Box): number {
  const height = Math.max(0, Math.min(a[2], b[2]) - Math.max(a[0], b[0]));
  const width = Math.max(0, Math.min(a[3], b[3]) - Math.max(a[1], b[1]));
  const area = (box: Box) => (box[2] - box[0]) * (box[3] - box[1]);
  const shared = height * width;
  const all = area(a) + area(b) - shared;
  return all <= 0 ? 0 : shared / all;
}

function nonMaxSuppression(
  [boxes, scores, most, share, least]: readonly Value[],
  isCentered: boolean,
): Host<number> {
  const [all, rated] = [host(boxes), host(scores)];
  const [batches = 0, classes = 0, count = 0] = rated.shape;
  const limit = Math.min(number(most) ?? 0, count);
  const [maxOverlap, minScore] = [number(share) ?? 0, number(least) ?? Number.NEGATIVE_INFINITY];
  const kept: number[] = [];
  for (const batch of range(batches)) {
    const own = range(count).map((i) =>
      boxOf(all.data.slice((batch * count + i) * 4, (batch * count + i + 1) * 4), isCentered),
    );
    for (const label of range(classes)) {
      const score = (i: number) => rated.data[(batch * classes + label) * count + i] as number;
      const order = range(count)
        .filter((i) => score(i) > minScore)
        .sort((a, b) => score(b) - score(a));
      const chosen: number[] = [];
      for (const i of order) {
        if (chosen.length >= limit) break;
        const isFree = chosen.every(
          (other) => overlap(own[i] as Box, own[other] as Box) <= maxOverlap,
        );
        if (isFree) chosen.push(i);
      }
      kept.push(...chosen.flatMap((i) => [batch, label, i]));
    }
  }
  return new Host("int64", [kept.length / 3, 3], kept);
}

interface RoiAlign {
  readonly coordinate_transformation_mode: string;
  readonly mode: string;
  readonly output_height: number;
  readonly output_width: number;
  readonly sampling_ratio: number;
  readonly spatial_scale: number;
}

// Each cell of a region is the mean or the maximum of interpolated samples. Their positions are computed in JavaScript.
function roiAlign([input, regions, batches]: readonly Value[], given: RoiAlign): eg.Tensor {
  const x = tensor(input);
  const [, channels = 1, height = 1, width = 1] = x.shape;
  const { output_height: rows, output_width: columns, spatial_scale: scale } = given;
  const all = host(regions);
  const owners = ints(batches) ?? [];
  const offset = given.coordinate_transformation_mode === "half_pixel" ? 0.5 : 0;
  const flat = eg.permute(x, [0, 2, 3, 1]).reshape([-1, channels]);
  const parts = owners.map((batch, i) => {
    const [left = 0, top = 0, right = 0, bottom = 0] = all.data
      .slice(i * 4, i * 4 + 4)
      .map((value) => value * scale - offset);
    const least = offset === 0 ? 1 : 0;
    const ys = samples(top, Math.max(bottom - top, least), rows, given.sampling_ratio, height);
    const xs = samples(left, Math.max(right - left, least), columns, given.sampling_ratio, width);
    const values = sample(flat, batch * height * width, ys.places, xs.places, width, given.mode);
    const cells = values.reshape([rows, ys.each, columns, xs.each, channels]);
    const result = given.mode === "max" ? eg.amax(cells, [1, 3]) : eg.mean(cells, [1, 3]);
    return eg.permute(result, [2, 0, 1]);
  });
  return parts.length === 0
    ? eg.zeros([0, channels, rows, columns], { dtype: x.dtype, device: x.device })
    : eg.stack(parts, 0);
}

/** A sample between two pixels: their positions, and the weight of the second. Outside of the image, both weights are 0. */
interface Place {
  readonly low: number;
  readonly high: number;
  readonly share: number;
  readonly isInside: boolean;
}

function samples(
  start: number,
  length: number,
  cells: number,
  ratio: number,
  size: number,
): { each: number; places: Place[] } {
  const step = length / cells;
  const each = ratio > 0 ? ratio : Math.max(Math.ceil(step), 1);
  const places = range(cells * each).map((i): Place => {
    const at = start + (Math.floor(i / each) + ((i % each) + 0.5) / each) * step;
    const inside = Math.min(Math.max(at, 0), size - 1);
    const low = Math.floor(inside);
    return {
      low,
      high: Math.min(low + 1, size - 1),
      share: inside - low,
      isInside: at >= -1 && at <= size,
    };
  });
  return { each, places };
}

function sample(
  flat: eg.Tensor,
  first: number,
  ys: readonly Place[],
  xs: readonly Place[],
  width: number,
  mode: string,
): eg.Tensor {
  const pairs = ys.flatMap((y) => xs.map((x) => [y, x] as const));
  const corner = (yEnd: "low" | "high", xEnd: "low" | "high") => {
    const places = pairs.map(([y, x]) => first + y[yEnd] * width + x[xEnd]);
    const weights = pairs.map(([y, x]) => {
      const isInside = y.isInside && x.isInside;
      const [dy, dx] = [
        yEnd === "low" ? 1 - y.share : y.share,
        xEnd === "low" ? 1 - x.share : x.share,
      ];
      return isInside ? dy * dx : 0;
    });
    const index = eg.tensor(BigInt64Array.from(places, BigInt), { device: flat.device });
    const factors = eg.tensor(weights, { dtype: flat.dtype, device: flat.device }).unsqueeze(1);
    return eg.indexSelect(flat, 0, index).mul(factors);
  };
  // Mode "max" takes the maximum of the weighted pixels, not of the interpolated samples.
  const joined = mode === "max" ? eg.maximum : (a: eg.Tensor, b: eg.Tensor) => a.add(b);
  const [low, high] = [
    joined(corner("low", "low"), corner("low", "high")),
    joined(corner("high", "low"), corner("high", "high")),
  ];
  return joined(low, high);
}

export const kDetection: Ops = {
  NonMaxSuppression: op({
    since: 10,
    attributes: { center_point_box: flag(false) },
    settings: [2, 3, 4],
    ownTypes: true,
    run: (inputs, { center_point_box }) => nonMaxSuppression(inputs, center_point_box),
  }),
  RoiAlign: op({
    since: 10,
    attributes: {
      coordinate_transformation_mode: string(""),
      mode: string("avg"),
      output_height: int(1),
      output_width: int(1),
      sampling_ratio: int(0),
      spatial_scale: float(1),
    },
    run: (inputs, given, { version }) => {
      const usual = version < 16 ? "output_half_pixel" : "half_pixel";
      const mode = given.coordinate_transformation_mode || usual;
      return roiAlign(inputs, { ...given, coordinate_transformation_mode: mode });
    },
  }),
};
