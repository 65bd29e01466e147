// npm run bench -- webgpu --tune: measures the shapes of tiles for matrix products (web/src/webgpu/kernels/matrix/tile_classes.ts) on the
// card at hand, through the player alone, and prints the line of the table that follows from it.

import { posingAs, StreamPlayer, webgpu } from "../../webgpu/support/stream_player.mjs";
import { offerWebGpu } from "../gpu/adapter.mjs";
import { alignColumns, formatNumber } from "../report/format.mjs";
import { describeAdapter } from "./adapter.mjs";
import { findAdapter } from "./run.mjs";

const { kTileClasses, kTileShapes, linesOf } = webgpu;

/** The sides of square products. */
const kSides = { full: [256, 512, 1024, 2048, 4096], small: [64, 128, 256], tiny: [32] };

/** The feature without which float16 is not multiplied as it is. */
const kHalves = "shader-f16";

const kBlock = { full: 200, small: 200, tiny: 1 }; // ms
const kRounds = 3;

/** A larger tile is preferred unless it is slower than this. */
const kTolerance = 0.97;

async function openCard() {
  const adapter = await navigator.gpu.requestAdapter({ powerPreference: "high-performance" });
  const { maxBufferSize, maxStorageBufferBindingSize } = adapter.limits;
  return adapter.requestDevice({
    requiredLimits: { maxBufferSize, maxStorageBufferBindingSize },
    requiredFeatures: [kHalves].filter((name) => adapter.features.has(name)),
  });
}

/** Returns a player whose matrix products have this shape only, without splits. */
function playerWith(device, name, keepsHalves = false) {
  const vendor = `tuned ${name} ${keepsHalves}`;
  kTileClasses[vendor] = { shapes: [kTileShapes[name]], busy: 1, keepsHalves };
  return new StreamPlayer(posingAs(device, { vendor }));
}

/** Resolves to the GFLOPS of a square product of matrices of a dtype. */
async function rateOf(player, side, block, dtype = "float32") {
  const views = [dtype, dtype, "float32"].map((own) => ({
    block: player.allocate(4 * side * side),
    offset: 0,
    dtype: own,
    count: 1,
  }));
  const [a, b, c] = views;
  const layout = { batchStrides: [], rowStride: side, columnStride: 1 };
  const run = async (times) => {
    const start = performance.now();
    for (let i = 0; i < times; ++i)
      player.kernel("matrix_product", {
        sizes: { batch: [], m: side, n: side, k: side },
        ...{ a, aLayout: layout, b, bLayout: layout, c, cLayout: layout, alpha: 1, beta: 0 },
      });
    await player.read(c);
    return performance.now() - start;
  };
  await run(4); // compiles
  let [times, ms] = [1, await run(1)];
  while (ms < block / 2 && times < 4096) {
    times = Math.ceil(times * Math.min(8, (1.2 * block) / ms));
    ms = await run(times);
  }
  for (let round = 1; round < kRounds; ++round) ms = Math.min(ms, await run(times));
  for (const view of views) player.stream.free(view.block);
  return (2 * side ** 3 * times) / ms / 1e6;
}

const areaOf = (shape) => linesOf(shape).a * linesOf(shape).b;

const groupsOf = (shape, side) =>
  Math.ceil(side / linesOf(shape).a) * Math.ceil(side / linesOf(shape).b);

/**
 * Returns the line of an adapter: the shapes that are the best for some size, from the largest tile, and the fewest workgroups with which
 * each is as fast as the next smaller one.
 */
export function lineOf(sides, rates) {
  const names = Object.keys(rates);
  const isBest = (name) =>
    sides.some((_, i) => names.every((other) => rates[name][i] >= rates[other][i]));
  const shapes = names
    .filter(isBest)
    .sort((a, b) => areaOf(kTileShapes[b]) - areaOf(kTileShapes[a]));
  const needed = shapes.slice(0, -1).map((name, j) => {
    const next = rates[shapes[j + 1]];
    const fits = sides.filter((_, i) => rates[name][i] >= kTolerance * next[i]);
    return Math.min(...fits.map((side) => groupsOf(kTileShapes[name], side)));
  });
  return { shapes, busy: Math.max(1, ...needed) };
}

/** Resolves to the GFLOPS of products of float16 that is kept in workgroup memory, and that is converted before. */
async function ratesOfHalves(device, name, side, block) {
  const rates = [];
  for (const keepsHalves of [true, false])
    rates.push(await rateOf(playerWith(device, name, keepsHalves), side, block, "float16"));
  return rates;
}

/** Measures the shapes and prints their rates, and the line for tile_classes.ts. */
export async function tune({ size, onProgress }) {
  const { isSoftware } = await findAdapter();
  await offerWebGpu();
  const { lines } = await describeAdapter(navigator.gpu);
  const chosen = size ?? (isSoftware ? "small" : "full");
  const sides = kSides[chosen];
  const device = await openCard();
  const rates = {};
  for (const name of Object.keys(kTileShapes)) {
    const player = playerWith(device, name);
    rates[name] = [];
    for (const side of sides) {
      onProgress(`${name}, ${side}`);
      rates[name].push(await rateOf(player, side, kBlock[chosen]));
    }
  }
  const { shapes, busy } = lineOf(sides, rates);
  const hasHalves = device.features.has(kHalves);
  if (hasHalves) onProgress("float16");
  const [kept, converted] = hasHalves
    ? await ratesOfHalves(device, shapes[0], sides.at(-1), kBlock[chosen])
    : [];
  onProgress("");
  const header = ["GFLOPS of n x n", ...sides.map(String)];
  const rows = Object.keys(rates).map((name) => [name, ...rates[name].map((x) => formatNumber(x))]);
  for (const line of alignColumns([header, ...rows])) console.log(line);
  if (hasHalves)
    console.log(
      `\nGFLOPS of float16 with ${shapes[0]}: ${formatNumber(kept)} if kept in workgroup memory, ${formatNumber(converted)} if converted before`,
    );
  const line = `{ shapes: [${shapes.join(", ")}], busy: ${busy}, keepsHalves: ${!hasHalves || kept >= converted} }`;
  const { vendor, architecture } = Object.fromEntries(lines);
  console.log(`\nFor kTileClasses in web/src/webgpu/kernels/matrix/tile_classes.ts:
  "${vendor}/${architecture}": ${line},`);
  if (isSoftware)
    console.log(
      "This adapter computes on the CPU, where matrix products have no tiles (software_product.ts).",
    );
}
