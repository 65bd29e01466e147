// Expressions that remember how they were computed: a value knows its op and its operands, besides the tensor that the engine made.

import * as eg from "edgegrad";

/** An op of a chapter, with the words that explain it. */
export interface Op {
  /** What its box shows. */
  readonly symbol: string;
  /** Computes the result with the engine. */
  readonly run: (...operands: readonly eg.Tensor[]) => eg.Tensor;
  /** Writes the computation down, given its operands as text. */
  readonly formula: (...operands: readonly string[]) => string;
  /** One sentence: how the gradient that arrives becomes those of the operands. */
  readonly rule: string;
}

/** An input, or the result of an op. */
export interface Value {
  readonly name: string;
  readonly op: Op | null;
  readonly operands: readonly Value[];
  readonly tensor: eg.Tensor;
}

/** The values of one evaluation of a chapter, in the order in which they were made. */
export class Expression {
  readonly values: Value[] = [];

  /** Adds an input, which gets a gradient unless it is given data. */
  input(name: string, data: number | eg.NestedArray, { isData = false } = {}): Value {
    return this.#add({
      name,
      op: null,
      operands: [],
      tensor: eg.tensor(data, { requiresGrad: !isData }),
    });
  }

  /** Adds the result of an op. */
  apply(name: string, op: Op, ...operands: readonly Value[]): Value {
    const tensor = op.run(...operands.map((operand) => operand.tensor));
    if (tensor.requiresGrad) tensor.retainGrad();
    return this.#add({ name, op, operands, tensor });
  }

  #add(value: Value): Value {
    this.values.push(value);
    return value;
  }
}
