// The button on the first page of the docs that keeps all of them for visits without a network.

import { type Kept, kDocsList, kKeepDocs, kWorkerScript, type Progress } from "./messages.js";

const root = new URL("./", (document.currentScript as HTMLScriptElement).src);
const button = document.getElementById("keep-docs") as HTMLButtonElement;
const note = document.getElementById("keep-docs-note") as HTMLElement;

async function offer(): Promise<void> {
  const { bytes, files } = await (await fetch(new URL(kDocsList, root))).json();
  button.textContent = `Keep for visits without a network (${Math.round(bytes / 1e6)} MB)`;
  note.textContent = `${files.length.toLocaleString("en")} files; servers that compress send a fifth of it.`;
  button.hidden = false;
}

async function keep(): Promise<void> {
  button.disabled = true;
  try {
    await navigator.serviceWorker.register(new URL(kWorkerScript, root));
    const { active } = await navigator.serviceWorker.ready;
    await answered(active as ServiceWorker);
    note.textContent = "The guide and the reference also work without a network.";
  } catch (error) {
    note.textContent = `They are not kept: ${error}`;
    button.disabled = false;
  }
}

function answered(worker: ServiceWorker): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  worker.postMessage(kKeepDocs, [port2]);
  return new Promise((resolve, reject) => {
    port1.onmessage = ({ data }: MessageEvent<Progress | Kept>) => {
      if ("kept" in data) note.textContent = `${data.kept} of ${data.of} files …`;
      else if (data.isKept) resolve();
      else reject(data.reason);
    };
  });
}

if (navigator.serviceWorker !== undefined) {
  button.addEventListener("click", () => void keep());
  offer().catch(() => {
    // Without a network, the list and the button are of no use.
  });
}
