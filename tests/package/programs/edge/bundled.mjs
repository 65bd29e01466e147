// A program that is bundled with the package; the options of init() are in its arguments.

import { init, runtime } from "edgegrad";
import { train } from "../train.js";

async function main() {
  await init(JSON.parse(process.argv.at(-1)));
  const { variant } = runtime();
  console.log(JSON.stringify({ losses: train(), variant }));
}

main().catch(({ code, message }) => console.log(`${code}: ${message}`));
