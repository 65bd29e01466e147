// Runs clang-format and Biome on files.

import { join } from "node:path";
import { CommandError, kRoot, quiet } from "../process.mjs";

/** The folders whose C++ is formatted. */
export const kCppFolders = ["src", "bindings", "tests/cpp", "tests/bindings", "tools"];

/** Checks C++ files, or formats them with `fix`. Paths are relative to `cwd`, which has the .clang-format. */
export async function clangFormat(files, { fix = false, cwd = kRoot } = {}) {
  if (files.length === 0) return;
  const mode = fix ? ["-i"] : ["--dry-run", "-Werror"];
  await quiet("clang-format-19", [...mode, ...files], { cwd }).catch((error) => {
    if (error.output === undefined) throw error;
    const names = [...new Set(error.output.match(/^\S+(?=:\d+:\d+: error)/gm))];
    const lines = names.map((name) => `${name}: run npm run format`);
    throw new CommandError("clang-format", lines.length, lines.join("\n"));
  });
}

/** Checks the files and folders that the biome.json in `cwd` includes, or repairs them with `fix`. */
export async function biome(paths, { fix = false, cwd = kRoot } = {}) {
  if (paths.length === 0) return;
  const program = join(kRoot, "node_modules", "@biomejs", "biome", "bin", "biome");
  const mode = fix ? ["check", "--write"] : ["check"];
  const options = [
    "--error-on-warnings",
    "--no-errors-on-unmatched",
    "--files-ignore-unknown=true",
  ];
  await quiet(process.execPath, [program, ...mode, ...options, ...paths], { cwd });
}
