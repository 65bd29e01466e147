// The service worker of the site. It sends every page with the headers that threads require, and the pages of the docs that were
// visited, or all of them after a press of their button, also without a network. Once a page asks for it, it keeps the files of the demos, which the build lists, and
// then all demos work without a network. One worker does both, because a folder can have only one: two would replace each other.

import { copyResponse } from "workbox-core/copyResponse.js";
import type { WorkboxPlugin } from "workbox-core/types.js";
import { PrecacheController } from "workbox-precaching/PrecacheController.js";
import { PrecacheRoute } from "workbox-precaching/PrecacheRoute.js";
import { registerRoute } from "workbox-routing/registerRoute.js";
import { NetworkFirst } from "workbox-strategies/NetworkFirst.js";
import { NetworkOnly } from "workbox-strategies/NetworkOnly.js";
import { kIsolation } from "../../../scripts/isolation.mjs";
import { kRelaxedSimdModule } from "../../../web/src/runtime/start/builds.js";
import { type Kept, kDocsList, kKeep, kKeepDocs, kVisited, type Progress } from "./messages.js";

/** The files of the demos, written here by the build; a revision is null where the name already changes with the content. */
declare const kFiles: readonly { readonly url: string; readonly revision: string | null }[];

/** A hash of kFiles, written here by the build. */
declare const kVersion: string;

// The part of a service worker's global that is used here; the types of a page do not include it.
interface WorkerEvent {
  readonly type: string;
  waitUntil(work: Promise<unknown>): void;
}
declare const self: {
  skipWaiting(): Promise<void>;
  addEventListener(name: "install" | "activate", listener: (event: WorkerEvent) => void): void;
  addEventListener(name: "message", listener: (event: WorkerEvent & MessageEvent) => void): void;
  addEventListener(
    name: "fetch",
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
const files = new PrecacheController({ plugins: [isolating] });
files.addToCacheList(kFiles.filter(({ url }) => !url.includes(unused)));

// An empty cache says by its name that all files of this version are kept. Sites in other folders of the server share the names.
const completeVersions = `${files.strategy.cacheName}-complete-`;
const complete = `${completeVersions}${kVersion}`;

async function keep(event: WorkerEvent): Promise<void> {
  await files.install(event);
  await caches.open(complete);
}

// Whether files are kept, perhaps not all yet, perhaps of another version.
function isKeeping(): Promise<boolean> {
  return caches.has(files.strategy.cacheName);
}

// A version that replaces kept files gets its own first, and waits until the pages of the old one are closed, which may still load files
// of theirs.
self.addEventListener("install", (event) => {
  const install = async () => ((await isKeeping()) ? keep(event) : self.skipWaiting());
  event.waitUntil(install());
});

self.addEventListener("activate", (event) => {
  const removeOldFiles = async () => {
    if (await isKeeping()) await files.activate(event);
    const others = (await caches.keys()).filter((name) => name.startsWith(completeVersions));
    await Promise.all(
      others.filter((name) => name !== complete).map((name) => caches.delete(name)),
    );
  };
  event.waitUntil(removeOldFiles());
});

// Several pages may ask at the same time.
let keeping: Promise<Kept> | null = null;

self.addEventListener("message", (event) => {
  if (event.data !== kKeep) return;
  // The controller only stores what it fetches while it installs.
  const installing = {
    type: "install",
    waitUntil: (work: Promise<unknown>) => event.waitUntil(work),
  };
  keeping ??= keep(installing).then(
    () => ({ isKept: true }),
    (error) => {
      keeping = null;
      return { isKept: false, reason: String(error) };
    },
  );
  event.waitUntil(keeping.then((answer) => event.ports[0]?.postMessage(answer)));
});

// Requests at the same time, of two thousand.
const kAtOnce = 12;

async function keepDocs(tell: (progress: Progress) => void): Promise<void> {
  const answer = await fetch(kDocsList, { cache: "no-cache" });
  if (!answer.ok) throw new Error(`${kDocsList}: the server answered with status ${answer.status}`);
  const { files } = (await answer.json()) as { files: string[] };
  const cache = await caches.open(kVisited);
  const waiting = [...files];
  const takeOne = async () => {
    for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
      await cache.add(file);
      tell({ kept: files.length - waiting.length, of: files.length });
    }
  };
  await Promise.all(Array.from({ length: kAtOnce }, takeOne));
}

self.addEventListener("message", (event) => {
  if (event.data !== kKeepDocs) return;
  const tell = (answer: Progress | Kept) => event.ports[0]?.postMessage(answer);
  const done = keepDocs(tell).then(
    () => tell({ isKept: true }),
    (error) => tell({ isKept: false, reason: String(error) }),
  );
  event.waitUntil(done);
});

// The page "Server check" asks for what the server itself sends, with this mode of caching.
self.addEventListener("fetch", (event) => {
  if (event.request.cache === "no-store") event.stopImmediatePropagation();
});

// What was visited, and the docs if somebody asked for them; a page of the server replaces its copy.

const network = new NetworkOnly({ plugins: [isolating] });
registerRoute(new PrecacheRoute(files).match, async (options) =>
  ((await caches.has(complete)) ? files.strategy : network).handle(options),
);
registerRoute(
  ({ sameOrigin }) => sameOrigin,
  new NetworkFirst({ cacheName: kVisited, plugins: [isolating] }),
);
