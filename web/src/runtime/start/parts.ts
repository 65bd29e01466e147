// The parts in which a page loads the engine (scripts/split/README.md explains how they are made). The core arrives first, with the
// parts that the program's modules ask for; init() does not wait for the others, which are loaded once it has resolved. An op that
// needs a part sooner loads it synchronously (bindings/parts.js).

import type { NativeModule } from "../bridge/native.js";
import { EdgeGradError } from "../errors/errors.js";
import { nodeFiles, nodeProcess } from "../host/node.js";
import { pathOf } from "./paths.js";

// `npm run generate` writes both lists (scripts/split/parts.mjs).

/** The parts besides the core, by their numbers in the core. No part needs code of the last one. */
export const kParts = ["layers", "conv", "attention", "extras", "rest"] as const;

/** A part besides the core. */
export type Part = (typeof kParts)[number];

/** The parts that share code with each other; "layers" has that code. */
const kSharing: readonly Part[] = ["attention", "extras"];

const needed = new Set<Part>();

/** Returns the parts that a module with ops in `part` needs. The code that convolutions share with others is in the core. */
export function withShared(part: Part): readonly Part[] {
  return kSharing.includes(part) ? ["layers", part] : [part];
}

/** Called on import by modules whose ops are in a part: init() then loads it together with the core. */
export function needsPart(part: Part): void {
  for (const other of withShared(part)) needed.add(other);
}

/** True where a part can be loaded in the middle of an op. Elsewhere the engine is loaded as one file. */
export function canLoadParts(): boolean {
  if (nodeProcess() !== undefined) return false;
  if (typeof XMLHttpRequest !== "function") return false;
  try {
    new WebAssembly.Module(kLargeModule());
    return true;
  } catch {
    return false;
  }
}

// Some browsers compile only modules of up to 4 kB synchronously on a page's main thread. This one has a custom section of 8 kB.
function kLargeModule(): Uint8Array<ArrayBuffer> {
  const module = new Uint8Array(8 + 3 + 8192);
  module.set([0, 97, 115, 109, 1, 0, 0, 0, 0, 0x80, 0x40]);
  return module;
}

type Bytes = Uint8Array<ArrayBuffer>;

interface PartDownload {
  readonly bytes: Promise<Bytes>;
  readonly controller: AbortController;
}

/** The parts of one engine. */
export class Parts {
  private readonly downloads = new Map<Part, PartDownload>();
  private isStopped = false;

  constructor(private readonly addressOf: (part: Part) => string) {}

  /** Starts to download the parts that the program's modules ask for. */
  downloadNeeded(): void {
    for (const part of needed) this.download(part).bytes.catch(() => undefined);
  }

  /** Adds those to a started module. */
  async addNeeded(module: NativeModule): Promise<void> {
    for (const part of kParts) if (needed.has(part)) await this.add(module, part);
  }

  /** Adds all other parts, each after those that it needs. */
  async addOthers(module: NativeModule): Promise<void> {
    const isMissing = (_: Part, number: number) => !module.hasPart?.(number);
    for (const part of kParts.filter(isMissing)) this.download(part).bytes.catch(() => undefined);
    for (const part of kParts) await this.add(module, part);
  }

  /** Returns the bytes of the part with this number, without waiting for an event. */
  readNow(number: number): Bytes {
    const part = kParts[number] as Part;
    const url = this.addressOf(part);
    // A browser might not answer a second request for the same file while this thread is busy.
    this.downloads.get(part)?.controller.abort();
    this.downloads.delete(part);
    const bytes = readFile(url) ?? requestNow(url);
    const controller = new AbortController();
    this.downloads.set(part, { bytes: Promise.resolve(bytes), controller });
    return bytes;
  }

  /** Ends all downloads. */
  stop(): void {
    this.isStopped = true;
    for (const { controller } of this.downloads.values()) controller.abort();
  }

  private async add(module: NativeModule, part: Part): Promise<void> {
    const number = kParts.indexOf(part);
    while (!this.isStopped && !module.hasPart?.(number)) {
      const { bytes, controller } = this.download(part);
      try {
        await module.addPart?.(number, await bytes);
      } catch (error) {
        // Then readNow() has the part by now.
        if (!controller.signal.aborted) throw error;
      }
    }
    this.downloads.delete(part);
  }

  private download(part: Part): PartDownload {
    const started = this.downloads.get(part);
    if (started !== undefined) return started;
    const controller = new AbortController();
    const begun = { bytes: request(this.addressOf(part), controller.signal), controller };
    this.downloads.set(part, begun);
    return begun;
  }
}

// Tests in Node load parts from files.
function readFile(url: string): Bytes | undefined {
  try {
    return nodeFiles()?.readFileSync(pathOf(url));
  } catch (error) {
    throw missing(url, `could not be read: ${(error as Error).message}`);
  }
}

async function request(url: string, signal: AbortSignal): Promise<Bytes> {
  const bytes = await nodeFiles()?.promises.readFile(pathOf(url), { signal });
  if (bytes !== undefined) return bytes;
  const response = await fetch(url, { credentials: "same-origin", signal });
  if (!response.ok) throw missing(url, `answered ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

function requestNow(url: string): Bytes {
  const request = new XMLHttpRequest();
  try {
    request.open("GET", url, false);
    // A synchronous request of a page's main thread can only receive text; in this encoding each byte is a character.
    request.overrideMimeType("text/plain; charset=x-user-defined");
    request.send();
  } catch (error) {
    throw missing(url, `could not be requested: ${(error as Error).message}`);
  }
  if (request.status !== 200) throw missing(url, `answered ${request.status}`);
  return Uint8Array.from(request.responseText, (character) => character.charCodeAt(0) & 255);
}

function missing(url: string, what: string): EdgeGradError {
  return new EdgeGradError(
    "Internal",
    `[init] the file ${url} of the engine ${what}. Serve all files of the package's folder dist/wasm together, or load ` +
      'everything before init() resolves with init({ preload: "all" }).',
  );
}
