// How to think about a composite: it is an op that is written in TypeScript, out of other ops, because it is not
// hot and needs no kernel. It is called, checked and refused like those of the engine: its line says what it takes,
// as the lines of generated/ops.ts do (dispatch/signature.ts), and its body gets one value per parameter. Derivatives of all
// orders and every device come with its parts. What the parts leave behind is freed when it returns, and an error of a
// part is the composite's.
//
// Nothing registers a composite: what a program does not import is not in its bundle. Tests find all of them as the
// functions of the package that are no ops of the table, and loop over their samples (tests/js/support/composite_samples.mjs).

import { arrange } from "../dispatch/call.js";
import { kFactoryOptionNames, makeWithFactoryOptions, named } from "../dispatch/define.js";
import { encode } from "../dispatch/encode.js";
import { interpreter } from "../dispatch/interpreter.js";
import { Kind, type Op, parseSignature } from "../dispatch/signature.js";
import { calledAs } from "../runtime/errors.js";
import { ownResult } from "../tensor/own_result.js";
import type { Tensor } from "../tensor/tensor.js";

/** Any function of a composite; its declaration gives the precise type. */
type AnyFunction = (...args: never[]) => unknown;

// biome-ignore lint/suspicious/noExplicitAny: what a line says, its body may rely on.
type Body<Result> = (...values: any[]) => Result;

// No op of the table: its arguments are checked and go nowhere.
const kNoId = -1;

/**
 * Returns the function of a composite. `line` has its parameters, `body` computes: it is given all of them by position, those
 * left out as the line says. Lists of numbers come as they were given: one number or an array.
 */
export function composite<F extends AnyFunction>(
  name: string,
  line: string,
  body: Body<Tensor | readonly Tensor[]>,
): F {
  return named(name, runner(name, line, [], body)) as unknown as F;
}

/** Like composite(), for one that makes a tensor of none: it takes {device, requiresGrad} too. */
export function compositeFactory<F extends AnyFunction>(
  name: string,
  line: string,
  body: Body<Tensor>,
): F {
  const run = runner(name, line, kFactoryOptionNames, body);
  return named(name, (...given: readonly unknown[]) =>
    makeWithFactoryOptions(name, given, (rest) => run(...rest)),
  ) as unknown as F;
}

function runner<Result>(
  name: string,
  line: string,
  moreOptions: readonly string[],
  body: Body<Result>,
): (...given: readonly unknown[]) => Result {
  let op: Op | undefined;
  return (...given) => {
    op ??= parseSignature(name, kNoId, line, "tensor", moreOptions);
    const values = complete(op, arrange(op, given));
    return calledAs(name, () => ownResult(values, () => body(...values)));
  };
}

// Checked as the engine's are: by writing them down for it. What the engine does not know, inside of eg.func.vmap(), the parts
// check.
function complete(op: Op, values: readonly unknown[]): readonly unknown[] {
  if (interpreter === null) encode(op, values);
  return op.parameters.map(({ kind, defaultValue }, i) => {
    if (i >= values.length) return defaultValue;
    return kCounted.includes(kind) ? withoutBigInts(values[i]) : values[i];
  });
}

// All but scalars, of which 64 bits count.
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

// 2n is the whole number 2, and bodies compute with it.
function withoutBigInts(value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  if (!Array.isArray(value)) return value;
  const isPlain = value.every((one) => typeof one !== "bigint" && !Array.isArray(one));
  return isPlain ? value : value.map(withoutBigInts);
}
