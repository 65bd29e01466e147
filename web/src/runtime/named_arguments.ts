// Constructors with many arguments take them by position, and by name in one trailing object.

/** The first arguments by position, the others in one object after them. */
export type Arguments<Positional extends readonly unknown[], Named> = Positional extends [
  infer First,
  ...infer Rest,
]
  ? [] | [options: Named] | [value: First | undefined, ...rest: Arguments<Rest, Named>]
  : [] | [options: Named];

/**
 * Returns the arguments by name: `names` says what the positions are called, and the properties of a
 * trailing options object take their own names. Those left out are left out here too.
 */
export function namedArguments<Named extends object>(
  names: readonly (keyof Named & string)[],
  given: readonly unknown[],
): Partial<Named> {
  const last = given[given.length - 1];
  const options = isOptions(last) ? last : {};
  const positional = isOptions(last) ? given.slice(0, -1) : given;
  const entries = [
    ...positional.map((value, i): [string, unknown] => [names[i] ?? String(i), value]),
    ...Object.entries(options),
  ];
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as Partial<Named>;
}

// Not tensors, functions or lists, which are arguments themselves.
function isOptions(value: unknown): value is object {
  return (
    typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype
  );
}
