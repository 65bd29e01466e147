// Stack traces without the package's own frames. Users need to see the line of their code that failed; the package's frames are
// minified and do not help.
//
// A program may be bundled with the package into one file, where file names do not distinguish them. But bundlers emit modules in
// the order in which they run, so the package is one contiguous range: from this file, the first that index.ts loads, to
// start.ts, the last. This does not hold for webpack and for bundles that wrap modules in functions: there the stack starts at
// the caller of the public function, and package frames further down remain visible.

// Replaced by webpack at build time.
declare const __webpack_require__: unknown;

interface SourceLocation {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

type AnyFunction = (...args: never[]) => unknown;

/** A frame of a stack. */
export interface Frame {
  /** What the runtime shows, where source maps may have been applied. */
  readonly line: string;
  /** The function and position of the code that ran, in the same format. */
  readonly ran: string;
}

/** How the package finds its own frames in a stack where it is bundled into one file (runtime/errors/one_file_frames.ts). */
export interface OneFile {
  /** Runs a function that reads a stack for the first time, and returns the frames of the code that ran; null if that is unknown. */
  framesIn(read: () => unknown): string[] | null;
  /** Returns whether a file contains the package, and nothing else. */
  hasNothingElse(file: string): boolean;
}

/** V8's stack trace API, which other engines lack. */
interface StackApi {
  stackTraceLimit?: number;
  captureStackTrace?(target: object, below: unknown): void;
}

/** Matches a frame inside a function, as opposed to the top level of a module. */
const kInFunction = /^ *at (?!<anonymous> )[^(]+ \(/;

/** The most package frames expected above the user's. */
const kMaxOwnFrames = 20;

const api = Error as StackApi;
const isInOrder = typeof __webpack_require__ === "undefined";

// The stacks of these errors are only read when the first error needs them, so they add nothing to the start-up time.
const atStart = new Error();
let atEnd: Error | null = null;
let oneFile: OneFile | null = null;
const functions: AnyFunction[] = [];
const classes: object[] = [];

/** Marks the calling position as the end of the package's code. */
export function markPackageEnd(inOneFile: OneFile | null = null): void {
  atEnd = new Error();
  oneFile = inOneFile;
}

/** Registers a function that users call; it is found in stacks by its name. */
export function registerPublicFunction(fn: AnyFunction): void {
  functions.push(fn);
}

/** Registers the methods of a class as functions that users call. */
export function registerPublicMethods(...prototypes: readonly object[]): void {
  classes.push(...prototypes);
}

interface PackageBounds {
  readonly isV8: boolean;
  readonly start: SourceLocation | null;
  readonly end: SourceLocation | null;
}

let bounds: PackageBounds | null = null;

function packageBounds(): PackageBounds {
  if (bounds !== null) return bounds;
  const isV8 = api.captureStackTrace !== undefined && String(new Error().stack).startsWith("Error");
  const end = atEnd === null ? null : moduleLocation(atEnd, 1, isV8);
  bounds = { isV8, start: moduleLocation(atStart, 0, isV8), end };
  return bounds;
}

/** Returns the file that contains the package's script, as stacks name it; undefined if they do not tell. */
export function fileOfPackage(): string | undefined {
  const frames = String(atStart.stack ?? "").split("\n");
  return frames.map(locationOf).find((location) => location !== null)?.file;
}

// The public functions with a name that a stack shows. Methods come first because they call the functions.
function publicFunctionsNamed(name: string): AnyFunction[] {
  const methods = classes.map((prototype) => {
    const method: unknown = Object.getOwnPropertyDescriptor(prototype, name)?.value;
    return name !== "constructor" && typeof method === "function" ? [method as AnyFunction] : [];
  });
  return [...methods.flat(), ...functions.filter((fn) => fn.name === name)];
}

/** Returns a stack without the frames of the package's script and WebAssembly. */
export function withoutOwnFrames(frames: readonly Frame[]): Frame[] {
  const kept: Frame[] = [];
  let isBelowOurs = false;
  for (const frame of [...frames].reverse()) {
    // Built-in functions such as Array.map() belong to their caller.
    if (!kOfTheLanguage.test(frame.ran)) isBelowOurs = isOwn(frame.ran);
    if (!isBelowOurs) kept.push(frame);
  }
  return kept.reverse();
}

/** Returns the frames above the innermost call of a function; null in engines other than V8. */
export function framesAbove(below: unknown, limit: number): Frame[] | null {
  if (!packageBounds().isV8) return null;
  const stackAbove = () => {
    const { stackTraceLimit } = api;
    const target: { stack?: unknown } = {};
    // Unlike an assignment, this does not throw if the built-in objects are frozen.
    Reflect.set(api, "stackTraceLimit", limit);
    api.captureStackTrace?.(target, below);
    Reflect.set(api, "stackTraceLimit", stackTraceLimit);
    return target.stack;
  };
  const stack = stackAbove();
  if (typeof stack !== "string") return null;
  const lines = stack.split("\n").slice(1);
  const ran = oneFile?.framesIn(stackAbove) ?? lines;
  return ran.map((frame, i) => ({
    line: lines[lines.length - ran.length + i] ?? frame,
    ran: frame,
  }));
}

/** Removes the package's frames from an error's stack; `below` is the function that made the error. */
export function hideOwnFrames(error: Error, below: unknown, title: string): void {
  const { stackTraceLimit } = api;
  if (!stackTraceLimit) return;
  const frames = framesAbove(below, stackTraceLimit + kMaxOwnFrames);
  if (frames === null) return;
  const shown = hasBounds() ? withoutOwnFrames(frames) : fromPublicFunction(frames);
  startAtUser(error, frames, shown[0]);
  // Deleted without reading or assigning it first: Node then still finds the line to show.
  delete error.stack;
  Object.defineProperty(error, "stack", {
    value: [title, ...linesOf(shown.slice(0, stackTraceLimit))].join("\n"),
    writable: true,
    configurable: true,
  });
}

/** Returns what the runtime shows of frames. */
export function linesOf(frames: readonly Frame[]): string[] {
  return frames.map(({ line }) => line);
}

// Node shows the source line at the top of the captured stack, which can only be set to the caller of a known function.
function startAtUser(error: Error, frames: readonly Frame[], first: Frame | undefined): void {
  const fn = first === undefined ? undefined : publicFunctionAbove(frames, frames.indexOf(first));
  if (fn !== undefined) api.captureStackTrace?.(error, fn);
}

// Returns the public function whose frame is directly above this one, if there is one.
function publicFunctionAbove(frames: readonly Frame[], i: number): AnyFunction | undefined {
  const [, name = ""] = /([\w$]+)\]? \(/.exec(frames[i - 1]?.ran ?? "") ?? [];
  return publicFunctionsNamed(name).find((each) => {
    return framesAbove(each, 1)?.[0]?.ran === frames[i]?.ran;
  });
}

function fromPublicFunction(frames: readonly Frame[]): Frame[] {
  const isBelow = frames.map((_, i) => publicFunctionAbove(frames, i) !== undefined);
  let first = Math.max(isBelow.indexOf(true), 0);
  // A method calls the function of its op.
  while (isBelow[first + 1]) first++;
  return frames.slice(first);
}

const kOfTheLanguage = /<anonymous>\)?$|\(native\)$|[( ](?:node|ext):/;
const kEngineFile = /wasm:\/\/|edgegrad-(?:relaxed|simd|single)/;

function isOwn(frame: string): boolean {
  if (kEngineFile.test(frame)) return true;
  const location = locationOf(frame);
  const { start, end } = packageBounds();
  if (location === null || start === null || end === null || !isInOrder) return false;
  if (location.file !== start.file || location.file !== end.file) return false;
  if (oneFile?.hasNothingElse(location.file)) return true;
  return !isBefore(location, start) && !isBefore(end, location);
}

// False where the package is split into several files or wrapped in functions: then the bounds do not tell the frames apart.
function hasBounds(): boolean {
  const { start, end } = packageBounds();
  return isInOrder && start !== null && end !== null;
}

function isBefore(a: SourceLocation, b: SourceLocation): boolean {
  return a.line < b.line || (a.line === b.line && a.column < b.column);
}

// Returns the location of the module that created an error, or of a caller at `depth`; null for a module that a bundler has
// wrapped in a function.
function moduleLocation(error: Error, depth: number, isV8: boolean): SourceLocation | null {
  const ran = isV8 ? oneFile?.framesIn(() => error.stack) : null;
  const lines = ran ?? String(error.stack ?? "").split("\n");
  const frames = lines.filter((frame) => locationOf(frame) !== null);
  const frame = frames[depth] ?? "";
  return isV8 && kInFunction.test(frame) ? null : locationOf(frame);
}

// "at f (file:///a.js:1:2)" in V8, "f@file:///a.js:1:2" elsewhere.
function locationOf(frame: string): SourceLocation | null {
  const [, file, line, column] = /([^\s(@]+):(\d+):(\d+)\)?$/.exec(frame) ?? [];
  return file === undefined ? null : { file, line: Number(line), column: Number(column) };
}
