// Files of the checkout.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The checkout's folder. */
export const kRoot = fileURLToPath(new URL("../../../", import.meta.url));

/** Reads a JSON file, by its path in the checkout. */
export function readJson(path) {
  return JSON.parse(readFileSync(kRoot + path, "utf8"));
}
