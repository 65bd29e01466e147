// The wheel of the Python package: a file that the build writes beside this one.

/** Where the wheel is, or its bytes. */
export type WheelSource = string | URL | ArrayBuffer | Uint8Array<ArrayBuffer>;

/** Returns the address of the wheel, which `micropip.install` takes as well. */
export function wheelUrl(): URL {
  return new URL("./edgegrad-WHEEL_VERSION-py3-none-any.whl", import.meta.url);
}

/** Returns the bytes of the wheel; rejects with what the file system or the network says. */
export async function wheelBytes(
  source: WheelSource = wheelUrl(),
): Promise<ArrayBuffer | Uint8Array> {
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return source;
  const url = new URL(source, import.meta.url);
  if (url.protocol === "file:") return readFile(url);
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  return response.arrayBuffer();
}

// fetch() of Node does not read files.
async function readFile(url: URL): Promise<Uint8Array> {
  const { process } = globalThis as { process?: { getBuiltinModule(name: string): unknown } };
  const files = process?.getBuiltinModule("node:fs/promises") as {
    readFile(url: URL): Promise<Uint8Array>;
  };
  // Pyodide does not know Node's own class of bytes.
  return new Uint8Array(await files.readFile(url));
}
