// Installs node_modules as specified by package-lock.json if it is missing or older than the lock file.

import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { kRoot, quiet, step } from "../process.mjs";

/** Runs `npm ci` unless it has already run for this lock file. */
export async function ensureNodeModules() {
  const lock = readFileSync(join(kRoot, "package-lock.json"));
  const wanted = createHash("sha256").update(lock).digest("hex");
  const stamp = join(kRoot, "node_modules", ".edgegrad-lock");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  await step("npm ci", () => quiet("npm", ["ci", "--ignore-scripts"], { cwd: kRoot }));
  writeFileSync(stamp, wanted);
}
