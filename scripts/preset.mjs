// Builds one of the presets in CMakePresets.json: configures it if necessary, compiles, and prints one line.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { ensurePackages } from "./apt.mjs";
import { kRoot, quiet, step } from "./process.mjs";
import { wasmEnvironment } from "./toolchain.mjs";

/** Builds targets of a preset and returns its build folder. */
export async function buildPreset(preset, ...targets) {
  const isWasm = preset.startsWith("wasm-");
  await ensurePackages("native");
  if (preset.endsWith("-32")) await ensurePackages("native32");
  const env = isWasm ? await wasmEnvironment() : process.env;
  const options = { cwd: kRoot, env };
  const folder = join(kRoot, "build", preset);
  await step(`build ${preset}${targets.length ? `: ${targets.join(" ")}` : ""}`, async () => {
    if (!existsSync(join(folder, "build.ninja")))
      await quiet("cmake", ["--preset", preset], options);
    const only = targets.length ? ["--target", ...targets] : [];
    await quiet("cmake", ["--build", folder, ...only, "--", "--quiet"], options);
  });
  return folder;
}
