// The service worker of the site: after one visit all demos work without a network. It keeps the files of the demos, which the
// build lists, and the pages of the docs that were visited. What it sends has the headers that threads require.

import { copyResponse } from "workbox-core/copyResponse.js";
import type { WorkboxPlugin } from "workbox-core/types.js";
import { addPlugins } from "workbox-precaching/addPlugins.js";
import { cleanupOutdatedCaches } from "workbox-precaching/cleanupOutdatedCaches.js";
import { precacheAndRoute } from "workbox-precaching/precacheAndRoute.js";
import { registerRoute } from "workbox-routing/registerRoute.js";
import { NetworkFirst } from "workbox-strategies/NetworkFirst.js";
import { kIsolation } from "../../../scripts/isolation.mjs";
import { kRelaxedSimdModule } from "../../../web/src/runtime/variant.js";

/** The files of the demos, written here by the build; a revision is null where the name already changes with the content. */
declare const kFiles: readonly { readonly url: string; readonly revision: string | null }[];

// The part of a service worker's global that is used here; the types of a page do not include it.
declare const self: {
  readonly registration: ServiceWorkerRegistration;
  skipWaiting(): Promise<void>;
  addEventListener(
    name: "install" | "fetch",
    listener: (event: Event & { readonly request: Request }) => void,
  ): void;
};

const isolating: WorkboxPlugin = {
  async handlerWillRespond({ response }) {
    // A redirect of a page, which only the browser can follow, cannot be copied.
    if (response.type === "opaqueredirect") return response;
    return copyResponse(response, (parts) => {
      const headers = new Headers(parts.headers);
      for (const [name, value] of Object.entries(kIsolation)) headers.set(name, value);
      return { ...parts, headers };
    });
  },
};

// Of the two builds with threads, a browser only ever loads one.
const unused = WebAssembly.validate(kRelaxedSimdModule) ? "edgegrad-simd" : "edgegrad-relaxed";

// The page "Server check" asks for what the server itself sends, with this mode of caching.
self.addEventListener("fetch", (event) => {
  if (event.request.cache === "no-store") event.stopImmediatePropagation();
});

// On a server without headers, a worker that only adds them is at work already and need not be waited for. A worker that keeps files
// is: its pages may still load files of their version.
self.addEventListener("install", () => {
  if (self.registration.active?.scriptURL.endsWith("/coi-serviceworker.js")) self.skipWaiting();
});

addPlugins([isolating]);
precacheAndRoute(kFiles.filter(({ url }) => !url.includes(unused)));
cleanupOutdatedCaches();
registerRoute(
  ({ sameOrigin }) => sameOrigin,
  new NetworkFirst({ cacheName: "visited", plugins: [isolating] }),
);
