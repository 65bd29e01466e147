// npm run federated: installs and builds what is missing, and runs the example of federated training. Options after `--` are passed on.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ensurePackages } from "./apt.mjs";
import { buildWasm, buildWeb, nodeVariant } from "./build.mjs";
import { ensureNodeModules } from "./dependencies.mjs";
import { kRoot, main, show } from "./process.mjs";

const kExample = join(kRoot, "examples", "federated.mjs");
const text = { type: "string" };
const kOptions = { steps: text, strategy: text, compression: text, picture: text, onnx: text };
const kPicture = join("build", "federated.svg");

await main(async () => {
  const args = process.argv.slice(2);
  const { picture = kPicture } = parseArgs({ args, options: kOptions }).values;
  await ensureNodeModules();
  if (!existsSync(join(kRoot, "dist", "federated", "index.js"))) {
    await buildWeb();
    await buildWasm(nodeVariant());
  }
  await ensurePackages("federated");
  return show(process.execPath, [kExample, ...args, "--picture", picture]);
});
