// One HTML file that runs alone, without a network and a server: the engine for one thread, the weights and the program are in it.

import engineUrl from "edgegrad-files/single/index.js?url";
import glueUrl from "edgegrad-files/wasm/edgegrad-single.mjs?url";
import wasmUrl from "edgegrad-files/wasm/edgegrad-single.wasm?url";
import type { Program } from "./program.js";
import { base64Of } from "./state_link.js";

const kStyle = `:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 44rem; margin: 2rem auto; padding: 0 1rem; }
canvas { border: 1px solid #8888; border-radius: 8px; max-width: 100%; touch-action: none; }
button { font: inherit; padding: 4px 12px; }`;

// What unpacks the file in a browser, and starts the program.
const kLoader = `const bytesOf = async (id) => {
  const text = document.getElementById(id).textContent.replaceAll("-", "+").replaceAll("_", "/");
  const packed = new Blob([Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0))]);
  const stream = packed.stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
};
const addressOf = (script) => URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
const textOf = async (id) => new TextDecoder().decode(await bytesOf(id));
// A script of a blob cannot import by a relative address.
const glue = addressOf(await textOf("glue"));
const engine = addressOf((await textOf("engine")).replaceAll("../wasm/edgegrad-single.mjs", glue));
const eg = await import(engine);
await eg.init({ wasmModule: await WebAssembly.compile(await bytesOf("wasm")) });
const source = document.getElementById("model").textContent.replaceAll('"edgegrad"', JSON.stringify(engine));
const { makeModel, predict } = await import(addressOf(source));
const model = makeModel();
model.loadStateDict(eg.io.loadSafetensors(await bytesOf("weights")));
model.eval();
`;

/** Returns the text of the file. */
export async function oneFile(program: Program, weights: Uint8Array): Promise<string> {
  const [engine, glue, wasm, packedWeights] = await Promise.all([
    fetched(engineUrl).then(packed),
    fetched(glueUrl).then(packed),
    fetched(wasmUrl).then(packed),
    packed(weights),
  ]);
  const data = (id: string, text: string) =>
    `<script type="text/plain" id="${id}">${text}</script>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${program.title}</title>
<style>${kStyle}</style>
</head>
<body>
<h1>${program.title}</h1>
${program.page.body}
<p><small>Made with edgegrad: the engine and the weights are in this file.</small></p>
${data("model", `\n${program.model}`)}
${data("weights", packedWeights)}
${data("wasm", wasm)}
${data("glue", glue)}
${data("engine", engine)}
<script type="module">
${kLoader}
${program.page.script}
</script>
</body>
</html>
`;
}

async function fetched(url: string): Promise<Uint8Array> {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`The engine could not be loaded: status ${answer.status}.`);
  return new Uint8Array(await answer.arrayBuffer());
}

async function packed(bytes: Uint8Array): Promise<string> {
  const whole = new Blob([bytes as Uint8Array<ArrayBuffer>]);
  const stream = whole.stream().pipeThrough(new CompressionStream("gzip"));
  return base64Of(new Uint8Array(await new Response(stream).arrayBuffer()));
}
