// The table of the engine's parts. That other files repeat it rightly is tested with all generated files (js/ops/generated.test.mjs).

import assert from "node:assert/strict";
import { test } from "node:test";
import { kNeeds, kPartNames, kRequests, kRest } from "../../../scripts/split/parts.mjs";
import { kPrograms } from "../../../scripts/split/programs.mjs";

test("every program decides about parts, once", () => {
  const named = [...kNeeds.flatMap(({ programs }) => programs), ...kRequests];
  assert.deepEqual(named.sort(), Object.keys(kPrograms).sort());
});

test("every part is some program's, but the last one, which has what no program needs", () => {
  const owned = new Set(kNeeds.flatMap(({ parts }) => parts.slice(-1)));
  assert.deepEqual(
    kPartNames.filter((part) => !owned.has(part)),
    [kRest],
  );
  assert.equal(kPartNames.at(-1), kRest);
});
