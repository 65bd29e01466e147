// Ends of messages about arguments of ops that are plain numbers or tensors of the wrong kind of numbers.

/** Matches the parameters that hold class numbers or positions in the ops that have such numbers. */
export const kOfNumbers = /^(?:target|index|indices)$/;

/** Says how to make a tensor of class numbers or positions. */
export function adviceOnInt64(name: string): string {
  const numbers = name === "target" ? "labels" : name;
  return ` Write eg.tensor(${numbers}, { dtype: 'int64' }), or x.to('int64') for a tensor x.`;
}

/** Says how to make a tensor of an array; an empty string for other values. */
export function adviceForArray(name: string, value: unknown): string {
  if (!Array.isArray(value) && !ArrayBuffer.isView(value)) return "";
  const more = kOfNumbers.test(name)
    ? `, for class numbers or positions with { dtype: 'int64' }`
    : "";
  return ` Write eg.tensor(${name})${more}.`;
}
