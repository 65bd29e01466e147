// Large tensors are read and converted in pieces, so that besides the tensor only one piece is in memory.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import { dtypeOf, markAs } from "../values/types.js";
import { elementsIn, kBits, numbersOf, rawBytes, type Stored } from "./decode.js";

/** The size of a piece: it fits into the processor's cache, and no element spans two pieces. */
const kPieceBytes = 2 ** 20;

/** Returns the elements of a tensor of a file. */
export function tensorOfStored(tensor: Stored): eg.Tensor {
  if (tensor.apart instanceof eg.Tensor) return tensor.apart;
  const raw = rawBytes(tensor);
  if (raw === undefined || raw.length <= kPieceBytes) {
    return markAs(
      eg.tensor(numbersOf(tensor), { dtype: dtypeFor(tensor), shape: tensor.shape }),
      tensor.type,
    );
  }
  const filling = new Filling(tensor);
  filling.addAll(raw);
  return filling.tensor;
}

function dtypeFor({ type }: Stored): eg.DType {
  return dtypeOf(type) ?? fail("Internal", "onnx.load", "strings cannot be a tensor.");
}

/** A large tensor that is filled from its first element to its last. */
export class Filling {
  readonly tensor: eg.Tensor;
  readonly #one: Stored;
  #count = 0;

  constructor(tensor: Stored) {
    this.#one = tensor;
    this.tensor = markAs(eg.empty(tensor.shape, { dtype: dtypeFor(tensor) }), tensor.type);
  }

  addAll(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += kPieceBytes) {
      this.#add(bytes.subarray(at, at + kPieceBytes));
    }
  }

  #add(bytes: Uint8Array): void {
    const { type, count } = this.#one;
    const left = count - this.#count;
    const added = Math.min(Math.floor((8 * bytes.length) / kBits[type]), left);
    eg.scope(() => {
      const piece = eg.tensor(elementsIn(type, bytes, added), {
        dtype: this.tensor.dtype,
        shape: [added],
      });
      this.tensor.view([-1]).narrow(0, this.#count, added).copy_(piece);
    });
    this.#count += added;
  }
}
