// npm run federated: installs and builds what is missing, and runs the example of federated training. Options after `--` are passed on.

import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildForNode } from "./build.mjs";
import { ensurePackages } from "./machine/apt.mjs";
import { kRoot, main, show } from "./process.mjs";

const kExample = join(kRoot, "examples", "federated.mjs");
const text = { type: "string" };
const kOptions = { steps: text, strategy: text, compression: text, picture: text, onnx: text };
const kPicture = join("build", "federated.svg");

await main(async () => {
  const args = process.argv.slice(2);
  const { picture = kPicture } = parseArgs({ args, options: kOptions }).values;
  await buildForNode();
  await ensurePackages("federated");
  return show(process.execPath, [kExample, ...args, "--picture", picture]);
});
