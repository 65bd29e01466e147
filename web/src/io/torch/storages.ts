// The storages of a file as tensors of one dimension, and the tensors of the file as views of them.

import { calledAs } from "../../runtime/errors/errors.js";
import { scope } from "../../tensor/scope.js";
import type { Tensor } from "../../tensor/tensor.js";
import { reject } from "../broken_file.js";
import { countOf } from "../bytes.js";
import { type StoredTensor, tensorOfPieces } from "../stored_elements.js";
import { SparsePlan, type TensorPlan } from "./python_values.js";
import { sparseTensorOf } from "./sparse.js";
import { storedTypeOf } from "./storage_types.js";
import type { StoredBytes } from "./torch_file.js";

/** The storages that some tensors lie in. */
export class Storages {
  readonly #where: string;
  readonly #wanted = new Map<string, StoredTensor>();
  readonly #bases = new Map<string, Tensor>();
  readonly #tensors: Tensor[] = [];

  /** Checks that the tensors lie within their storages; must be called inside readingLater(). */
  constructor(where: string, plans: readonly TensorPlan[]) {
    this.#where = where;
    for (const plan of plans) {
      const { key } = plan.storage;
      const storage = storageOf(plan);
      const known = this.#wanted.get(key);
      if (known !== undefined && (known.type !== storage.type || known.count !== storage.count)) {
        reject(`${storage.name} is used with two sizes or element types.`);
      }
      if (extentOf(plan) > storage.count)
        reject(`a tensor of shape [${plan.shape}] lies beyond the end of ${storage.name}.`);
      this.#wanted.set(key, storage);
    }
  }

  /** Reads all storages. */
  async read(bytesOf: (key: string) => StoredBytes): Promise<void> {
    for (const [key, storage] of this.#wanted) {
      const { size, pieces } = bytesOf(key);
      const expected = storage.count * storage.type.bytes;
      if (size !== expected)
        reject(`${storage.name} has ${size} bytes, and its tensors need ${expected}.`);
      const base = await tensorOfPieces(this.#where, storage, pieces(), () => {});
      this.#bases.set(key, base);
    }
  }

  /** Returns a new tensor, dense or sparse. */
  tensor(plan: TensorPlan | SparsePlan): Tensor {
    return plan instanceof SparsePlan ? this.#sparse(plan) : this.#dense(plan);
  }

  #sparse(plan: SparsePlan): Tensor {
    const tensor = scope(() =>
      sparseTensorOf(
        plan,
        plan.parts.map((part) => this.#view(part)),
      ),
    );
    this.#tensors.push(tensor);
    return plan.requiresGrad ? tensor.requiresGrad_() : tensor;
  }

  #dense(plan: TensorPlan): Tensor {
    const tensor = this.#view(plan);
    this.#tensors.push(tensor);
    return plan.requiresGrad ? tensor.requiresGrad_() : tensor;
  }

  // A new tensor, which shares the memory of its storage, unless PyTorch has put off a change of its elements.
  #view({ storage, offset, shape, strides, pending }: TensorPlan): Tensor {
    return calledAs(this.#where, () => {
      const base = this.#bases.get(storage.key) as Tensor;
      return scope(() => {
        const view = base.asStrided(shape, strides, storage.offset + offset);
        const conjugated = pending.isConjugated ? view.conj() : view;
        // A tensor of its own, as PyTorch's are after loading.
        return (pending.isNegated ? conjugated.neg() : conjugated).detach();
      });
    });
  }

  disposeTensors(): void {
    for (const tensor of this.#tensors) tensor.dispose();
  }

  /** Releases the storages, whose memory stays as long as tensors lie in it. */
  dispose(): void {
    for (const base of this.#bases.values()) base.dispose();
  }
}

function storageOf({ storage, type }: TensorPlan): StoredTensor {
  const name = `storage ${JSON.stringify(storage.key)}`;
  const stored = storedTypeOf(type) ?? reject(`${name} has the unknown element type ${type}.`);
  const count = storage.type === null ? storage.count / stored.bytes : storage.count;
  const isPossible = Number.isInteger(count) && countOf([count]) !== null;
  if (!isPossible) reject(`${name} of ${storage.count} bytes does not consist of whole elements.`);
  return { name, type: stored, shape: [count], count };
}

// Returns the number of elements from the beginning of the storage to the end of the tensor.
function extentOf({ storage, offset, shape, strides }: TensorPlan): number {
  const count =
    countOf(shape) ?? reject(`a tensor has the shape [${shape.slice(0, 65)}], which is too large.`);
  const last = shape.reduce((sum, size, dim) => sum + (size - 1) * (strides[dim] ?? 0), 0);
  const start = storage.offset + offset;
  return count === 0 ? start : start + last + 1;
}
