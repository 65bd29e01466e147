// The worker's side of a page: the engine, and a loop that can be stopped and goes on.

import * as eg from "edgegrad";
import { keepCodesOfErrors } from "./thrown_code.js";

keepCodesOfErrors();

/** Starts the engine of this worker, with the GPU if that is the device. */
export async function startEngine(device: eg.Device): Promise<eg.RuntimeInfo> {
  await eg.init(device === "webgpu" ? { webgpu: "required" } : {});
  return eg.runtime();
}

// Between messages of the page at most this long.
const kBusyMs = 12;

/** Calls a step again and again until stop(), and lets messages of the page in between. */
export class Loop {
  #running = false;

  get running(): boolean {
    return this.#running;
  }

  /** Resolves when stop() was called or a step returned false. */
  async run(step: () => boolean | undefined | Promise<boolean | undefined>): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    try {
      let pause = performance.now() + kBusyMs;
      while (this.#running && (await step()) !== false) {
        if (performance.now() < pause) continue;
        await nextMessage();
        pause = performance.now() + kBusyMs;
      }
    } finally {
      this.#running = false;
    }
  }

  stop(): void {
    this.#running = false;
  }
}

/** Calls `report` at most once in `ms`, so that a page is told as often as it can draw. */
export function throttled<T>(ms: number, report: (value: T) => void): (value: T) => void {
  let next = 0;
  return (value) => {
    if (performance.now() < next) return;
    next = performance.now() + ms;
    report(value);
  };
}

const { port1, port2 } = new MessageChannel();

/** A turn of the event loop, without the 4 ms that timers wait. */
function nextMessage(): Promise<void> {
  return new Promise((resolve) => {
    port1.onmessage = () => resolve();
    port2.postMessage(null);
  });
}
