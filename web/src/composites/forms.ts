// The type of a composite's function, from its line and its body: the line has the kinds and which parameters may be left out, the
// body's parameters have the names that editors show. Everything here is a type, and TypeScript writes what it comes to into
// the declaration files.
//
// A call has its arguments by position, or some of them and then an object with the others by name. Tensors at the
// beginning are always given by position.

import type { Ints, Operand, OutputSize, Scalar } from "../dispatch/types.js";
import type { DType } from "../tensor/dtype.js";
import type { TensorOptions } from "../tensor/factory_options.js";
import type { Tensor } from "../tensor/tensor.js";

/** The type of each kind of dispatch/signature.ts. */
interface Kinds {
  tensor: Tensor;
  "tensor?": Tensor | null;
  operand: Operand;
  tensors: readonly Tensor[];
  int: number;
  "int?": number | null;
  number: number;
  "number?": number | null;
  scalar: Scalar;
  "scalar?": Scalar | null;
  bool: boolean;
  "bool?": boolean | null;
  ints: Ints;
  "ints?": Ints | null;
  "numbers?": readonly number[] | null;
  sizes: OutputSize;
  padding: Ints | "valid" | "same";
  "dtype?": DType | null;
  // biome-ignore lint/suspicious/noExplicitAny: the parameter of the body says what it is.
  any: any;
}

/** The words of a line, one for each parameter. */
type Words<Line extends string> = string extends Line
  ? string[]
  : Line extends `${infer First} ${infer Others}`
    ? [First, ...Words<Others>]
    : [Line];

type ValueOf<Word> = Word extends `${string}:choice(${infer Choices})${string}`
  ? OneOf<Choices>
  : Word extends `${string}:${infer Kind}=${string}`
    ? Kinds[Kind & keyof Kinds]
    : Word extends `${string}:${infer Kind}`
      ? Kinds[Kind & keyof Kinds]
      : never;

type OneOf<Choices> = Choices extends `${infer First}|${infer Others}`
  ? First | OneOf<Others>
  : Choices;

type Values<List extends readonly string[]> = { [I in keyof List]: ValueOf<List[I]> };

/** The body for a line. The line gives its parameters their types; the body may narrow them. */
export type BodyOf<Line extends string, Result> = {
  // Of a method, TypeScript accepts parameters that are narrower.
  body(...values: Values<Words<Line>>): Result;
}["body"];

/** Like BodyOf, for a factory. */
export type FactoryBodyOf<Line extends string> = {
  body(...values: [...Values<Words<Line>>, device?: Device]): Tensor;
}["body"];

type Device = Exclude<TensorOptions["device"], undefined>;

/** The function of a composite. */
export type FunctionOf<Line extends string, Body> = Body extends (...given: infer Given) => infer R
  ? Forms<Words<Line>, Given, R>
  : never;

/** The function of a composite that makes a tensor: its line ends with the dtype, which is an option like the device. */
export type FactoryOf<Line extends string, Body> =
  Words<Line> extends [...infer List, unknown]
    ? Body extends (...given: infer Given) => Tensor
      ? FactoryForms<List, FirstOf<Given, List>>
      : never
    : never;

type Forms<List, Given, R> = ((...given: Positions<List, Given>) => R) & NamedForms<List, Given, R>;

type FactoryForms<List, Given> = ((
  ...given: [...Positions<List, Given>, options?: TensorOptions]
) => Tensor) &
  NamedForms<List, Given, Tensor, TensorOptions>;

// From the last parameter to those before it: `Named` has the parameters that are given by name.
type NamedForms<List, Given, R, More = unknown, Named = unknown> = [List, Given] extends [
  [...infer Before, infer Word],
  [...infer Others, infer T],
]
  ? IsOperand<Word> extends true
    ? unknown
    : NamedForms<Before, Others, R, More, Flat<Option<Word, T> & Named>> &
        (Spare<Before, Others>["length"] extends Few
          ? (...given: WithOptions<Before, Others, More & Flat<Option<Word, T> & Named>>) => R
          : unknown)
  : unknown;

/** How many that may be left out can come before an object: more are not readable, and make the declaration files long. */
type Few = 0 | 1 | 2 | 3;

type IsOperand<Word> = Word extends `${string}:${"tensor" | "operand" | "tensors"}` ? true : false;

type IsOptional<Word> = Word extends `${string}=${string}` ? true : false;

type Option<Word, T> = Word extends `${infer Name}:${string}`
  ? IsOptional<Word> extends true
    ? { [K in Name]?: T }
    : { [K in Name]: T }
  : never;

type Flat<T> = { [Name in keyof T]: T[Name] };

/** All by position. */
type Positions<List, Given> = [...Needed<List, Given>, ...Partial<OrUndefined<Spare<List, Given>>>];

/**
 * Some by position, where undefined takes the place of one that is left out, and an object with the others. It may be left out as well where
 * nothing else is: else TypeScript would compare a wrong call with forms that have more.
 */
type WithOptions<List, Given, Named> =
  Spare<List, Given> extends []
    ? Record<never, never> extends Named
      ? [...Needed<List, Given>, options?: Named]
      : [...Needed<List, Given>, options: Named]
    : [...Needed<List, Given>, ...OrUndefined<Spare<List, Given>>, options: Named];

type OrUndefined<Given extends readonly unknown[]> = { [I in keyof Given]: Given[I] | undefined };

// A type that is taken off the front or the end of a tuple loses its name; those that are left keep theirs.

/** The parameters that must be given. */
type Needed<List, Given> = [List, Given] extends [
  [...infer Before, infer Word],
  [...infer Others, unknown],
]
  ? IsOptional<Word> extends true
    ? Needed<Before, Others>
    : Extract<Given, unknown[]>
  : [];

/** The parameters that may be left out. */
type Spare<List, Given> = [List, Given] extends [
  [infer Word, ...infer After],
  [unknown, ...infer Others],
]
  ? IsOptional<Word> extends true
    ? Extract<Given, unknown[]>
    : Spare<After, Others>
  : [];

/** As many of the parameters as there are words. */
type FirstOf<Given, List extends unknown[]> = Given extends readonly [
  ...{ [I in keyof List]: unknown },
]
  ? Given
  : Given extends [...infer Others, unknown?]
    ? FirstOf<Others, List>
    : never;
