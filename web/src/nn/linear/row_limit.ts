// The largest norm that rows of a table may have when they are looked up.

import { noGrad } from "../../autograd/grad_mode.js";
import { embedding, flatten, indexCopy_, renorm } from "../../generated/ops.js";
import { scope } from "../../tensor/scope.js";
import type { Tensor } from "../../tensor/tensor.js";
import { formatFloat, type Printable } from "../module_text.js";
import type { Parameter } from "../parameter.js";

/** What limits rows: null is no limit. */
export interface RowLimit {
  readonly maxNorm: number | null;
  readonly normType: number;
}

/** Scales the rows at `positions` that are longer than the limit down to it, in place. */
export function limitRows(weight: Parameter, positions: Tensor, limit: RowLimit): void {
  const { maxNorm, normType } = limit;
  if (maxNorm === null || positions.numel === 0) return;
  scope(() => {
    noGrad(() => {
      const table = weight.detach();
      const places = flatten(positions);
      indexCopy_(table, 0, places, renorm(embedding(places, table), normType, 0, maxNorm));
    });
  });
}

/** The limit in the text of a layer. */
export function limitText({ maxNorm, normType }: RowLimit): Record<string, Printable | undefined> {
  return {
    maxNorm: maxNorm === null ? undefined : formatFloat(maxNorm),
    normType: normType === 2 ? undefined : formatFloat(normType),
  };
}
