// How to think about a composite: it is an op written in TypeScript in terms of other ops, because it is not performance
// critical and needs no kernel. It is called and checked like the engine's ops: its signature declares its parameters in the
// format of generated/ops.ts (dispatch/signature.ts), and its body receives one value per parameter. Derivatives of all
// orders and support for all devices follow from the ops it calls. Their intermediate tensors are freed when it returns, and
// their errors are reported under the composite's name.
//
// Composites are not registered, so a bundle only contains those that its program imports. Tests find all of them as the
// functions of the package that are not in the op table, and loop over their samples (tests/js/support/composite_samples.mjs).

import { arrange } from "../dispatch/call.js";
import {
  type AnyFunction,
  kFactoryOptionNames,
  makeWithFactoryOptions,
  named,
} from "../dispatch/define.js";
import { encode } from "../dispatch/encode.js";
import { interpreter } from "../dispatch/interpreter.js";
import { Kind, type Op, parseSignature } from "../dispatch/signature.js";
import { calledAs } from "../runtime/errors/errors.js";
import type { Device } from "../tensor/dtype.js";
import { ownResult } from "../tensor/own_result.js";
import type { Tensor } from "../tensor/tensor.js";
import type { BodyOf, FactoryBodyOf, FactoryOf, FunctionOf } from "./forms.js";

// biome-ignore lint/suspicious/noExplicitAny: the signature guarantees the types of the values.
type Body<Result> = (...values: any[]) => Result;

// Marks an op that is not in the op table: its arguments are encoded only to be checked.
const kNoId = -1;

/**
 * Returns the function of a composite. `line` declares its parameters. `body` computes the result from all of them by
 * position, with the defaults of the declaration; the names of its parameters are those of the line. A list of numbers is passed
 * as it was given: one number or an array. The type of the function follows from both (forms.ts), or is given as `F`
 * where the type of the result depends on the arguments.
 */
export function composite<
  const Line extends string,
  B extends BodyOf<Line, Tensor | readonly Tensor[]>,
>(name: string, line: Line, body: B): FunctionOf<Line, B>;
export function composite<F extends AnyFunction>(
  name: string,
  line: string,
  body: Body<Tensor | readonly Tensor[]>,
): F;
export function composite(
  name: string,
  line: string,
  body: Body<Tensor | readonly Tensor[]>,
): unknown {
  const run = runner(name, line, [], body);
  return named(name, (...given: readonly unknown[]) => run(given));
}

/**
 * Like composite(), for a composite that takes no tensors and creates one: it also accepts {device, requiresGrad}. `body` receives
 * the device after the values, and may make the tensor there at once.
 */
export function compositeFactory<const Line extends string, B extends FactoryBodyOf<Line>>(
  name: string,
  line: Line,
  body: B,
): FactoryOf<Line, B>;
export function compositeFactory<F extends AnyFunction>(
  name: string,
  line: string,
  body: Body<Tensor>,
): F;
export function compositeFactory(name: string, line: string, body: Body<Tensor>): unknown {
  const run = runner(name, line, kFactoryOptionNames, body);
  return named(name, (...given: readonly unknown[]) => makeWithFactoryOptions(name, given, run));
}

function runner<Result>(
  name: string,
  line: string,
  moreOptions: readonly string[],
  body: Body<Result>,
): (given: readonly unknown[], device?: Device) => Result {
  let op: Op | undefined;
  return (given, device) => {
    op ??= parseSignature(name, kNoId, line, "tensor", moreOptions);
    const values = complete(op, arrange(op, given));
    const all = device === undefined ? values : [...values, device];
    const compute = () => calledAs(name, () => ownResult(values, () => body(...all)));
    return interpreter?.composite === undefined
      ? compute()
      : (interpreter.composite(op, values, compute) as Result);
  };
}

// Arguments are checked by encoding them as for the engine. Inside eg.func.vmap() the engine does not know the tensors, and the
// ops that the body calls check them.
function complete(op: Op, values: readonly unknown[]): readonly unknown[] {
  if (interpreter === null) encode(op, values);
  return op.parameters.map(({ kind, defaultValue }, i) => {
    if (i >= values.length) return defaultValue;
    return kCounted.includes(kind) ? withoutBigInts(values[i]) : values[i];
  });
}

// All kinds of numbers except scalars, which keep their 64 bits.
const kCounted: readonly Kind[] = [
  Kind.Int,
  Kind.OptionalInt,
  Kind.Number,
  Kind.OptionalNumber,
  Kind.Ints,
  Kind.OptionalInts,
  Kind.OptionalNumbers,
  Kind.Sizes,
  Kind.Padding,
  Kind.Any,
];

// Bodies compute with numbers, so a bigint such as 2n becomes 2.
function withoutBigInts(value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  if (!Array.isArray(value)) return value;
  const isPlain = value.every((item) => typeof item !== "bigint" && !Array.isArray(item));
  return isPlain ? value : value.map(withoutBigInts);
}
