// The parts into which the engine is split (README.md), and the programs that decide what is in them. Where names and numbers of parts
// must be repeated, `npm run generate` writes them.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { kRoot } from "../process.mjs";

/** The part that is loaded first. */
export const kCore = "core";
/** What attention, extras and loaders of data have in common. */
export const kShared = "layers";
/** Convolutions have so little in common with the others that it is in the core. */
export const kUnlikeOthers = "conv";
/** What no program needs. Only this part may use all others. */
export const kRest = "rest";

/** All parts besides the core, by their numbers in stubs. */
export const kPartNames = [kShared, kUnlikeOthers, "attention", "extras", kRest];

/**
 * Programs of programs.mjs, with the parts that they need besides the core. What only they need is in the last one of these parts, or in
 * the core if they need no other.
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

/** The program in which threads start others and ask for parts: what that needs of the C library is in the core. */
export const kRequests = ["request"];

// Parts of programs that also need what is shared.
const kSharing = kPartNames.filter((part) =>
  kNeeds.some(({ parts }) => part !== kShared && part === parts.at(-1) && parts[0] === kShared),
);
const namesOf = (parts) => `[${parts.map((part) => JSON.stringify(part)).join(", ")}]`;

// In each file, what stands after these words.
const kCopies = {
  "web/src/runtime/parts.ts": [
    [/(?<=kParts = )\[.*\]/, namesOf(kPartNames)],
    [/(?<=kSharing: readonly Part\[\] = )\[.*\]/, namesOf(kSharing)],
  ],
  // Behind the bytes of the parts, those of an error, and then the bits of the parts that are loaded.
  "bindings/parts.js": [
    [/(?<=kRest = )\d+/, `${kPartNames.indexOf(kRest)}`],
    [/(?<=kErrorIndex = )\d+/, `${kPartNames.length}`],
    [/(?<=kLoadedIndex = )\d+/, `${kPartNames.length + 1}`],
  ],
  "src/base/parts.h": [[/(?<=std::array<Bytes, )\d+/, `${kPartNames.length + 1}`]],
};

/** Returns the files that repeat what this one says, with their texts as they should be. */
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
