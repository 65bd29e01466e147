// Yielding to the event loop. Timers would also work, but browsers delay nested ones by 4 ms.

import { setImmediate, setTimeout } from "./host.js";

// Elsewhere timers are not delayed, and a channel that one request has opened must not be used by another (Cloudflare Workers).
const isBrowser = typeof document === "object" || "importScripts" in globalThis;

const waiting: (() => void)[] = [];
let channel: MessageChannel | undefined;

/** Resolves in a later task of the event loop, so that pending work such as drawing a frame can run first. */
export function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    try {
      if (typeof setImmediate === "function") setImmediate(resolve);
      else if (isBrowser && typeof MessageChannel === "function") postToSelf(resolve);
      else setTimeout(resolve, 0);
    } catch {
      // Cloudflare Workers refuse timers while their script loads.
      resolve();
    }
  });
}

function postToSelf(resolve: () => void): void {
  channel ??= openChannel();
  waiting.push(resolve);
  channel.port2.postMessage(null);
}

function openChannel(): MessageChannel {
  const opened = new MessageChannel();
  opened.port1.onmessage = () => waiting.shift()?.();
  return opened;
}
