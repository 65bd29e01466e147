// A program in one executable file with Node.js, and the WebAssembly file as its asset.

import { getAsset } from "node:sea";
import { init, runtime } from "edgegrad";
import { train } from "../train.js";

async function main() {
  await init({ wasmModule: getAsset("edgegrad-single.wasm") });
  const { variant } = runtime();
  console.log(JSON.stringify({ losses: train(), variant }));
}

main();
