// npm run generate: writes the files derived from the C++ sources (the op table, the TypeScript files generated from it, and the shaders of
// formulas), and the files that repeat the table of the engine's parts.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildPreset } from "./building/preset.mjs";
import { writeNativeFunctions } from "./generating/native_functions.mjs";
import { ensureNodeModules } from "./machine/dependencies.mjs";
import { kRoot, main, quiet, step } from "./process.mjs";

await main(async () => {
  parseArgs({ options: {} });
  await ensureNodeModules();
  const folder = await buildPreset("native-debug-32", "op_table", "formula_shaders", "border");
  const target = join(kRoot, "web", "src", "generated");
  await step("write web/src/generated/op_table.json", async () => {
    mkdirSync(target, { recursive: true });
    writeFileSync(join(target, "op_table.json"), await quiet(join(folder, "op_table")));
  });
  const border = join(folder, "border");
  await step("write web/src/generated/{border,stream}.ts", async () => {
    writeFileSync(join(target, "border.ts"), await quiet(border));
    writeFileSync(join(target, "stream.ts"), await quiet(border, ["stream"]));
  });
  const shaders = join(folder, "formula_shaders");
  await step("write web/src/generated/formula_shaders.json", async () => {
    writeFileSync(join(target, "formula_shaders.json"), await quiet(shaders));
    const constants = join(kRoot, "tests", "golden", "formula_constants.json");
    writeFileSync(constants, await quiet(shaders, ["constants"]));
  });
  await step("write web/src/generated/native_functions.ts", async () =>
    writeNativeFunctions({ check: false }),
  );
  await step("scripts/generating/generate_ops.mjs", () =>
    quiet(process.execPath, [join(kRoot, "scripts", "generating", "generate_ops.mjs")]),
  );
});
