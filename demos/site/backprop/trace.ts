// Evaluates a chapter with the engine, forward and backward, and returns all numbers as plain data.

import * as eg from "edgegrad";
import { Expression, type Value } from "./expression.js";
import { numberText } from "./numbers.js";

/** A box of the graph. */
export interface TracedValue {
  readonly name: string;
  /** The op's symbol, or null for an input. */
  readonly symbol: string | null;
  readonly rule: string;
  /** The computation with the numbers of its operands. */
  readonly formula: string;
  readonly shape: readonly number[];
  readonly numbers: readonly number[];
  /** Whether backward reaches it. */
  readonly hasGradient: boolean;
  /** Its gradient after backward, as the engine keeps it. */
  readonly gradient: readonly number[] | null;
}

/** An operand of an op: what the op's backward sends there. */
export interface TracedEdge {
  readonly from: number;
  readonly to: number;
  /** The derivative of the op along this operand, if both are plain numbers. */
  readonly slope: number | null;
  /** The gradient that goes from the op to the operand; null where none is needed. */
  readonly gradient: readonly number[] | null;
}

export interface Trace {
  readonly values: readonly TracedValue[];
  readonly edges: readonly TracedEdge[];
  /** The results of ops in the order in which the engine ran their nodes backward. */
  readonly backward: readonly number[];
}

/** Builds an expression; the last value is the one from which backward begins. */
export type Build = (expression: Expression) => void;

/** Evaluates an expression. */
export function trace(build: Build): Trace {
  return eg.scope(() => {
    const expression = new Expression();
    build(expression);
    const { values } = expression;
    const backward = runBackward(values);
    const edges = values.flatMap((value, to) => edgesOf(value, to, values));
    return { values: values.map(traced), edges, backward };
  });
}

function runBackward(values: readonly Value[]): number[] {
  const order: number[] = [];
  values.forEach(({ tensor }, id) => {
    tensor.gradFn?.registerPrehook(() => {
      order.push(id);
    });
  });
  values.at(-1)?.tensor.backward();
  return order;
}

function traced({ name, op, operands, tensor }: Value): TracedValue {
  return {
    name,
    symbol: op?.symbol ?? null,
    rule: op?.rule ?? "",
    formula: op?.formula(...operands.map(short)) ?? "",
    shape: tensor.shape,
    numbers: numbersOf(tensor),
    hasGradient: tensor.requiresGrad,
    gradient: tensor.grad === null ? null : numbersOf(tensor.grad),
  };
}

// The op once more, on operands of its own: its gradients are then those of this op alone, whatever else uses its operands.
function edgesOf({ op, operands, tensor }: Value, to: number, values: readonly Value[]) {
  if (op === null) return [];
  const own = operands.map(({ tensor }) => tensor.detach().requiresGrad_(tensor.requiresGrad));
  const needed = own.filter(({ requiresGrad }) => requiresGrad);
  const result = op.run(...own);
  const gradientsFor = (incoming: eg.Tensor | null) =>
    needed.length === 0 || incoming === null
      ? []
      : eg.autograd.grad(result, needed, { gradOutputs: incoming, retainGraph: true });
  const received = gradientsFor(tensor.grad);
  // Only plain numbers have one.
  const slopes = result.ndim === 0 ? gradientsFor(eg.onesLike(result)) : [];
  return operands.map((operand, i): TracedEdge => {
    const at = needed.indexOf(own[i] as eg.Tensor);
    const slope = operand.tensor.ndim === 0 ? slopes[at] : undefined;
    return {
      from: values.indexOf(operand),
      to,
      slope: slope === undefined ? null : (slope.item() as number),
      gradient: received[at] === undefined ? null : numbersOf(received[at]),
    };
  });
}

function numbersOf(tensor: eg.Tensor): number[] {
  return Array.from(tensor.detach().dataSync(), Number);
}

// Plain numbers as they are, values by their names.
function short({ name, tensor }: Value): string {
  return tensor.ndim === 0 ? numberInFormula(tensor.item() as number) : name;
}

function numberInFormula(value: number): string {
  const text = numberText(value);
  return value < 0 ? `(${text})` : text;
}
