// Builds one of the presets in CMakePresets.json: configures it if necessary, compiles, and prints one line.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { ensurePackages } from "../machine/apt.mjs";
import { kRoot, quiet, step } from "../process.mjs";
import { wasmEnvironment } from "./toolchain.mjs";

// Ninja's progress: the number of finished commands and of all commands.
const kProgress = /\[(\d+)\/(\d+)\]/g;

/** Builds targets of a preset and returns its build folder. */
export async function buildPreset(preset, ...targets) {
  const isWasm = preset.startsWith("wasm-");
  await ensurePackages("native");
  if (preset.endsWith("-32")) await ensurePackages("native32");
  const env = { ...(isWasm ? await wasmEnvironment() : process.env), NINJA_STATUS: "[%f/%t] " };
  const folder = join(kRoot, "build", preset);
  await step(`build ${preset}${targets.length ? `: ${targets.join(" ")}` : ""}`, async (report) => {
    const onText = (text) => {
      const [, done, all] = [...text.matchAll(kProgress)].at(-1) ?? [];
      if (done !== undefined) report(`${done} of ${all} commands`);
    };
    const options = { cwd: kRoot, env };
    if (!existsSync(join(folder, "build.ninja")))
      await quiet("cmake", ["--preset", preset], options);
    const only = targets.length ? ["--target", ...targets] : [];
    await quiet("cmake", ["--build", folder, ...only], { ...options, onText });
  });
  return folder;
}
