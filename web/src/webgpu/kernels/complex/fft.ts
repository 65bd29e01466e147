// Discrete Fourier transforms of rows.
//
// A row is transformed factor by factor, with one dispatch per factor, in Stockham's ordering, which needs no bit
// reversal. For the factor 4, an invocation computes four results from four numbers. For any other factor, it computes
// one result as a sum with as many terms as the factor, so sizes with large prime factors are slow.

import type { Fft, Rows } from "../../../generated/stream";
import type { View } from "../../stream";
import { copyBytes } from "../elementwise/copy";
import { forEach, invocations } from "../invocations";
import type { Commands, Kernel } from "../kernel";

export const fft: Kernel<Fft> = {
  supported: { all: ["complex64"] },

  play({ rows, inverse, scale, x }, commands): void {
    const count = rows.outer * rows.size * rows.inner;
    if (count === 0) return;
    const sign = inverse ? 1 : -1;
    const roots = makeRoots(commands, rows.size, sign);
    const factors = factorsOf(rows.size);
    const scratch = () => commands.scratch(8 * count, "complex64");
    let from = x;
    if (factors.length === 1) {
      from = scratch();
      copyBytes(commands, from, x, 8 * count);
    }
    let free: View | undefined;
    let done = 1;
    for (const [i, factor] of factors.entries()) {
      const isLast = i === factors.length - 1;
      const to = isLast ? x : (free ?? scratch());
      const scaled = isLast ? scale : 1;
      transformBy(commands, { rows, from, to, roots, sign, factor, done, scale: scaled });
      // The next pass may write the memory that this pass has read; x is reserved for the last pass.
      free = from === x ? undefined : from;
      from = to;
      done *= factor;
    }
  },
};

/** Returns the factors of a size, fours first; [1] for the size 1. */
export function factorsOf(size: number): number[] {
  const factors: number[] = [];
  let rest = size;
  for (const p of candidates()) {
    if (p !== 4 && p * p > rest) break;
    for (; rest % p === 0; rest /= p) factors.push(p);
  }
  if (rest > 1 || factors.length === 0) factors.push(rest);
  return factors;
}

function* candidates(): Generator<number> {
  yield* [4, 2];
  for (let p = 3; ; p += 2) yield p;
}

// Computes exp(sign 2 pi i k / size) for all k, relative to the nearest quarter turn, so that the remaining
// angle is small and accurate.
function makeRoots(commands: Commands, size: number, sign: number): View {
  const roots = commands.scratch(8 * size, "complex64");
  commands.dispatch({
    key: "fft roots",
    memory: [{ name: "roots", view: roots, mode: "write" }],
    uniforms: { u32: { count: size }, f32: { sign } },
    workgroups: invocations(size),
    body: () =>
      forEach(`let quarters = (8u * i + u.count) / (2u * u.count);
  let angle = f32(i32(4u * i) - i32(quarters * u.count)) / f32(u.count) * kHalfPi;
  var root = vec2(cos_series_f32(angle), sin_series_f32(angle));
  for (var turn = 0u; turn < quarters; turn++) {
    root = turn_left(root);
  }
  store_roots(i, vec2(root.x, u.sign * root.y));`),
  });
  return roots;
}

interface Pass {
  readonly rows: Rows;
  readonly from: View;
  readonly to: View;
  readonly roots: View;
  readonly sign: number;
  readonly factor: number;
  /** The product of the previous factors. */
  readonly done: number;
  readonly scale: number;
}

// Runs the pass for one factor on `done` interleaved transforms of size / done numbers each.
function transformBy(
  commands: Commands,
  { rows, from, to, roots, sign, factor, done, scale }: Pass,
): void {
  const { outer, size, inner } = rows;
  const isFour = factor === 4;
  const count = (outer * size * inner) / (isFour ? 4 : 1);
  commands.dispatch({
    key: `fft pass ${isFour}`,
    memory: [
      { name: "from", view: from, mode: "read" },
      { name: "roots", view: roots, mode: "read" },
      { name: "to", view: to, mode: "write" },
    ],
    uniforms: {
      u32: { count, size, inner, factor, done, step: size / factor },
      f32: { scale, sign },
    },
    workgroups: invocations(count),
    body: () => forEach(isFour ? kFour : kSum),
  });
}

const kFour = `let place = i / u.inner % u.step;
  let group = place / u.done;
  let first = i / (u.inner * u.step) * (u.inner * u.size) + i % u.inner;
  let apart = u.step * u.inner;
  let at = first + place * u.inner;
  let a = load_from(at);
  let b = load_from(at + apart);
  let c = load_from(at + 2u * apart);
  let d = load_from(at + 3u * apart);
  let even = a - c;
  let odd = u.sign * turn_left(b - d);
  let root = u.done * group;
  let to = first + (place + 3u * root) * u.inner;
  let next = u.done * u.inner;
  store_to(to, u.scale * (a + c + b + d));
  store_to(to + next, u.scale * mul_c64(even + odd, load_roots(root)));
  store_to(to + 2u * next, u.scale * mul_c64(a + c - (b + d), load_roots(2u * root)));
  store_to(to + 3u * next, u.scale * mul_c64(even - odd, load_roots(3u * root)));`;

const kSum = `let place = i / u.inner % u.size;
  let term = place / u.done % u.factor;
  let group = place / (u.done * u.factor);
  var at = i - (place - place % u.done - u.done * group) * u.inner;
  var root = u.done * group * term;
  var sum = vec2(0f);
  for (var k = 0u; k < u.factor; k++) {
    sum += mul_c64(load_from(at), load_roots(root));
    at += u.step * u.inner;
    root += u.step * term;
    root -= select(0u, u.size, root >= u.size);
  }
  store_to(i, u.scale * sum);`;
