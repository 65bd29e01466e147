// The worker of a page: the engine, and a loop that can be stopped and resumed.

import * as eg from "edgegrad";
import { keepCodesOfErrors } from "./thrown_code.js";

keepCodesOfErrors();

/** Starts the engine of this worker, with the GPU if that is the device. */
export async function startEngine(device: eg.Device): Promise<eg.RuntimeInfo> {
  await eg.init(device === "webgpu" ? { webgpu: "required" } : {});
  return eg.runtime();
}

// The maximum time between handling messages of the page, in milliseconds.
const kBusyMs = 12;

/** Calls a step repeatedly until stop(), and handles messages of the page in between. */
export class Loop {
  #running = false;
  #stopped = () => {};

  get running(): boolean {
    return this.#running;
  }

  /** Calls the first step when `ready` resolves; resolves when stop() was called, also before that, or when a step returned false. */
  async run(
    step: () => boolean | undefined | Promise<boolean | undefined>,
    ready?: Promise<void>,
  ): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    try {
      const stopped = new Promise<void>((resolve) => {
        this.#stopped = resolve;
      });
      await Promise.race([ready, stopped]);
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
    this.#stopped();
  }
}

/** Calls `report` at most once per `ms`, so that a page is updated only as often as it can draw. */
export function throttled<T>(ms: number, report: (value: T) => void): (value: T) => void {
  let next = 0;
  return (value) => {
    if (performance.now() < next) return;
    next = performance.now() + ms;
    report(value);
  };
}

const { port1, port2 } = new MessageChannel();
port1.start();

/** Resolves after one turn of the event loop, in which messages of the page are handled, without the minimum of 4 ms of timers. */
export function nextMessage(): Promise<void> {
  return new Promise((resolve) => {
    port1.addEventListener("message", () => resolve(), { once: true });
    port2.postMessage(null);
  });
}
