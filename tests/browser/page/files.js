// Writes files to the page's own file system and reads them again in parts, and reads one of another origin.

import * as eg from "edgegrad";

const address = new URLSearchParams(location.search).get("address");
const { io } = eg;

/** Returns the sum of a tensor of the file at an address, and what was said meanwhile. */
async function sumAt(url) {
  const said = [];
  const { warn } = console;
  console.warn = (text) => said.push(text);
  try {
    const file = await io.openSafetensors(url);
    const sum = (await file.slice("y", [99_000, null])).sum().item();
    return { keys: file.keys, sum, said: said.length };
  } finally {
    console.warn = warn;
  }
}

// Pages refuse shared memory in more places than Node does.
function shared(buffer) {
  const bytes = new Uint8Array(new SharedArrayBuffer(buffer.byteLength));
  bytes.set(new Uint8Array(buffer));
  return bytes;
}

async function report() {
  await eg.init({ threads: 1 });
  const folder = await navigator.storage.getDirectory();
  const handle = await folder.getFileHandle("x.safetensors", { create: true });
  const x = eg.arange(3e6, { dtype: "float32" });
  await io.saveSafetensors({ x, y: eg.ones([2]) }, await handle.createWritable());
  const own = await handle.getFile();
  const ofMemory = await io.openSafetensors(shared(await own.arrayBuffer()));
  const file = await io.openSafetensors(own);
  const part = (await file.slice("x", [-2, null])).tolist();
  const blob = new Blob([
    await io.saveTorch({ y: await file.tensor("y"), z: await ofMemory.tensor("y") }),
  ]);
  const { y } = await io.loadTorch(shared(await blob.arrayBuffer()));
  return {
    part,
    y: y.tolist(),
    remote: await sumAt(address),
    hidden: await sumAt(`${address}?hidden`),
  };
}

report()
  .catch((error) => ({ error: String(error?.stack ?? error) }))
  .then((result) => {
    document.body.textContent = JSON.stringify(result);
  });
