// A project as `npm create edgegrad` writes it, with the model and its weights, as a zip file.

import starter from "virtual:starter";
import { strToU8, zipSync } from "fflate";
import type { Program } from "./program.js";

/** Returns the project as a zip file with one folder. */
export function projectZip({ name, model }: Program, weights: Uint8Array): Uint8Array {
  const manifest = { ...JSON.parse(starter["package.json"] as string), name };
  const files = {
    ...starter,
    "package.json": `${JSON.stringify(manifest, null, 2)}\n`,
    "src/model.js": model,
  };
  const entries = Object.entries(files).map(([path, text]) => [`${name}/${path}`, strToU8(text)]);
  return zipSync({
    ...Object.fromEntries(entries),
    [`${name}/public/weights.safetensors`]: weights,
  });
}
