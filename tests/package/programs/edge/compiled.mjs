// A program in one executable file with Bun, and the WebAssembly file as one of its files.

import { init, runtime } from "edgegrad";
import wasmUrl from "edgegrad/wasm/edgegrad-single.wasm" with { type: "file" };
import { train } from "../train.js";

await init({ variant: "single", wasmUrl });
const { variant } = runtime();
console.log(JSON.stringify({ losses: train(), variant }));
