// The one kind of error this package throws.

/** The codes of `EdgeGradError`. */
export type ErrorCode =
  | "NotInitialized"
  | "InvalidArgument"
  | "ShapeMismatch"
  | "DtypeMismatch"
  | "DeviceMismatch"
  | "IndexOutOfRange"
  | "NonScalarBackward"
  | "NoGradPath"
  | "GraphFreed"
  | "ModifiedInPlace"
  | "LeafInPlace"
  | "ViewInPlace"
  | "UnusedInput"
  | "InvalidGradient"
  | "InferenceTensor"
  | "NotDifferentiable"
  | "AnomalyNan"
  | "OutOfMemory"
  | "DeviceUnavailable"
  | "DeviceLost"
  | "WouldBlock"
  | "Disposed"
  | "Internal";

/** A failure of edgegrad: `code` is for programs, `message` for people. */
export class EdgeGradError extends Error {
  override readonly name = "EdgeGradError";

  constructor(
    readonly code: ErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Throws `[where] message`. */
export function fail(code: ErrorCode, where: string, message: string): never {
  throw new EdgeGradError(code, `[${where}] ${message}`);
}

/** Returns a short description of a value for an error message. */
export function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "object") return `an object of class ${value.constructor?.name ?? "Object"}`;
  if (typeof value === "function") return "a function";
  return `${typeof value} ${String(value)}`;
}
