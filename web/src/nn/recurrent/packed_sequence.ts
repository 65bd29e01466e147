import { indexSelect } from "../../generated/ops.js";
import type { Target } from "../../ops/to.js";
import { fail } from "../../runtime/errors/errors.js";
import { tensorRule } from "../../tensor/rules.js";
import type { Tensor } from "../../tensor/tensor.js";

/** Sequences of several lengths without padding: for each step the elements of those that have not ended, the longest first. */
export class PackedSequence {
  /** The elements of all steps: [sum of the lengths, ...]. */
  readonly data: Tensor;
  /** The number of sequences at each step, as an int64 vector. */
  readonly batchSizes: Tensor;
  /** The positions of the sequences before they were sorted; null if they were sorted already. */
  readonly sortedIndices: Tensor | null;
  /** The position of each sequence after sorting. */
  readonly unsortedIndices: Tensor | null;

  constructor(
    data: Tensor,
    batchSizes: Tensor,
    sortedIndices: Tensor | null = null,
    unsortedIndices: Tensor | null = null,
  ) {
    this.data = tensorRule.check("PackedSequence", "data", data);
    this.batchSizes = tensorRule.check("PackedSequence", "batchSizes", batchSizes);
    if (batchSizes.ndim !== 1 || batchSizes.dtype !== "int64") {
      fail("InvalidArgument", "PackedSequence", "batchSizes: expected an int64 vector.");
    }
    const order = tensorRule.orNull();
    this.sortedIndices = order.check("PackedSequence", "sortedIndices", sortedIndices);
    this.unsortedIndices = order.check("PackedSequence", "unsortedIndices", unsortedIndices);
  }

  /**
   * Returns the sequences in another dtype or on another device, as `Tensor.to()`; these themselves if they are there already. The
   * numbers of sequences stay where they are.
   */
  to(...targets: Target[]): PackedSequence {
    const data = this.data.to(...targets);
    if (data === this.data) return this;
    const moved = (indices: Tensor | null) => indices?.to(data.device) ?? null;
    return new PackedSequence(
      data,
      this.batchSizes,
      moved(this.sortedIndices),
      moved(this.unsortedIndices),
    );
  }

  /** Returns the sequences on the CPU. */
  cpu(): PackedSequence {
    return this.to("cpu");
  }

  /** Returns the sequences as float64. */
  double(): PackedSequence {
    return this.to("float64");
  }

  /** Returns the sequences as float32. */
  float(): PackedSequence {
    return this.to("float32");
  }

  /** Returns the sequences as float16. */
  half(): PackedSequence {
    return this.to("float16");
  }

  /** Returns the sequences as int64. */
  long(): PackedSequence {
    return this.to("int64");
  }

  /** Returns the sequences as int32. */
  int(): PackedSequence {
    return this.to("int32");
  }

  /** Returns the sequences as int16. */
  short(): PackedSequence {
    return this.to("int16");
  }

  /** Returns the sequences as int8. */
  char(): PackedSequence {
    return this.to("int8");
  }

  /** Returns the sequences as uint8. */
  byte(): PackedSequence {
    return this.to("uint8");
  }
}

/** The input of a recurrent layer. */
export type Sequence = Tensor | PackedSequence;

/** Returns the whole numbers in a vector. */
export function numbersIn(vector: Tensor): number[] {
  return Array.from(vector.dataSync() as ArrayLike<number | bigint>, Number);
}

/** Returns states [layers, batch, features] with the batch in another order, or unchanged for null. */
export function rowsInOrder(states: Tensor, order: Tensor | null): Tensor {
  return order === null ? states : indexSelect(states, 1, order);
}
