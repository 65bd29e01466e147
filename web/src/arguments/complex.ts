// Complex numbers as arguments.

/** A complex number. */
export interface Complex {
  /** The real part. */
  readonly re: number;
  /** The imaginary part. */
  readonly im: number;
}

/** Whether a value is a complex number. */
export function isComplexNumber(value: unknown): value is Complex {
  if (typeof value !== "object" || value === null) return false;
  const { re, im } = value as Partial<Complex>;
  return typeof re === "number" && typeof im === "number";
}
