// What C++ asks of the console: warnings, and where the program is.

/** Deep enough for a program's own frames below those of the engine. */
const kStackFrames = 50;

/** Shows a warning of C++'s. */
export function showWarning(message: string): void {
  console.warn(message);
}

/** Returns the calling program's stack, innermost call first, without the engine's own frames. */
export function captureStack(): string {
  // Where there is no such limit, writing it changes nothing.
  const errors = Error as { stackTraceLimit?: number };
  const { stackTraceLimit } = errors;
  errors.stackTraceLimit = kStackFrames;
  const stack = new Error().stack ?? "";
  if (stackTraceLimit !== undefined) errors.stackTraceLimit = stackTraceLimit;
  const frames = stack.split("\n").filter((line) => line !== "" && line !== "Error");
  const own = frames.filter((line) => !isEngineFrame(line));
  // In a program bundled into one file nothing tells the engine's frames from others.
  return (own.length > 0 ? own : frames).join("\n");
}

const kEngineFile = /wasm:\/\/|edgegrad-(?:relaxed|simd|single)/;

function isEngineFrame(line: string): boolean {
  return line.includes(import.meta.url) || kEngineFile.test(line);
}
