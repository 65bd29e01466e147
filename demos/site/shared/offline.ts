// Keeps the demos for visits without a network, with a service worker (offline/worker.ts).

import { visitorIsHereOrReads } from "./visitor.js";

/** Starts keeping the demos when somebody is there and not before, because it takes time and data, and says in `note` how far that is. */
export async function keepDemos(note: HTMLElement): Promise<void> {
  if (!import.meta.env.PROD || navigator.serviceWorker === undefined || savesData()) return;
  await visitorIsHereOrReads();
  // The address of the site's folder, which the head of every page has.
  const root = document.querySelector<HTMLLinkElement>("link[rel=manifest]")?.href;
  const script = new URL("offline_worker.js", root);
  try {
    const registration = await navigator.serviceWorker.register(script);
    const worker = registration.installing ?? registration.waiting ?? registration.active;
    if (worker === null) return;
    const show = () => {
      // Before that, the worker that only isolates may still answer, which has no files.
      const isKept = registration.active?.scriptURL === script.href;
      note.textContent = worker.state === "redundant" ? "" : isKept ? kKept : kKeeping;
    };
    worker.addEventListener("statechange", show);
    show();
  } catch (error) {
    // Browsers refuse service workers in private windows, for example; the demos work without one.
    console.info("The demos are not kept for visits without a network:", error);
  }
}

const kKeeping = "Keeping the demos for visits without a network …";
const kKept = "The demos also work without a network.";

// Whoever asks for less data does not want 20 MB of digits and text.
function savesData(): boolean {
  const { connection } = navigator as { connection?: { saveData?: boolean } };
  return connection?.saveData === true;
}
