// Tables of vectors, which are looked up by position.

import { empty } from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { normal_, zeros_ } from "../init.js";
import { type LayerKind, parameterOf } from "../layer_options.js";
import { Module } from "../module.js";
import { Parameter } from "../parameter.js";
import type { Lookup } from "./lookup_options.js";

/** The values of the arguments of a table; those that only some have become fields, too. */
interface TableValues extends Lookup, LayerKind {
  readonly numEmbeddings: number;
  readonly embeddingDim: number;
  readonly paddingIdx: number | null;
}

/** The base of layers that look up vectors in a table. */
export abstract class LookupTable extends Module implements Lookup {
  declare readonly numEmbeddings: number;
  declare readonly embeddingDim: number;
  declare readonly paddingIdx: number | null;
  declare readonly maxNorm: number | null;
  declare readonly normType: number;
  declare readonly scaleGradByFreq: boolean;
  declare readonly sparse: boolean;
  declare weight: Parameter;

  constructor({ device, dtype, paddingIdx, ...own }: TableValues) {
    super();
    const name = new.target.name;
    const sizes = [own.numEmbeddings, own.embeddingDim];
    Object.assign(this, own, {
      paddingIdx: paddingIdx === null ? null : rowOf(name, paddingIdx, own.numEmbeddings),
      weight: parameterOf(name, empty, sizes, { device, dtype }),
    });
    this.resetParameters();
  }

  /** Draws new vectors. */
  resetParameters(): void {
    normal_(this.weight);
    if (this.paddingIdx !== null) clearRow(this.weight, this.paddingIdx);
  }
}

/** Returns a table of a class without calling its constructor, which draws numbers. */
export function tableOf<Table extends Module>(
  where: string,
  table: { readonly prototype: Table },
  call: { readonly embeddings: Tensor; readonly paddingIdx: number | null },
  freeze: boolean,
): Table {
  const { embeddings, paddingIdx, ...own } = call;
  const [rows = 0, features = 0] = embeddings.shape;
  if (embeddings.ndim !== 2) {
    const message = `embeddings: expected a matrix, got the shape [${embeddings.shape.join(", ")}].`;
    fail("ShapeMismatch", where, message);
  }
  return Object.assign(Reflect.construct(Module, [], table as new () => Table) as Table, {
    ...own,
    numEmbeddings: rows,
    embeddingDim: features,
    paddingIdx: paddingIdx === null ? null : rowOf(where, paddingIdx, rows),
    weight: new Parameter(embeddings, !freeze),
  });
}

// Sets a row of a table to zeros.
function clearRow(weight: Parameter, position: number): void {
  const alias = weight.detach();
  const row = alias.at(position);
  zeros_(row);
  row.dispose();
  alias.dispose();
}

// Returns the position of a row that may count from the end.
function rowOf(where: string, paddingIdx: number, rows: number): number {
  if (Number.isInteger(paddingIdx) && paddingIdx >= -rows && paddingIdx < rows) {
    return paddingIdx < 0 ? paddingIdx + rows : paddingIdx;
  }
  fail("IndexOutOfRange", where, `paddingIdx ${paddingIdx} is not one of ${rows} rows.`);
}
