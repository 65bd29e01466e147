// The same program as a test, and comparisons of tensors, for runners that make `test` and `expect` global.

import { writeFileSync } from "node:fs";
import * as eg from "edgegrad";
import { train } from "./train.js";

test("trains", async () => {
  await eg.init();
  writeFileSync("result.json", JSON.stringify({ losses: train(), runtime: eg.runtime() }));

  expect.addEqualityTesters([eg.testing.tensorsAreEqual]);
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
  await eg.shutdown();
});
