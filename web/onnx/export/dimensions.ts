// Sizes that depend on the inputs, as nodes: each equals a size of a tensor that is already in the graph, or is computed from one or
// two of those. A formula is accepted if it holds in all traces.

import type { Graph, Name } from "./graph.js";
import { type Size, type Value, Varying } from "./values.js";

interface Known {
  readonly samples: readonly number[];
  /** Returns the size as a list of one integer. */
  name(): Name;
}

/** The sizes of a graph's tensors. */
export class Dimensions {
  readonly #known = new Map<string, Known>();
  readonly #graph: Graph;

  constructor(graph: Graph) {
    this.#graph = graph;
  }

  /** Notes the sizes of a tensor. */
  add(value: Value, name: Name): void {
    for (const [dim, size] of value.sizes().entries()) {
      if (!(size instanceof Varying)) continue;
      const key = size.samples.join();
      if (this.#known.has(key)) continue;
      let made: Name | null = null;
      const make = () => {
        const shape = this.#graph.node("Shape", [name]);
        return this.#graph.node("Gather", [shape, this.#graph.ints([dim])]);
      };
      this.#known.set(key, {
        samples: size.samples,
        name: () => {
          made ??= make();
          return made;
        },
      });
    }
  }

  /** Returns a size as a list of one integer, or null if no formula for it was found. */
  find(size: Size): Name | null {
    if (!(size instanceof Varying)) return this.#graph.ints([size]);
    const { samples } = size;
    const known = [...this.#known.values()];
    const same = this.#known.get(samples.join());
    if (same !== undefined) return same.name();
    for (const other of known) {
      const line = lineThrough(other.samples, samples);
      if (line !== null) return this.#remember(samples, this.#onLine(other.name(), line));
    }
    for (const a of known) {
      for (const b of known) {
        const product = a.samples.map((sample, i) => sample * (b.samples[i] as number));
        const line = lineThrough(product, samples);
        if (line === null || line.offset !== 0) continue;
        return this.#remember(
          samples,
          this.#onLine(this.#graph.node("Mul", [a.name(), b.name()]), line),
        );
      }
    }
    return null;
  }

  #remember(samples: readonly number[], name: Name): Name {
    this.#known.set(samples.join(), { samples, name: () => name });
    return name;
  }

  #onLine(name: Name, { times, over, offset }: Line): Name {
    const graph = this.#graph;
    let result = name;
    if (times !== 1) result = graph.node("Mul", [result, graph.ints([times])]);
    if (over !== 1) result = graph.node("Div", [result, graph.ints([over])]);
    return offset === 0 ? result : graph.node("Add", [result, graph.ints([offset])]);
  }
}

// y = x * times / over + offset
interface Line {
  readonly times: number;
  readonly over: number;
  readonly offset: number;
}

const kMostOver = 1024;

// Returns the line through all points, whose coefficients are integers; null if there is no such line.
function lineThrough(xs: readonly number[], ys: readonly number[]): Line | null {
  const [x0 = 0, x1 = 0] = xs;
  const [y0 = 0, y1 = 0] = ys;
  if (x0 === x1) return null;
  const common = divisor(Math.abs(x1 - x0), Math.abs(y1 - y0));
  const sign = Math.sign(x1 - x0);
  const times = (sign * (y1 - y0)) / common;
  const over = Math.abs(x1 - x0) / common;
  const offset = y0 - (x0 * times) / over;
  if (times === 0 || over > kMostOver || !Number.isInteger(offset)) return null;
  const fits = xs.every((x, i) => (x * times) / over + offset === ys[i]);
  return fits ? { times, over, offset } : null;
}

function divisor(a: number, b: number): number {
  return b === 0 ? a : divisor(b, a % b);
}
