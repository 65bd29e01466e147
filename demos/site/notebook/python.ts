// Python for the notebook, as the page sees it: where its files are, how it is interrupted, and that it works without a network afterwards.

import { bytes, folder, names } from "virtual:python-files";
import { wheelUrl } from "edgegrad/pyodide";
import { kVisited } from "../service_worker/messages.js";
import type { PythonRequest } from "../shared/code/code_messages.js";

const kInterrupt = 2; // SIGINT

/** Python in the worker of a notebook. */
export class Python {
  readonly #address = new URL(folder, siteAddress()).href;
  readonly #interrupt = globalThis.crossOriginIsolated ? new SharedArrayBuffer(1) : null;

  /** What the worker needs for a cell. */
  get request(): PythonRequest {
    const { href: wheel } = wheelUrl();
    return { folder: this.#address, bytes, wheel, interrupt: this.#interrupt };
  }

  /** Raises KeyboardInterrupt in the cell that runs; returns whether that is possible. */
  interrupt(): boolean {
    if (this.#interrupt === null) return false;
    new Uint8Array(this.#interrupt)[0] = kInterrupt;
    return true;
  }

  /** Keeps what the service worker has not seen, because it started after Python did. */
  async keep(): Promise<void> {
    if (!import.meta.env.PROD || navigator.serviceWorker?.controller !== null) return;
    if ((await navigator.serviceWorker.getRegistration()) === undefined) return;
    try {
      const cache = await caches.open(kVisited);
      for (const address of [...names.map((name) => this.#address + name), wheelUrl().href]) {
        if ((await cache.match(address)) === undefined) await cache.add(address);
      }
    } catch (error) {
      console.info("Python is not kept for visits without a network:", error);
    }
  }
}

// The site's folder, which the head of every page has.
function siteAddress(): string {
  return document.querySelector<HTMLLinkElement>("link[rel=manifest]")?.href ?? location.href;
}
