// Random numbers that the device draws: an invocation computes the four numbers of a group of words.

import {
  type DrawDropout,
  type DrawRandom,
  type PhiloxPosition,
  RandomKind,
} from "../../../generated/stream";
import { itemSize, kRealDTypes } from "../../dtype";
import { elementType } from "../../element_types";
import type { Access } from "../../shader";
import type { View } from "../../stream";
import { isPacked } from "../elementwise/packed";
import { forEach, invocations } from "../invocations";
import { isWhole, type Kernel } from "../kernel";
import { type Range, rangesInWindows } from "../windows";

/** The words of group `i`, by the uniforms of a position. */
export const kWords =
  "random_words(vec2(u.group_low, u.group_high), i, 0u, vec2(u.key_low, u.key_high))";

// The expressions for four numbers from `words`.
const kNumbers: { readonly [K in RandomKind]: string } = {
  // Rounding may reach the excluded end.
  [RandomKind.Uniform]:
    "let scaled = uniform_f32(words) * (u.b - u.a) + u.a; let numbers = select(vec4(u.a), scaled, scaled < vec4(u.b));",
  [RandomKind.Normal]: "let numbers = normals_f32(words) * u.b + u.a;",
  [RandomKind.Integer]:
    "let numbers = u.low + bitcast<vec4<i32>>(select(words, words % vec4(max(u.range, 1u)), vec4(u.range != 0u)));",
  [RandomKind.Bernoulli]:
    "let numbers = select(vec4(0i), vec4(1i), uniform_f32(words) < vec4(u.a));",
  [RandomKind.Exponential]: "let numbers = exponentials_f32(words) / u.a;",
  [RandomKind.Geometric]: "let numbers = max(ceil(exponentials_f32(words) / u.a), vec4(1f));",
  [RandomKind.Cauchy]: "let numbers = cauchys_f32(words) * u.b + u.a;",
  [RandomKind.LogNormal]: "let numbers = exps_f32(normals_f32(words) * u.b + u.a);",
};

/** Returns the uniforms of a dispatch whose invocations compute four numbers each. */
export function uniformsOf(
  { keyLow, keyHigh, group }: PhiloxPosition,
  { first, count }: Pick<Range, "first" | "count">,
) {
  const own = group + first / 4;
  return {
    count: Math.ceil(count / 4),
    elements: count,
    key_low: keyLow,
    key_high: keyHigh,
    group_low: own % 2 ** 32,
    group_high: Math.floor(own / 2 ** 32),
  };
}

// Stores `numbers`, a vector of four, in the group of elements that belongs to invocation `i`. `convert` makes one of them an
// element.
function storeGroup(name: string, view: View, convert: (number: string) => string) {
  const inWords = isPacked(view);
  const as = inWords ? "word" : view.dtype === "int64" ? "i32" : elementType(view.dtype);
  const access: Access = { name, view, mode: "write", as };
  const each = `for (var k = 0u; k < min(4u, u.elements - 4u * i); k++) {
    store_${name}(4u * i + k, ${convert("numbers[k]")});
  }`;
  // Bytes after the last element belong to other memory.
  const word = `let bytes = vec4<u32>(numbers) & vec4(255u);
  var word = bytes.x | (bytes.y << 8u) | (bytes.z << 16u) | (bytes.w << 24u);
  let rest = u.elements - 4u * i;
  if (rest < 4u) {
    let kept = 0xffffffffu << (8u * rest);
    word = (word & ~kept) | (load_${name}(i) & kept);
  }
  store_${name}(i, word);`;
  return { access, key: inWords ? "p" : "", text: inWords ? word : each };
}

function elementOf(dtype: View["dtype"], isFloat: boolean) {
  if (dtype === "float32") return (number: string) => (isFloat ? number : `f32(${number})`);
  return (number: string) =>
    itemSize(dtype) === 1 ? `u32(${number})` : isFloat ? `i32(${number})` : number;
}

export const drawRandom: Kernel<DrawRandom> = {
  supported: { all: kRealDTypes },

  play({ kind, count, position, a, b, y }, commands): void {
    const isInteger = kind === RandomKind.Integer;
    const isFloat = !isInteger && kind !== RandomKind.Bernoulli;
    for (const range of rangesInWindows(commands, count, [y])) {
      const store = storeGroup("y", range.views[0] as View, elementOf(y.dtype, isFloat));
      commands.dispatch({
        key: `draw_random ${kind} ${store.key}`,
        memory: [store.access],
        uniforms: {
          u32: { ...uniformsOf(position, range), ...(isInteger ? { range: b } : {}) },
          ...(isInteger ? { i32: { low: a } } : { f32: { a, b } }),
        },
        workgroups: invocations(Math.ceil(range.count / 4)),
        body: () => forEach(`let words = ${kWords};\n  ${kNumbers[kind]}\n  ${store.text}`),
      });
    }
  },

  overwrites: ({ count, y }) => isWhole(y, count),
};

export const drawDropout: Kernel<DrawDropout> = {
  supported: { views: [["float32"], ["bool"], ["float32"]] },

  play({ count, keep, position, x, mask, y }, commands): void {
    for (const range of rangesInWindows(commands, count, [x, mask, y])) {
      const [ownX, ownMask, ownY] = range.views as [View, View, View];
      const store = storeGroup("mask", ownMask, (number) => `u32(${number})`);
      commands.dispatch({
        key: `draw_dropout ${store.key}`,
        memory: [
          { name: "x", view: ownX, mode: "read" },
          store.access,
          { name: "y", view: ownY, mode: "write" },
        ],
        uniforms: { u32: uniformsOf(position, range), f32: { keep, kept: 1 / Math.fround(keep) } },
        workgroups: invocations(Math.ceil(range.count / 4)),
        // A masked NaN stays NaN.
        body: () =>
          forEach(`let words = ${kWords};
  let numbers = select(vec4(0u), vec4(1u), uniform_f32(words) < vec4(u.keep));
  for (var k = 0u; k < min(4u, u.elements - 4u * i); k++) {
    let x = load_x(4u * i + k);
    store_y(4u * i + k, select(times_zero_f32(x), x * u.kept, numbers[k] != 0u));
  }
  ${store.text}`),
      });
    }
  },

  overwrites: ({ count, mask, y }) => isWhole(mask, count) && isWhole(y, count),
};
