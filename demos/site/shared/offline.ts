// Keeps the demos for visits without a network, with the service worker (service_worker/worker.ts).

import { type Kept, kKeep, kWorkerScript } from "../service_worker/messages.js";
import { visitorIsHereOrReads } from "./visitor.js";

/** Starts keeping the demos when somebody is there and not before, because it takes time and data, and says in `note` how far that is. */
export async function keepDemos(note: HTMLElement): Promise<void> {
  if (!import.meta.env.PROD || navigator.serviceWorker === undefined || savesData()) return;
  await visitorIsHereOrReads();
  // The address of the site's folder, which the head of every page has.
  const root = document.querySelector<HTMLLinkElement>("link[rel=manifest]")?.href;
  try {
    await navigator.serviceWorker.register(new URL(kWorkerScript, root));
    const { active } = await navigator.serviceWorker.ready;
    if (active === null) return;
    note.textContent = "Keeping the demos for visits without a network …";
    const answer = await askToKeep(active);
    if (!answer.isKept) throw new Error(answer.reason);
    note.textContent = "The demos also work without a network.";
  } catch (error) {
    note.textContent = "";
    // Browsers refuse service workers in private windows, for example; the demos work without one.
    console.info("The demos are not kept for visits without a network:", error);
  }
}

function askToKeep(worker: ServiceWorker): Promise<Kept> {
  const { port1, port2 } = new MessageChannel();
  worker.postMessage(kKeep, [port2]);
  return new Promise((resolve) => {
    port1.onmessage = ({ data }) => resolve(data);
  });
}

// Whoever asks for less data does not want 20 MB of digits and text.
function savesData(): boolean {
  const { connection } = navigator as { connection?: { saveData?: boolean } };
  return connection?.saveData === true;
}
