// Warnings about what PyTorch warns of, each of them once.

import assert from "node:assert/strict";
import { test } from "node:test";
import { eg } from "../support/engine.mjs";
import { leaf } from "../support/graphs.mjs";

/** The messages of the calls of a function. */
function warningsOf(t, run) {
  const warn = t.mock.method(console, "warn", () => {});
  run();
  const messages = warn.mock.calls.map(({ arguments: [message] }) => message);
  warn.mock.restore();
  return messages;
}

const kWarnings = {
  "an index of dtype uint8": [
    (x, mask) => x.at(mask),
    /\[index\] a uint8 index is taken as a mask, which is deprecated/,
  ],
  "a mask of dtype uint8": [
    (x, mask) => eg.where(mask, x, x),
    /\[where\] a mask of dtype uint8 is deprecated/,
  ],
  "complex numbers that become real": [
    (x) => x.to("complex64").to("float32"),
    /Converting complex numbers to a real dtype drops their imaginary parts/,
  ],
  "backward() with createGraph": [
    () => leaf([1]).exp().backward(null, { createGraph: true }),
    /backward\(\) with createGraph: true makes a leaf and its gradient keep each other alive/,
  ],
};

for (const [name, [call, message]] of Object.entries(kWarnings)) {
  test(`${name} warns once`, (t) => {
    const x = eg.tensor([1, 2]);
    const mask = eg.tensor([1, 0], { dtype: "uint8" });
    const messages = warningsOf(t, () => {
      call(x, mask);
      call(x, mask);
    });
    assert.equal(messages.length, 1);
    assert.match(messages[0], message);
    const always = eg.setWarnAlways(true);
    try {
      assert.equal(warningsOf(t, () => call(x, mask)).length, 1);
      assert.equal(
        warningsOf(t, () => call(x, mask.to("bool"))).length,
        name.includes("uint8") ? 0 : 1,
      );
    } finally {
      eg.setWarnAlways(always);
    }
  });
}
