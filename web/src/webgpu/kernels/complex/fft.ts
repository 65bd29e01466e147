// Discrete Fourier transforms of rows.
//
// A row is transformed factor by factor (Stockham's ordering, which needs no bit reversal): every factor is a dispatch
// in which each invocation makes one number, as a sum of as many terms as the factor says. So a size with a large prime
// factor takes long.

import type { Reader, Rows, View } from "../../stream";
import { copyBytes } from "../elementwise/copy";
import { forEach, invocations } from "../invocations";
import type { Commands, Kernel } from "../kernel";

export const fft: Kernel = {
  supported: { all: ["complex64"] },

  play(fields: Reader, commands: Commands): void {
    const rows = fields.rows();
    const isInverse = fields.bool();
    const scale = fields.double();
    const x = fields.out();
    const count = rows.outer * rows.size * rows.inner;
    if (count === 0) return;
    const roots = makeRoots(commands, rows.size, isInverse);
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
      transformBy(commands, { rows, from, to, roots, factor, done, scale: isLast ? scale : 1 });
      // What one pass has read the next may write; x is for the last.
      free = from === x ? undefined : from;
      from = to;
      done *= factor;
    }
  },
};

/** The factors to transform by, fours first; the size 1 is its own. */
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

// exp(-2 pi i k / size), or with the other sign, for all k: by the nearest quarter of a turn, which keeps the angle
// exact.
function makeRoots(commands: Commands, size: number, isInverse: boolean): View {
  const roots = commands.scratch(8 * size, "complex64");
  commands.dispatch({
    key: "fft roots",
    memory: [{ name: "roots", view: roots, mode: "write" }],
    numbers: { u32: { count: size }, f32: { sign: isInverse ? 1 : -1 } },
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
  readonly factor: number;
  /** The product of the factors before. */
  readonly done: number;
  readonly scale: number;
}

// Splits transforms of size / done numbers, of which `done` lie interleaved, by the factor.
function transformBy(
  commands: Commands,
  { rows, from, to, roots, factor, done, scale }: Pass,
): void {
  const { outer, size, inner } = rows;
  const count = outer * size * inner;
  commands.dispatch({
    key: "fft pass",
    memory: [
      { name: "from", view: from, mode: "read" },
      { name: "roots", view: roots, mode: "read" },
      { name: "to", view: to, mode: "write" },
    ],
    numbers: { u32: { count, size, inner, factor, done, step: size / factor }, f32: { scale } },
    workgroups: invocations(count),
    body: () =>
      forEach(`let place = i / u.inner % u.size;
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
  store_to(i, u.scale * sum);`),
  });
}
