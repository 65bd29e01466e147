// What a start that failed says. Browsers name the reason only in their console, so files that could not be used are requested once
// more: the answer tells what is wrong.

import { nodeProcess } from "../host/node.js";

/** A server that does not answer must not delay the error much. */
const kPatience = 3000; // ms

/** Returns what is wrong with a file that could not be loaded; undefined if that cannot be told. */
export async function faultOf(
  address: string | undefined,
  isWorker = false,
): Promise<string | undefined> {
  if (address === undefined || nodeProcess() !== undefined || typeof fetch !== "function") return;
  const signal = AbortSignal.timeout?.(kPatience) ?? null;
  try {
    const response = await fetch(address, { credentials: "same-origin", signal });
    return faultIn(response, address, isWorker);
  } catch (error) {
    if ((error as Error).name === "TimeoutError") return undefined;
    const isOffline = globalThis.navigator?.onLine === false;
    const why = isOffline ? "this device is offline" : (error as Error).message;
    return `${address} cannot be fetched: ${why}`;
  }
}

function faultIn(response: Response, address: string, isWorker: boolean): string | undefined {
  const header = (name: string) => response.headers.get(name) ?? "";
  if (!response.ok)
    return `${address} answered ${response.status} ${response.statusText}`.trimEnd();
  if (isHtml(response)) return `${address} answered with an HTML page instead of the file`;
  const isOwn = new URL(response.url || address).origin === globalThis.origin;
  const isIsolated = /^(?:require-corp|credentialless)/.test(
    header("Cross-Origin-Embedder-Policy"),
  );
  if (isWorker && isOwn && globalThis.crossOriginIsolated === true && !isIsolated) {
    return `${address} is sent without the header Cross-Origin-Embedder-Policy: require-corp, which workers of this page need`;
  }
  return undefined;
}

/** True for an answer that is a page, as servers send it for addresses that they do not know. */
export function isHtml(response: Response): boolean {
  return (response.headers.get("Content-Type") ?? "").startsWith("text/html");
}

/** Returns the address in "Failed to fetch dynamically imported module: https://..." and messages like it. */
export function addressIn(message: string): string | undefined {
  return /imported module: (https?:\S+)/.exec(message)?.[1];
}

/** Returns the browser's own message, without Emscripten's additions for developers. */
export function plainReason(text: unknown): string {
  return String(text)
    .replace(/^(?:wasm streaming compile failed|failed to asynchronously prepare wasm): /, "")
    .replace(/^Aborted\((.*)\)\. Build with .*$/s, "$1")
    .replace(/\.$/, "");
}

/** True for a reason that is a lack of memory. */
export function isOfMemory(reason: string): boolean {
  return /out of memory|(?:could ?n[o']t|cannot|failed to) (?:allocate|create) /i.test(reason);
}

/** Returns what to do about a reason, also if the WebAssembly file has been passed to init(). */
export function adviceFor(reason: string, wasmModule: WebAssembly.Module | undefined): string {
  if (/unsafe-eval|Content Security Policy/.test(reason)) {
    return "Add 'wasm-unsafe-eval' to script-src in the page's content security policy.";
  }
  const isNode = nodeProcess() !== undefined;
  if (isOfMemory(reason)) {
    return isNode
      ? "Where address space is limited (ulimit -v), start Node with --disable-wasm-trap-handler; end other programs."
      : "Close other pages or programs, or pass a smaller memory: { maximum } or fewer threads.";
  }
  if (wasmModule !== undefined) return "wasmModule is not edgegrad's file of this version.";
  if (/code generation disallowed/i.test(reason)) {
    return "Import the .wasm file where this runtime compiles it ahead, and pass it as wasmModule.";
  }
  if (/\bimport\(\) is disallowed/.test(reason)) {
    return 'Import "edgegrad/single", which loads nothing later.';
  }
  if (/\bInvalid URL\b/.test(reason)) {
    return "The script does not know its own address: pass the .wasm file as wasmModule, or its location as wasmUrl.";
  }
  return `${isNode ? "Copy" : "Serve"} the package's folder dist/wasm beside its script, or pass its location as wasmUrl.`;
}
