// Yielding to the event loop. Timers would also work, but browsers delay nested ones by 4 ms.

const waiting: (() => void)[] = [];
let channel: MessageChannel | undefined;

/** Resolves in a later task of the event loop, so that pending work such as drawing a frame can run first. */
export function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === "function") setImmediate(resolve);
    else if (typeof MessageChannel === "function") postToSelf(resolve);
    else setTimeout(resolve, 0);
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
