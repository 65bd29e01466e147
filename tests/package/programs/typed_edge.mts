// The types of the other entries.

import * as eg from "edgegrad/single";
import type create from "edgegrad/wasm/edgegrad-single.mjs";
import type file from "edgegrad/wasm/edgegrad-single.wasm";

type File = typeof file;

const given = (wasmModule: File): eg.InitOptions => ({ wasmModule, memory: { maximum: 2 ** 28 } });
const late = (wasmModule: Response | Promise<Response>): eg.InitOptions => ({ wasmModule });
const located = (wasmUrl: File): eg.InitOptions => ({ wasmUrl });
const start = (factory: typeof create): unknown => factory;

await eg.init({ memory: {} });
const sum: eg.Tensor = eg.ones([2]).sum();
console.log(sum.item(), given, late, located, start);
