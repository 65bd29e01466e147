// Going back to the event loop. A timer would do too, but browsers hold each one back for 4 ms.

const waiting: (() => void)[] = [];
let channel: MessageChannel | undefined;

/** Resolves when the event loop has come round: what waited there, a frame to draw for instance, has had its turn. */
export function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === "function") {
      setImmediate(resolve);
      return;
    }
    channel ??= openChannel();
    waiting.push(resolve);
    channel.port2.postMessage(null);
  });
}

function openChannel(): MessageChannel {
  const opened = new MessageChannel();
  opened.port1.onmessage = () => waiting.shift()?.();
  return opened;
}
