// Parameters as one vector. Vectors computed from it outlive calls of the user's closure, so no scope can own them; they
// are freed here.

import { abs, add_, cat, copy_, dot, narrow, reshape, zerosLike } from "../../generated/ops.js";
import { isComplex } from "../../tensor/dtype.js";
import { keep } from "../../tensor/scope.js";
import type { Tensor } from "../../tensor/tensor.js";
import { parts } from "../composed.js";
import { quietly } from "../quietly.js";

/** Parameters as one vector of real numbers. */
export class FlatParams {
  readonly #params: readonly Tensor[];
  readonly #held = new Set<Tensor>();
  #hasMoved = false;

  constructor(params: readonly Tensor[]) {
    this.#params = params;
  }

  /** The length of the vector. */
  get count(): number {
    return this.#params.reduce(
      (sum, param) => sum + param.numel * (isComplex(param.dtype) ? 2 : 1),
      0,
    );
  }

  /** Creates a vector that lives until releaseAllBut(). */
  hold(make: () => Tensor): Tensor {
    const made = keep(quietly(make));
    this.#held.add(made);
    return made;
  }

  /** Frees the vectors created by hold(), except those in `wanted`. */
  releaseAllBut(wanted: readonly Tensor[]): void {
    for (const held of this.#held) {
      if (wanted.includes(held)) continue;
      held.dispose();
      this.#held.delete(held);
    }
  }

  /** Returns a copy of the values. */
  values(): Tensor {
    return keep(quietly(() => flattened(this.#params)));
  }

  /** Returns the gradients; a missing gradient is 0. */
  gradient(): Tensor {
    return this.hold(() => flattened(this.#params.map((param) => param.grad ?? zerosLike(param))));
  }

  /** Sets the values. */
  set(values: Tensor): void {
    this.#forEachPart(values, (param, part) => copy_(param, part));
  }

  /** Whether move() was called. */
  get hasMoved(): boolean {
    return this.#hasMoved;
  }

  /** Moves the parameters by `step` times `direction`. */
  move(step: number, direction: Tensor): void {
    this.#hasMoved = true;
    this.#forEachPart(direction, (param, part) => add_(param, part, step));
  }

  #forEachPart(vector: Tensor, work: (param: Tensor, part: Tensor) => void): void {
    quietly(() => {
      let at = 0;
      for (const param of this.#params.map(parts)) {
        work(param, reshape(narrow(vector, 0, at, param.numel), param.shape));
        at += param.numel;
      }
    });
  }
}

/** Returns the dot product of two vectors as a number. */
export function product(a: Tensor, b: Tensor): number {
  return quietly(() => Number(dot(a, b).item()));
}

/** Returns the largest magnitude of an element; 0 if there are none. */
export function largest(vector: Tensor): number {
  return vector.numel === 0 ? 0 : quietly(() => Number(abs(vector).max().item()));
}

function flattened(tensors: readonly Tensor[]): Tensor {
  return cat(tensors.map((t) => reshape(parts(t.detach()), [-1])));
}
