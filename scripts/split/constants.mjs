// The constants of a module, and the part that has them. They never change, so it is safe that every thread writes those of a part again.

import {
  kSection,
  ModuleReader,
  section,
  signedLeb,
  vectorBytes,
} from "../building/wasm_module.mjs";

const kSegment = ".rodata";

/** Every data segment has a header, so shorter gaps than this are written as well. */
const kMinGap = 16;

/** Returns the constants of the optimized module `whole`: the index of their segment, their address and their bytes. */
export function constantsOf(whole, linked) {
  const { index, content } = linked.segment(kSegment);
  const segment = whole.segments()[index];
  if (!segment.content.equals(content))
    throw new Error("optimization changed the constants, so the references to them are not known");
  return { index, content, address: linked.addressOf(kSegment) };
}

/** Returns the core with the constants that it cannot reach replaced by zeros, which compress to almost nothing. */
export function withoutConstants(core, { index }, isReachable) {
  const { at } = new ModuleReader(core).segments()[index];
  const bytes = Buffer.from(core);
  isReachable.forEach((isHere, offset) => {
    if (!isHere) bytes[at + offset] = 0;
  });
  return bytes;
}

/** Returns a section that writes the constants for which `isHere(offset)` is true. */
export function dataSection({ address, content }, isHere) {
  const runs = [];
  for (let at = 0; at < content.length; ++at) {
    if (!isHere(at) || content[at] === 0) continue;
    const last = runs.at(-1);
    if (last && at - last.end < kMinGap) last.end = at + 1;
    else runs.push({ start: at, end: at + 1 });
  }
  const segments = runs.map(({ start, end }) => [
    ...[0, 0x41, ...signedLeb(address + start), 0x0b],
    ...vectorBytes([...content.subarray(start, end)]),
  ]);
  return section(kSection.data, vectorBytes(segments));
}
