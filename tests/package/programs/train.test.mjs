// The same program as a test, for runners that make `test` global.

import { writeFileSync } from "node:fs";
import * as eg from "edgegrad";
import { train } from "./train.js";

test("trains", async () => {
  await eg.init();
  writeFileSync("result.json", JSON.stringify({ losses: train(), runtime: eg.runtime() }));
  await eg.shutdown();
});
