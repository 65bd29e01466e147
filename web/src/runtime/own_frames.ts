// Stacks without the package's own frames. A user is helped by the line of theirs that failed, and not by
// ours, which are minified.
//
// A program may be bundled with the package into one file, where names tell nothing. But bundlers keep modules in the order
// in which they run, so that the package stays in one piece there: it reaches from this file, the first of all that
// index.ts exports from, to start.ts, the last. Not so in webpack's bundles and those that wrap modules in functions: there
// the stack begins below the function that the user called, and frames of ours below that are shown.

// Known to webpack, which puts the answer in its place.
declare const __webpack_require__: unknown;

interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

type AnyFunction = (...args: never[]) => unknown;

/** V8's own, which other engines lack. */
interface StackApi {
  stackTraceLimit?: number;
  captureStackTrace?(target: object, below: unknown): void;
}

/** A frame that is not that of a module itself. */
const kInFunction = /^ *at (?!<anonymous> )[^(]+ \(/;

/** The frames of ours that may lie above those of the user. */
const kMaxOwnFrames = 20;

const api = Error as StackApi;
const isInOrder = typeof __webpack_require__ === "undefined";

// What stands here is read when the first error needs it: starting does not pay for it.
const atStart = new Error();
let atEnd: Error | null = null;
const functions: AnyFunction[] = [];
const classes: object[] = [];

/** Says that the package's code ends where this is called. */
export function endOwnCode(): void {
  atEnd = new Error();
}

/** Says that users call a function, by the name that stacks have for it. */
export function addDoor(door: AnyFunction): void {
  functions.push(door);
}

/** Says that users call the methods of a class. */
export function addDoors(prototype: object): void {
  classes.push(prototype);
}

interface Known {
  readonly isV8: boolean;
  readonly start: Place | null;
  readonly end: Place | null;
}

let known: Known | null = null;

function knownPlaces(): Known {
  if (known !== null) return known;
  const isV8 = api.captureStackTrace !== undefined && String(new Error().stack).startsWith("Error");
  const end = atEnd === null ? null : placeOfModule(atEnd, 1, isV8);
  known = { isV8, start: placeOfModule(atStart, 0, isV8), end };
  return known;
}

// The functions that a name in a stack may stand for. Methods come first: they call the others.
function doorsOf(name: string): AnyFunction[] {
  const methods = classes.map((prototype) => {
    const method: unknown = Object.getOwnPropertyDescriptor(prototype, name)?.value;
    return name !== "constructor" && typeof method === "function" ? [method as AnyFunction] : [];
  });
  return [...methods.flat(), ...functions.filter((door) => door.name === name)];
}

/** Returns the lines of a stack that are not the package's, of its script or of its WebAssembly. */
export function withoutOwnFrames(frames: readonly string[]): string[] {
  const kept: string[] = [];
  let isBelowOurs = false;
  for (const frame of [...frames].reverse()) {
    // What the language runs for us is ours: Array.map().
    if (!kOfTheLanguage.test(frame)) isBelowOurs = isOwn(frame);
    if (!isBelowOurs) kept.push(frame);
  }
  return kept.reverse();
}

/** Returns the frames above the innermost call of a function; null in engines other than V8. */
export function framesAbove(below: unknown, limit: number): string[] | null {
  if (!knownPlaces().isV8) return null;
  const { stackTraceLimit } = api;
  const target: { stack?: unknown } = {};
  // An assignment would throw where the language's own objects are frozen.
  Reflect.set(api, "stackTraceLimit", limit);
  api.captureStackTrace?.(target, below);
  Reflect.set(api, "stackTraceLimit", stackTraceLimit);
  return typeof target.stack === "string" ? target.stack.split("\n").slice(1) : null;
}

/** Leaves the user's part of an error's stack; `below` is the function that made it. */
export function hideOwnFrames(error: Error, below: unknown): void {
  const { stackTraceLimit } = api;
  if (!stackTraceLimit) return;
  const frames = framesAbove(below, stackTraceLimit + kMaxOwnFrames);
  if (frames === null) return;
  const shown = isKnown() ? withoutOwnFrames(frames) : belowDoor(frames);
  startAtUser(error, frames, shown[0]);
  // What is neither read nor written first stays with the error, where Node looks for the line to show.
  delete error.stack;
  Object.defineProperty(error, "stack", {
    value: [`${error.name}: ${error.message}`, ...shown.slice(0, stackTraceLimit)].join("\n"),
    writable: true,
    configurable: true,
  });
}

// Node shows the line where the stack proper begins, which can only begin above a function that is known.
function startAtUser(error: Error, frames: readonly string[], first: string | undefined): void {
  const door = doorAbove(frames, frames.indexOf(first ?? ""));
  if (door !== undefined) api.captureStackTrace?.(error, door);
}

// The function that a user calls, if it is that of the frame above this one.
function doorAbove(frames: readonly string[], i: number): AnyFunction | undefined {
  const [, name = ""] = /([\w$]+)\]? \(/.exec(frames[i - 1] ?? "") ?? [];
  return doorsOf(name).find((each) => framesAbove(each, 1)?.[0] === frames[i]);
}

function belowDoor(frames: readonly string[]): string[] {
  const isBelow = frames.map((_, i) => doorAbove(frames, i) !== undefined);
  let first = Math.max(isBelow.indexOf(true), 0);
  // A method calls the function of its op.
  while (isBelow[first + 1]) first++;
  return frames.slice(first);
}

const kOfTheLanguage = /<anonymous>\)?$|\(native\)$|[( ]node:/;
const kEngineFile = /wasm:\/\/|edgegrad-(?:relaxed|simd|single)/;

function isOwn(frame: string): boolean {
  if (kEngineFile.test(frame)) return true;
  const place = placeOf(frame);
  const { start, end } = knownPlaces();
  if (place === null || start === null || end === null || !isInOrder) return false;
  const isInFile = place.file === start.file && place.file === end.file;
  return isInFile && !isBefore(place, start) && !isBefore(end, place);
}

// Of a user who asks for the sources of bundles, or has them in several files, nothing is hidden.
function isKnown(): boolean {
  const { start, end } = knownPlaces();
  return isInOrder && start !== null && end !== null;
}

function isBefore(a: Place, b: Place): boolean {
  return a.line < b.line || (a.line === b.line && a.column < b.column);
}

// Where the module is in which an error was made, or a caller; null for a module that a bundler put into a function.
function placeOfModule(error: Error, depth: number, isV8: boolean): Place | null {
  const frames = String(error.stack ?? "")
    .split("\n")
    .filter((frame) => placeOf(frame) !== null);
  const frame = frames[depth] ?? "";
  return isV8 && kInFunction.test(frame) ? null : placeOf(frame);
}

// "at f (file:///a.js:1:2)" in V8, "f@file:///a.js:1:2" elsewhere.
function placeOf(frame: string): Place | null {
  const [, file, line, column] = /([^\s(@]+):(\d+):(\d+)\)?$/.exec(frame) ?? [];
  return file === undefined ? null : { file, line: Number(line), column: Number(column) };
}
