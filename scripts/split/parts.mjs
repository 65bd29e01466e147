// The parts into which the engine is split (README.md), and the programs that determine their contents. `npm run generate` writes the files
// that repeat the names and numbers of parts.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { kRoot } from "../process.mjs";

/** The part that is loaded first. */
export const kCore = "core";
/** The code that attention, extras and data loaders share. */
export const kShared = "layers";
/** The part of convolutions. They share so little with other parts that the shared code is in the core. */
export const kConv = "conv";
/** The code that no program needs. Only this part may use all others. */
export const kRest = "rest";

/** All parts except the core, in the order of their numbers in stubs. */
export const kPartNames = [kShared, kConv, "attention", "extras", kRest];

/**
 * Programs of programs.mjs, with the parts that they need in addition to the core. Code that only they need is in the last one of these
 * parts, or in the core if there is no other.
 */
export const kNeeds = [
  { programs: ["mlp", "arithmetic"], parts: [] },
  { programs: ["cnn"], parts: ["conv"] },
  { programs: ["gpt"], parts: [kShared, "attention"] },
  {
    programs: ["evaluation", "optimizers", "points", "recurrent", "sampling"],
    parts: [kShared, "extras"],
  },
  { programs: ["batches"], parts: [kShared] },
  { programs: ["images"], parts: [kShared, "conv", "extras"] },
];

/** The program in which threads start others and request parts: the C library functions that it needs are in the core. */
export const kRequests = ["request"];

// Parts whose programs also need the shared part.
const kSharing = kPartNames.filter((part) =>
  kNeeds.some(({ parts }) => part !== kShared && part === parts.at(-1) && parts[0] === kShared),
);
const namesOf = (parts) => `[${parts.map((part) => JSON.stringify(part)).join(", ")}]`;

// For each file, the places to write, which are found by the text before them.
const kCopies = {
  "web/src/runtime/start/parts.ts": [
    [/(?<=kParts = )\[.*\]/, namesOf(kPartNames)],
    [/(?<=kSharing: readonly Part\[\] = )\[.*\]/, namesOf(kSharing)],
  ],
  // After the bytes of the parts come those of an error, and then the bits of the loaded parts.
  "bindings/parts.js": [
    [/(?<=kRest = )\d+/, `${kPartNames.indexOf(kRest)}`],
    [/(?<=kErrorIndex = )\d+/, `${kPartNames.length}`],
    [/(?<=kLoadedIndex = )\d+/, `${kPartNames.length + 1}`],
  ],
  "src/base/parts.h": [[/(?<=std::array<Bytes, )\d+/, `${kPartNames.length + 1}`]],
};

/** Returns the files that repeat the contents of this file, with their correct texts. */
export function copiesOfParts() {
  return Object.entries(kCopies).map(([name, places]) => {
    const file = join(kRoot, name);
    const text = places.reduce(
      (before, [place, value]) => {
        if (!place.test(before)) throw new Error(`${name} has no ${place}`);
        return before.replace(place, value);
      },
      readFileSync(file, "utf8"),
    );
    return [file, text];
  });
}
