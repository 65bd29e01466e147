// The same program as a test, and comparisons of tensors, for runners that make `test` and `expect` global.

import { writeFileSync } from "node:fs";
import * as eg from "edgegrad";
import { train } from "./train.js";

test("trains", async () => {
  await eg.init();
  writeFileSync("result.json", JSON.stringify({ losses: train(), runtime: eg.runtime() }));

  const rows = () =>
    eg.tensor([
      [1, Number.NaN],
      [3, 4],
    ]);
  expect({ rows: rows(), loss: eg.tensor(1) }).toEqual({ rows: rows(), loss: eg.tensor(1) });
  expect(rows()).not.toEqual(rows().add(1));
  // The message shows what differs, or names the tensors.
  expect(() => expect(eg.tensor([1, 2])).toEqual(eg.tensor([1, 30]))).toThrow(/30/);
  expect(() => expect(eg.ones([2])).toBe(eg.ones([2]))).toThrow(/Object\.is/);
  expect(() => eg.testing.assertClose(rows(), rows())).toThrow(/equalNan/);

  // Source maps do not keep the package's frames from being left out.
  const mistake = () => eg.ones([2]).add(eg.ones([3]));
  let stack = "";
  try {
    mistake();
  } catch (error) {
    stack = error.stack;
  }
  expect(stack.split("\n")[1]).toMatch(/mistake.*train\.test\.mjs/);
  expect(stack).not.toMatch(/edgegrad.dist|web.src/);
  await eg.shutdown();
});
