// Numbers as text.

/** A number with four digits, as a person writes it. */
export function numberText(value: number): string {
  if (!Number.isFinite(value)) return String(value).replace("Infinity", "∞").replace("-", "−");
  const rounded = Number(value.toPrecision(4));
  const small = rounded !== 0 && Math.abs(rounded) < 1e-4;
  return (small ? rounded.toExponential(1) : String(rounded)).replace("-", "−");
}

const kMostShown = 4;

/** Whether numbersText() has room for the numbers of this shape. */
export function isShort(shape: readonly number[]): boolean {
  return shape.reduce((count, size) => count * size, 1) <= kMostShown;
}

/** A few numbers: themselves; many: their shape. */
export function numbersText(numbers: readonly number[], shape: readonly number[]): string {
  if (shape.length === 0) return numberText(numbers[0] ?? Number.NaN);
  if (!isShort(shape)) return `${shape.join(" × ")} numbers`;
  return `[${numbers.map((number) => numberText(Number(number.toPrecision(2)))).join(", ")}]`;
}
