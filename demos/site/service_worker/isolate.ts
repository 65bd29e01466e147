// The first script of every page. Threads need an isolated page. If the server sends no headers for that, this script registers the
// service worker, which adds them, and reloads the page.

import { kWorkerScript } from "./messages.js";

// In the state of the page's entry in the browser's history, which a reload keeps. (A page that becomes isolated changes its process, and
// in Chromium the processes do not see each other's changes of sessionStorage.)
const kReloaded = "isReloadedToBeIsolated";

async function isolate(script: URL): Promise<void> {
  const { [kReloaded]: isReloaded, ...state } = history.state ?? {};
  if (isReloaded) history.replaceState(state, "");
  // A browser may isolate no pages, or go around the worker because of a setting of its developer tools.
  if (crossOriginIsolated || isReloaded) return;
  await navigator.serviceWorker.register(script);
  await navigator.serviceWorker.ready;
  history.replaceState({ ...state, [kReloaded]: true }, "");
  location.reload();
}

if (isSecureContext && navigator.serviceWorker !== undefined) {
  const { src } = document.currentScript as HTMLScriptElement;
  isolate(new URL(kWorkerScript, src)).catch((error) => {
    // Browsers refuse service workers in private windows, for example; the demos work with one thread.
    console.info("This page is not isolated, and has no threads:", error);
  });
}
