// Downloading a build. Its script and its WebAssembly file are requested at the same time, and the file is compiled while it
// arrives: the script would only request it once it runs, one round trip later.

import { kLoaders, kWasmFiles } from "../files.js";
import { addressed } from "./address.js";
import type { Variant } from "./builds.js";
import type { ModuleFactory } from "./native.js";
import { nodeProcess } from "./node.js";
import { isHtml } from "./start_failure.js";

/** A build on its way. */
export interface Download {
  readonly script: Promise<{ readonly default: ModuleFactory }>;
  /** Whether the WebAssembly file is at the expected address. If not, the script requests the file that is beside it. */
  readonly isFound: Promise<boolean>;
  /** The compiled file; null if it was not found. */
  readonly compiled: Promise<WebAssembly.Module | null>;
}

const ahead = new Map<string, Download>();
const keyOf = (variant: Variant, url: string | undefined) => `${variant} ${url}`;

/** Starts a download that a later call of takeDownload() with the same arguments returns. */
export function downloadAhead(variant: Variant, url: string | undefined): void {
  const key = keyOf(variant, url);
  if (!ahead.has(key)) ahead.set(key, download(variant, url));
}

/** Returns the download of a build, from the address `url` of its WebAssembly file or by default from the package's folder. */
export function takeDownload(variant: Variant, url: string | undefined): Download {
  const key = keyOf(variant, url);
  const started = ahead.get(key) ?? download(variant, url);
  // A failed download must not be used a second time.
  ahead.delete(key);
  return started;
}

function download(variant: Variant, url: string | undefined): Download {
  const response = responseAt(url ?? addressed(kWasmFiles[variant]));
  const compiled = response.then((found) => (found === null ? null : compile(found)));
  const script = kLoaders[variant]();
  // The start reports these errors.
  compiled.catch(() => undefined);
  script.catch(() => undefined);
  return { script, compiled, isFound: response.then((found) => found !== null) };
}

// Null where the file is not there, or where files are read and not fetched: in Node, Deno and Bun.
async function responseAt(address: string | undefined): Promise<Response | null> {
  if (nodeProcess() !== undefined || address === undefined) return null;
  try {
    const response = await fetch(address, { credentials: "same-origin" });
    return response.ok ? response : null;
  } catch {
    return null;
  }
}

/** Compiles a response. */
export async function compile(response: Response): Promise<WebAssembly.Module> {
  const type = response.headers.get("Content-Type") ?? "";
  if (isHtml(response)) throw new Error("the server answered with an HTML page");
  // Streaming requires that the server declares the type of the file.
  if (type.startsWith("application/wasm")) return await WebAssembly.compileStreaming(response);
  return await WebAssembly.compile(await response.arrayBuffer());
}
