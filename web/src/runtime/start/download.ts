// Downloading a build. Its script and its WebAssembly files are requested at the same time, and the core is compiled while it
// arrives: the script would only request a file once it runs, one round trip later.

import { kLoaders } from "../../files.js";
import type { ModuleFactory } from "../bridge/native.js";
import { nodeProcess } from "../host/node.js";
import type { Variant } from "./builds.js";
import { importAgain } from "./import_again.js";
import { Parts } from "./parts.js";
import { isHtml } from "./start_failure.js";
import type { WasmFiles } from "./wasm_files.js";

/** A build on its way. */
export interface Download {
  readonly script: Promise<{ readonly default: ModuleFactory }>;
  /** Whether the WebAssembly file is at the expected address. If not, the script requests the file that is beside it. */
  readonly isFound: Promise<boolean>;
  /** The compiled file; null if it was not found. */
  readonly compiled: Promise<WebAssembly.Module | null>;
  /** The other parts, if the file is only the core. */
  readonly parts: Parts | null;
}

const ahead = new Map<string, Download>();
const keyOf = (variant: Variant, { first }: WasmFiles) => `${variant} ${first}`;

/** Starts a download that a later call of takeDownload() with the same arguments returns. */
export function downloadAhead(variant: Variant, files: WasmFiles): void {
  const key = keyOf(variant, files);
  if (!ahead.has(key)) ahead.set(key, download(variant, files));
}

/** Returns the download of a build from these addresses. */
export function takeDownload(variant: Variant, files: WasmFiles): Download {
  const key = keyOf(variant, files);
  const started = ahead.get(key) ?? download(variant, files);
  // A failed download must not be used a second time.
  ahead.delete(key);
  return started;
}

function download(variant: Variant, { first, partAt }: WasmFiles): Download {
  const response = responseAt(first);
  const compiled = response.then((found) => (found === null ? null : compile(found)));
  const script = importAgain(kLoaders[variant]);
  const parts = partAt === null ? null : new Parts(partAt);
  parts?.downloadNeeded();
  // The start reports these errors.
  compiled.catch(() => undefined);
  script.catch(() => undefined);
  return { script, compiled, isFound: response.then((found) => found !== null), parts };
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
