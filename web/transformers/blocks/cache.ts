// The keys and values of the tokens that a model has already processed.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";

const kWhere = "KeyValueCache";

interface Layer {
  keys: eg.Tensor;
  values: eg.Tensor;
  length: number;
}

/**
 * The keys and values that attention has computed, per layer, so that a model processes each token once. The first call allocates memory for
 * `capacity` tokens; new tokens are written into it, and attention reads a view of it.
 */
export class KeyValueCache {
  readonly #layers: Layer[] = [];
  #capacity: number;

  /** `capacity` is the initial capacity in tokens, which doubles when it is exceeded. */
  constructor(capacity = 64) {
    if (!Number.isSafeInteger(capacity) || capacity < 1) {
      fail("InvalidArgument", kWhere, "capacity: expected a whole number from 1.");
    }
    this.#capacity = capacity;
  }

  /** The number of tokens in the cache. */
  get length(): number {
    return this.#layers[0]?.length ?? 0;
  }

  /** The number of tokens that fit into the allocated memory. */
  get capacity(): number {
    return this.#capacity;
  }

  /** Appends keys and values [batch, heads, tokens, features] to a layer; returns views of all keys and values of that layer. */
  append(index: number, keys: eg.Tensor, values: eg.Tensor): [keys: eg.Tensor, values: eg.Tensor] {
    if (eg.isGradEnabled() && (keys.requiresGrad || values.requiresGrad)) {
      const advice = "Call the model in eg.noGrad(), or without useCache.";
      fail("InvalidArgument", kWhere, `a cache has no gradients. ${advice}`);
    }
    return eg.noGrad(() => {
      const layer = this.#layerFor(index, keys, values);
      const tokens = keys.shape[2] as number;
      layer.keys.narrow(2, layer.length, tokens).copy_(keys);
      layer.values.narrow(2, layer.length, tokens).copy_(values);
      layer.length += tokens;
      return [layer.keys.narrow(2, 0, layer.length), layer.values.narrow(2, 0, layer.length)];
    });
  }

  /** Removes the tokens after the first `length`. */
  crop(length: number): void {
    if (!Number.isSafeInteger(length) || length < 0 || length > this.length) {
      fail("InvalidArgument", kWhere, `crop: expected a number from 0 to ${this.length}.`);
    }
    for (const layer of this.#layers) layer.length = length;
  }

  /** Replaces the rows of the batch by others of it, of which one may occur several times. @internal */
  selectRows(rows: readonly number[]): void {
    if (rows.every((row, i) => row === i)) return;
    eg.noGrad(() =>
      eg.scope(() => {
        for (const { keys, values, length } of this.#layers) {
          const index = eg.tensor([...rows], { dtype: "int64", device: keys.device });
          for (const memory of [keys, values]) {
            const used = memory.narrow(2, 0, length);
            used.copy_(used.indexSelect(0, index));
          }
        }
      }),
    );
  }

  /** Frees the memory. */
  dispose(): void {
    for (const { keys, values } of this.#layers.splice(0)) {
      keys.dispose();
      values.dispose();
    }
  }

  #layerFor(index: number, keys: eg.Tensor, values: eg.Tensor): Layer {
    const needed = (this.#layers[index]?.length ?? 0) + (keys.shape[2] as number);
    while (this.#capacity < needed) this.#capacity *= 2;
    const layer = this.#layers[index];
    if (layer === undefined) {
      const made = { keys: this.#memoryFor(keys), values: this.#memoryFor(values), length: 0 };
      this.#layers[index] = made;
      return made;
    }
    if (layer.keys.shape[0] !== keys.shape[0]) {
      const [own, given] = [layer.keys.shape[0], keys.shape[0]];
      fail("ShapeMismatch", kWhere, `it is of a batch of ${own}, and the inputs of ${given}.`);
    }
    if ((layer.keys.shape[2] as number) < needed) {
      layer.keys = this.#grown(layer.keys, layer.length);
      layer.values = this.#grown(layer.values, layer.length);
    }
    return layer;
  }

  #memoryFor(like: eg.Tensor): eg.Tensor {
    const [batch, heads, , features] = like.shape as [number, number, number, number];
    const { device, dtype } = like;
    return eg.keep(eg.empty([batch, heads, this.#capacity, features], { device, dtype }));
  }

  #grown(old: eg.Tensor, length: number): eg.Tensor {
    const memory = this.#memoryFor(old);
    memory.narrow(2, 0, length).copy_(old.narrow(2, 0, length));
    old.dispose();
    return memory;
  }

  /** Vue and Alpine do not wrap instances: their proxies would hide private members. @internal */
  get __v_skip(): boolean {
    return true;
  }
}
