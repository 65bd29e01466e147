// Projects points to two or three dimensions: PCA, and UMAP by a library.

import { linalg, noGrad, scope, Tensor } from "edgegrad";
import { refuse } from "../../errors/errors.js";

/** The part of umap-js's class `UMAP` that is used. Programs pass in the class, so that a page without it does not grow. */
export interface UmapClass {
  new (options: {
    nComponents: number;
    nNeighbors: number;
    minDist: number;
    random: () => number;
  }): {
    /** Returns the points in fewer dimensions. */
    fit(points: number[][]): number[][];
  };
}

/** Options of `umap`. */
export interface UmapOptions {
  /** The class `UMAP` of umap-js. */
  UMAP: UmapClass;
  /** The dimensions of the result; default 2. */
  components?: number;
  /** The number of neighbors of a point that stay close to it; default 15, or fewer if there are fewer points. */
  neighbors?: number;
  /** The minimum distance between points; default 0.1. */
  minDist?: number;
  /** The seed of the random numbers; default 0. */
  seed?: number;
}

/** Projects points, one per row, onto their `components` principal components: shape [points, components]. */
export function pca(points: Tensor, components = 2): Tensor {
  const [rows, columns] = shapeOf("pca", points);
  const most = Math.min(rows, columns);
  if (!Number.isInteger(components) || components < 1 || components > most)
    refuse("pca", "components", `an integer from 1 to ${most}`, components);
  return scope(() =>
    noGrad(() => {
      const centered = points
        .detach()
        .to("float32")
        .sub(points.detach().to("float32").mean(0, true));
      const [, , directions] = linalg.svd(centered, false);
      const kept = directions.narrow(0, 0, components);
      // The sign of a direction is arbitrary: its largest component is made positive.
      const largest = kept.abs().argmax(1, true);
      return centered.matmul(kept.mul(kept.gather(1, largest).sign()).t());
    }),
  );
}

/** Projects points, one per row of a tensor on the CPU, to fewer dimensions with umap-js, so that neighbors stay close. */
export function umap(points: Tensor, options: UmapOptions): number[][] {
  const [rows] = shapeOf("umap", points);
  const { UMAP, components = 2, neighbors = Math.min(15, rows - 1), minDist = 0.1 } = options;
  if (typeof UMAP !== "function") refuse("umap", "UMAP", "the class UMAP of umap-js", UMAP);
  if (!Number.isInteger(neighbors) || neighbors < 1 || neighbors >= rows)
    refuse("umap", "neighbors", `an integer from 1 to ${rows - 1}`, neighbors);
  const random = randomOf(options.seed ?? 0);
  const model = new UMAP({ nComponents: components, nNeighbors: neighbors, minDist, random });
  return model.fit(points.tolist() as number[][]);
}

function shapeOf(where: string, points: unknown): [rows: number, columns: number] {
  const isTable = points instanceof Tensor && points.ndim === 2 && points.numel > 0;
  if (!isTable || points.shape[0] === 1)
    return refuse(
      where,
      "points",
      "a tensor of shape [points, dimensions], two points or more",
      points,
    );
  return points.shape as [number, number];
}

// Numbers from 0 to 1 (mulberry32), the same for the same seed.
function randomOf(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
