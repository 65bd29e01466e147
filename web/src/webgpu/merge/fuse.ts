// Elementwise dispatches that become the end of the dispatch whose results they read: an invocation that stores an element goes on
// with what is computed from it. The element is stored nevertheless, because others may read it.

import type { Block } from "../blocks";
import type { Dispatch, WrittenDispatch } from "../recorder";
import { type Access, isVec4Aligned, type Uniforms } from "../shader";
import { kDeclaration } from "./merged_shader";
import { fitBuffers, type MergeLimits } from "./plan";

/** A dispatch, with the given ones that it replaces, in the order in which they were recorded. */
export interface Fused<Given> {
  readonly parts: readonly Given[];
  readonly whole: WrittenDispatch;
}

/** Returns dispatches that compute the same, fewer if possible. `write` writes the uniforms of a dispatch. */
export function fuse<Given extends WrittenDispatch>(
  dispatches: readonly Given[],
  limits: MergeLimits,
  write: (dispatch: Dispatch) => WrittenDispatch,
): Fused<Given>[] {
  const all: Fused<Given>[] = [];
  for (const dispatch of dispatches) {
    const place = placeFor(all, dispatch.source);
    const target = place && all[place.from];
    const joined = target && join(target.whole.source, dispatch.source, target.parts.length);
    const canBe = joined && fitBuffers(joined.memory, limits.buffers);
    const whole = canBe ? write(joined) : undefined;
    if (!place || !target || !whole || whole.uniforms.length > limits.uniformBytes) {
      all.push({ parts: [dispatch], whole: dispatch });
      continue;
    }
    all.splice(place.from, 1);
    all.splice(place.to, 0, { parts: [...target.parts, dispatch], whole });
  }
  return all;
}

/** The position of a dispatch, and the one to which it moves. */
interface Place {
  readonly from: number;
  readonly to: number;
}

// Returns the dispatch that can do the work of the elementwise one that comes next: either that one may come earlier, or the
// dispatch may come later.
function placeFor(all: readonly Fused<WrittenDispatch>[], next: Dispatch): Place | undefined {
  const inputs = next.memory.filter(({ name }) => next.elements?.linear.includes(name));
  const writers = inputs.map(({ view }) => lastWriter(all, view.block)).sort((a, b) => b - a);
  for (const from of writers) {
    const source = all[from]?.whole.source;
    const last = source && storedFor(source, next);
    if (!source || !last || !isSafe(source, next, last)) continue;
    const between = all.slice(from + 1).map(({ whole }) => whole.source.memory);
    if (!between.some((memory) => collide(memory, next.memory))) return { from, to: from };
    if (!between.some((memory) => collide(memory, source.memory)))
      return { from, to: all.length - 1 };
  }
  return undefined;
}

function lastWriter(all: readonly Fused<WrittenDispatch>[], block: Block): number {
  for (let at = all.length - 1; at >= 0; at--) {
    const { memory } = (all[at] as Fused<WrittenDispatch>).whole.source;
    if (memory.some(({ mode, view }) => mode !== "read" && view.block === block)) return at;
  }
  return -1;
}

// Returns what a dispatch stores that the next one reads at the same positions.
function storedFor(source: Dispatch, next: Dispatch): Access | undefined {
  const names = source.stores?.filter(({ count }) => count === next.elements?.count);
  const stored = names?.map(({ name }) => source.memory.find((access) => access.name === name));
  return stored?.find(
    (output) => output !== undefined && next.memory.some((access) => isInput(next, access, output)),
  );
}

// Whether an elementwise dispatch reads what is stored, at the positions of its elements.
function isInput({ elements }: Dispatch, access: Access, stored: Access): boolean {
  return isSame(access, stored) && elements?.linear.includes(access.name) === true;
}

// Whether it overwrites the stored elements with its results.
function isInPlace({ stores }: Dispatch, access: Access, stored: Access): boolean {
  return isSame(access, stored) && stores?.some(({ name }) => name === access.name) === true;
}

function isSame({ view }: Access, { view: other }: Access): boolean {
  return view.block === other.block && view.offset === other.offset && view.dtype === other.dtype;
}

// Other invocations may be anywhere, so only the element that has just been stored may be read and replaced.
function isSafe(source: Dispatch, next: Dispatch, last: Access): boolean {
  const others = next.memory.filter(
    (access) => !isInPlace(next, access, last) && !isInput(next, access, last),
  );
  return !collide(source.memory, others);
}

function collide(some: readonly Access[], others: readonly Access[]): boolean {
  return some.some((a) =>
    others.some((b) => a.view.block === b.view.block && (a.mode !== "read" || b.mode !== "read")),
  );
}

// Returns one dispatch for a dispatch of several parts and an elementwise one that reads what it stores.
function join(source: Dispatch, next: Dispatch, parts: number): Dispatch | undefined {
  const stored = storedFor(source, next);
  const { elements } = next;
  if (stored === undefined || elements === undefined) return undefined;
  const end = `_f${parts}`;
  const isLast = (access: Access) => isInput(next, access, stored);
  const inputs = elements.memory.filter(isLast);
  const replaces = elements.memory.some((access) => isInPlace(next, access, stored));
  const results = stored.as === "vec4s" ? resultsInVec4s(next, elements.memory) : [];
  const renamed = (access: Access): Access => ({
    ...access,
    name: access.name + end,
    ...(results.includes(access) && { as: "vec4s" }),
  });
  const own = elements.memory.filter((access) => !isLast(access)).map(renamed);
  return {
    key: `${source.key} then ${inputs.map(({ name }) => name)} of ${stored.name}: ${next.key}`,
    memory: [...source.memory, ...own],
    uniforms: joinUniforms(source.uniforms, next.uniforms, end),
    workgroups: source.workgroups,
    body: () =>
      [
        source.body().replaceAll(new RegExp(`\\bstore_${stored.name}\\b`, "g"), `then${end}`),
        `var<private> stored${end}: f32;`,
        ...inputs.map(
          ({ name }) => `fn load_${name}${end}(i: u32) -> f32 { return stored${end}; }`,
        ),
        endText(elements.functions(), elements.memory, end).replaceAll(
          new RegExp(`\\bstore_(${results.map(({ name }) => name + end).join("|")})\\b`, "g"),
          "keep_$1",
        ),
        thenText(stored, { end, replaces, results }),
      ].join("\n"),
    stores: [
      ...(source.stores ?? []).filter(({ name }) => !(replaces && name === stored.name)),
      ...(next.stores ?? []).map(({ name, count }) => ({ name: name + end, count })),
    ],
    narrowed: (threads) => {
      const narrowed = source.narrowed?.(threads);
      return narrowed && join(narrowed, next, parts);
    },
  };
}

// The results of an elementwise dispatch that can be stored four at a time.
function resultsInVec4s({ stores = [] }: Dispatch, memory: readonly Access[]): Access[] {
  return memory.filter(
    ({ name, view, mode }) =>
      mode === "write" && isVec4Aligned(view) && stores.some((store) => store.name === name),
  );
}

interface End {
  readonly end: string;
  /** Whether the results overwrite the stored elements. */
  readonly replaces: boolean;
  /** What is stored four at a time, from the results for each. */
  readonly results: readonly Access[];
}

// The function that is called in the place of the one that stores.
function thenText({ name, as }: Access, { end, replaces, results }: End): string {
  const store = (value: string) => (replaces ? "" : `store_${name}(i, ${value});`);
  if (as !== "vec4s")
    return `fn then${end}(i: u32, value: f32) {
  ${store("value")}
  stored${end} = value;
  evaluate${end}(i);
}`;
  const names = results.map((result) => result.name + end);
  const kept = names.map(
    (result) => `var<private> kept_${result}: vec4<f32>;
fn keep_${result}(i: u32, value: f32) { kept_${result}[i & 3u] = value; }
`,
  );
  return `${kept.join("")}fn then${end}(i: u32, values: vec4<f32>) {
  ${store("values")}
  for (var part = 0u; part < 4u; part++) {
    stored${end} = values[part];
    evaluate${end}(4u * i + part);
  }
  ${names.map((result) => `store_${result}(i, kept_${result});`).join("\n  ")}
}`;
}

// The functions of an elementwise dispatch, in which everything that it declares has names of its own.
function endText(functions: string, memory: readonly Access[], end: string): string {
  const own = new Set([...functions.matchAll(kDeclaration)].map(([, name]) => name as string));
  for (const { name } of memory) for (const what of ["load", "store"]) own.add(`${what}_${name}`);
  return functions
    .replaceAll(/\bu\.(\w+)/g, `u.$1${end}`)
    .replaceAll(/\b[A-Za-z]\w*/g, (name) => (own.has(name) ? name + end : name));
}

function joinUniforms(first: Uniforms, second: Uniforms, end: string): Uniforms {
  const renamed = <T>(some: Readonly<Record<string, T>> = {}) =>
    Object.fromEntries(Object.entries(some).map(([name, value]) => [name + end, value]));
  return {
    ...first,
    u32: { ...first.u32, ...renamed(second.u32) },
    i32: { ...first.i32, ...renamed(second.i32) },
    f32: { ...first.f32, ...renamed(second.f32) },
  };
}
