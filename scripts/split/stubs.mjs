// The description from which the core's script creates stubs (bindings/stubs.js): for each function of another part that may be called before
// that part is loaded, its slot in the table, its part and its type. The script creates the functions, because their code would take seven
// times as many bytes of the download.

import {
  Cursor,
  kSection,
  leb,
  ModuleReader,
  section,
  signedLeb,
  vectorBytes,
} from "../building/wasm_module.mjs";

/** The address of the description, in memory that the linker leaves unused (GLOBAL_BASE in cmake/WasmModule.cmake). */
const kAddress = 1024;
const kEnd = 16384;

/** The first byte of the description. A module that is not split has another value there. */
const kMark = 255;

/**
 * Encodes stubs, each with a slot, the number of its part, and its type. The encoding has the types, the number of stubs, and then, for all
 * stubs in the order of their slots, the distances between slots, the parts, and the numbers of the types.
 */
function describedStubs(stubs) {
  const types = [];
  const numbers = new Map();
  const numberOf = (type) => {
    const key = `${type.parameters}>${type.results}`;
    if (!numbers.has(key)) numbers.set(key, types.push(type) - 1);
    return numbers.get(key);
  };
  const ordered = stubs.toSorted((a, b) => a.slot - b.slot);
  const distances = ordered.map(({ slot }, i) => slot - (ordered[i - 1]?.slot ?? 0));
  const typeNumbers = ordered.map(({ type }) => numberOf(type));
  const typeBytes = types.map(({ parameters, results }) => [
    ...vectorBytes(parameters),
    ...vectorBytes(results),
  ]);
  const bytes = [
    kMark,
    ...vectorBytes(typeBytes),
    ...leb(ordered.length),
    ...distances.flatMap(leb),
    ...ordered.map(({ part }) => part),
    ...typeNumbers.flatMap(leb),
  ];
  if (kAddress + bytes.length > kEnd)
    throw new Error(`the stubs take ${bytes.length} bytes; GLOBAL_BASE leaves too few`);
  return bytes;
}

/** Returns the core with the description of its stubs as an additional data segment. */
export function withStubs(core, stubs) {
  const module = new ModuleReader(core);
  const cursor = new Cursor(module.sections.get(kSection.data));
  const count = cursor.number() + 1;
  const others = cursor.bytes.subarray(cursor.at);
  const bytes = describedStubs(stubs);
  const own = [0, 0x41, ...signedLeb(kAddress), 0x0b, ...leb(bytes.length), ...bytes];
  const changes = { [kSection.data]: section(kSection.data, [...leb(count), ...others, ...own]) };
  if (module.sections.has(kSection.dataCount))
    changes[kSection.dataCount] = section(kSection.dataCount, leb(count));
  return module.with(changes);
}
