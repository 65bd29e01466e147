// Finds what the functions of a part can reach: constants, which must then be in that part, and functions, through pointers.
//
// Two sources are combined. The linked module lists all references, but Binaryen optimizes it afterwards and inlines functions into
// others: where a function calls another less often than before, the code of the other counts as a part of it. Functions with the
// same code count as one here, because Binaryen keeps only one of them and calls it in the place of all. And every number
// in the optimized code that could be the address of a constant counts as a reference to it.

import { kCore } from "./parts.mjs";

/**
 * Returns which bytes of the constants (the segment .rodata, from `address` on) a part can reach, and the slots of functions to
 * which it has pointers. `functions` are those of the optimized module, with the fields name, part, calls and numbers.
 */
export function reachableFrom(part, linked, functions, address) {
  const constants = linked.segment(".rodata");
  const isReachable = Buffer.alloc(constants.content.length);
  const pointers = new Set();
  const marked = new Set();
  const waiting = [];
  const objects = new Set(constants.symbols);
  const mark = (symbol) => {
    if (!objects.has(symbol) || marked.has(symbol)) return;
    marked.add(symbol);
    waiting.push(symbol);
  };
  const references = linked.dataReferences.toSorted((a, b) => a.at - b.at);
  const follow = ({ symbol, isPointer }) => {
    if (isPointer) pointers.add(symbol.index - linked.module.importedFunctions);
    else mark(symbol);
  };

  for (const index of originsOf(part, linked, functions)) {
    const { data, pointers: own } = linked.references[index];
    for (const symbol of data) mark(symbol);
    for (const pointer of own) pointers.add(pointer);
  }
  const holders = holdersOf(constants);
  for (const { part: own, numbers } of functions) {
    if (own === part)
      for (const number of numbers)
        for (const symbol of holders[number - address] ?? []) mark(symbol);
  }
  // All variables are in the core.
  const end = constants.at + constants.content.length;
  const isVariable = ({ at }) => at < constants.at || at >= end;
  if (part === kCore) references.filter(isVariable).forEach(follow);

  while (waiting.length > 0) {
    const { offset, size } = waiting.pop();
    isReachable.fill(1, offset, offset + size);
    const from = constants.at + offset;
    for (let i = firstAt(references, from); references[i]?.at < from + size; ++i)
      follow(references[i]);
  }
  // Functions cannot be identified by name, because Binaryen merges identical functions.
  const { importedFunctions } = linked.module;
  const slots = [...linked.module.table()].filter(([, index]) =>
    pointers.has(index - importedFunctions),
  );
  return { isReachable, slots: new Set(slots.map(([slot]) => slot)) };
}

/** Binaryen appends a number to names that occur several times. */
export const plainName = (name) => name.replace(/_\d+$/, "");

/** Returns the indices of the linked module's functions of which a part contains code. */
export function originsOf(part, linked, functions) {
  const byName = new Map();
  linked.module.functions.forEach(({ name }, index) => {
    const key = plainName(name);
    if (byName.has(key)) byName.get(key).push(index);
    else byName.set(key, [index]);
  });
  const { kinds, ofKind } = kindsOf(linked);
  // The number of calls from functions of the part with one name to functions of a kind.
  const calls = new Map();
  const names = functions.map(({ name }) => plainName(name));
  functions.forEach((body, index) => {
    if (body.part !== part) return;
    const counts = calls.get(names[index]) ?? new Map();
    calls.set(names[index], counts);
    for (const [callee, count] of body.calls) {
      const kind = kinds.get(names[callee]);
      counts.set(kind, (counts.get(kind) ?? 0) + count);
    }
  });

  const found = new Set();
  for (const [name, remaining] of calls) {
    const origins = byName.get(name);
    if (origins === undefined) throw new Error(`the linked module has no function ${name}`);
    const parts = new Set(origins);
    // Grows while it is iterated over.
    for (const index of parts) {
      found.add(index);
      for (const [kind, count] of countedCalls(linked, index, kinds)) {
        if ((remaining.get(kind) ?? 0) < count)
          for (const inlined of ofKind.get(kind)) parts.add(inlined);
      }
    }
  }
  return found;
}

/**
 * Returns a kind for each name, which is the same for functions with the same code, and the indices of the functions of each kind. Several
 * functions may also have the same name.
 */
function kindsOf({ module }) {
  const kinds = new Map();
  const firstWithCode = new Map();
  const kindOf = (name) => {
    const next = kinds.get(name) ?? name;
    return next === name ? name : kindOf(next);
  };
  for (const { name, type, code } of module.functions) {
    const key = `${type} ${code.toString("latin1")}`;
    const own = kindOf(plainName(name));
    const other = firstWithCode.get(key) ?? own;
    firstWithCode.set(key, other);
    kinds.set(own, kindOf(other));
  }
  const ofKind = new Map();
  module.functions.forEach(({ name }, index) => {
    const kind = kindOf(plainName(name));
    kinds.set(plainName(name), kind);
    ofKind.set(kind, [...(ofKind.get(kind) ?? []), index]);
  });
  return { kinds, ofKind };
}

function countedCalls(linked, index, kinds) {
  const counts = new Map();
  for (const callee of linked.references[index].calls) {
    if (callee < 0) continue; // an import
    const kind = kinds.get(plainName(linked.module.functions[callee].name));
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
}

// For each byte of a segment, the symbols that contain it.
function holdersOf({ symbols, content }) {
  const holders = Array.from({ length: content.length });
  for (const symbol of symbols) {
    for (let at = symbol.offset; at < symbol.offset + symbol.size; ++at) {
      holders[at] ??= [];
      holders[at].push(symbol);
    }
  }
  return holders;
}

// Returns the position of the first reference at or after `at`.
function firstAt(references, at) {
  let low = 0;
  let high = references.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (references[middle].at < at) low = middle + 1;
    else high = middle;
  }
  return low;
}
