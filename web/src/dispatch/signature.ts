// The parameters of an op, parsed from its line in generated/op_lines.ts:
//
//   "input:tensor dim:ints?=null keepdim:bool=false reduction:choice(none|mean|sum)=mean"
//
// There is one parameter per word, name:kind, with =default where it may be left out. A line is parsed when its
// op is first called, so that start-up does not parse hundreds of them.

/** The kinds of parameters; numbers, because the encoder switches on them. */
export enum Kind {
  Tensor,
  OptionalTensor,
  Operand,
  OptionalOperand,
  Tensors,
  Int,
  OptionalInt,
  Number,
  OptionalNumber,
  Scalar,
  OptionalScalar,
  Bool,
  OptionalBool,
  Ints,
  OptionalInts,
  OptionalNumbers,
  Sizes,
  Padding,
  DType,
  OptionalDType,
  Choice,
  /** Any value: the body of a composite checks it, where no other kind fits. */
  Any,
}

const kKinds: Readonly<Record<string, Kind>> = {
  tensor: Kind.Tensor,
  "tensor?": Kind.OptionalTensor,
  operand: Kind.Operand,
  "operand?": Kind.OptionalOperand,
  tensors: Kind.Tensors,
  int: Kind.Int,
  "int?": Kind.OptionalInt,
  number: Kind.Number,
  "number?": Kind.OptionalNumber,
  scalar: Kind.Scalar,
  "scalar?": Kind.OptionalScalar,
  bool: Kind.Bool,
  "bool?": Kind.OptionalBool,
  ints: Kind.Ints,
  "ints?": Kind.OptionalInts,
  "numbers?": Kind.OptionalNumbers,
  sizes: Kind.Sizes,
  padding: Kind.Padding,
  dtype: Kind.DType,
  "dtype?": Kind.OptionalDType,
  choice: Kind.Choice,
  any: Kind.Any,
};

/** One parameter of an op. */
export interface Parameter {
  readonly name: string;
  readonly kind: Kind;
  readonly choices: readonly string[];
  readonly isRequired: boolean;
  /** True when null is a valid value. */
  readonly isNullable: boolean;
  readonly defaultValue: unknown;
}

/** The result of an op: one tensor, an array, or one tensor unless there are several. */
export type Returns = "tensor" | "tensors" | "tensor_or_tensors";

/** An op, as the encoder needs it. */
export interface Op {
  readonly name: string;
  readonly id: number;
  readonly parameters: readonly Parameter[];
  readonly kinds: readonly Kind[];
  readonly returns: Returns;
  /** The names of options that are not passed to the engine: those that a factory applies to the tensor it has made. */
  readonly moreOptions: readonly string[];
  /** True when the last parameter, apart from a dtype, is a list of sizes that may also be passed as separate arguments. */
  readonly isVariadic: boolean;
  /** The encoded defaults of the parameters from each index on; cached by the encoder. */
  readonly tails: (readonly number[] | undefined)[];
}

/** Parses the line of an op. */
export function parseSignature(
  name: string,
  id: number,
  line: string,
  returns: Returns,
  moreOptions: readonly string[] = [],
): Op {
  const parameters = line.split(" ").filter(Boolean).map(parseParameter);
  return {
    name,
    id,
    parameters,
    kinds: parameters.map((parameter) => parameter.kind),
    returns,
    moreOptions,
    isVariadic: endsInSizes(parameters),
    tails: new Array(parameters.length + 1).fill(undefined),
  };
}

function endsInSizes(parameters: readonly Parameter[]): boolean {
  const lists = parameters.filter(({ kind }) => kind === Kind.Ints);
  const last = parameters.filter(({ kind }) => kind !== Kind.OptionalDType).pop();
  return lists.length === 1 && last === lists[0] && last?.isRequired === true;
}

function parseParameter(text: string): Parameter {
  const [, name = "", kind = "", choices = "", value] =
    /^(\w+):(\w+\??)(?:\(([^)]*)\))?(?:=(.*))?$/.exec(text) ?? [];
  return {
    name,
    kind: kKinds[kind] ?? Kind.Tensor,
    choices: choices.split("|"),
    isRequired: value === undefined,
    isNullable: kind.endsWith("?"),
    defaultValue: value === undefined ? undefined : parseDefault(value, kind),
  };
}

function parseDefault(text: string, kind: string): unknown {
  if (kind === "choice") return text;
  return text.endsWith("Infinity") ? Number(text) : JSON.parse(text);
}

/** Returns the names of all parameters and options of an op. */
export function namesOf(op: Op): string[] {
  return [...op.parameters.map(({ name }) => name), ...op.moreOptions];
}

/** Returns the signature of an op, for error messages. */
export function usageOf(op: Op): string {
  const names = op.parameters.map(({ name, isRequired }) => (isRequired ? name : `${name}?`));
  const options = op.moreOptions.length === 0 ? [] : [`{ ${op.moreOptions.join("?, ")}? }`];
  return `${op.name}(${[...names, ...options].join(", ")})`;
}
