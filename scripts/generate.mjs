// npm run generate: writes what TypeScript derives from the op table of the C++ sources.

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ensureNodeModules } from "./dependencies.mjs";
import { buildPreset } from "./preset.mjs";
import { kRoot, main, quiet, step } from "./process.mjs";

await main(async () => {
  parseArgs({ options: {} });
  await ensureNodeModules();
  const folder = await buildPreset("native-debug", "op_table");
  const target = join(kRoot, "web", "src", "generated");
  await step("write web/src/generated/op_table.json", async () => {
    mkdirSync(target, { recursive: true });
    writeFileSync(join(target, "op_table.json"), await quiet(join(folder, "op_table")));
  });
  const generator = join(kRoot, "scripts", "generate_ops.mjs");
  if (existsSync(generator))
    await step("scripts/generate_ops.mjs", () => quiet(process.execPath, [generator]));
});
