// The time from navigation to the end of the first training step, in Chromium with an empty cache, on networks of three speeds.

import { median } from "../clock.mjs";

const kContenders = {
  edgegrad: { program: "edgegrad", preloads: true },
  // Its build with threads cannot start its workers from a bundle.
  tfjs: { program: "tfjs_core", isIsolated: false },
  jax: { program: "jax" },
};

/** How the pages are built and served in further rows: what the ids of their rows and of their pages end with. */
const kOthers = [
  { end: "Alone", title: "without edgegrad/vite", of: ["edgegrad"], options: { preloads: false } },
  {
    end: "Brotli",
    title: "served with Brotli",
    of: Object.keys(kContenders),
    options: { encoding: "br" },
  },
];

const kPages = { ...kContenders };
for (const { end, of, options } of kOthers)
  for (const id of of) kPages[id + end] = { ...kContenders[id], ...options };

const kNetworks = [
  { id: "fast", title: "not limited", network: null },
  { id: "mobile", title: "10 Mbit/s, 40 ms", network: { megabits: 10, latency: 40 } },
  { id: "far", title: "10 Mbit/s, 150 ms", network: { megabits: 10, latency: 150 } },
  { id: "slow", title: "1.6 Mbit/s, 150 ms", network: { megabits: 1.6, latency: 150 } },
];

export default {
  name: "door",
  title: "Navigation to first training step in Chromium, MLP 784-128-10, built by Vite",
  contenders: ["edgegrad", "tfjs", "jax"],
  newestNodeOnly: true,
  rows: () =>
    kNetworks.flatMap(({ id, title }) => [
      { id, title, unit: "ms", better: "lower" },
      ...kOthers.map((other) => ({ id: id + other.end, title: other.title, unit: "ms" })),
    ]),

  /** Rounds over all programs, so that a disturbance affects all of them. */
  async measureAll(_, { quick }) {
    // Imported here, because Playwright is available only after `npm run bench` has installed it.
    const { noBrowser, startChromium } = await import("../../browser/support/chromium.mjs");
    if (noBrowser) return this.contenders.map((contender) => failed(contender, noBrowser));
    const { servePage, timeToFirstStep } = await import("../pages.mjs");
    const pages = {};
    const failures = {};
    for (const [id, { program, ...options }] of Object.entries(kPages)) {
      await servePage(program, options).then(
        (page) => {
          pages[id] = page;
        },
        (error) => {
          failures[id] = error.message.split("\n")[0];
        },
      );
    }
    const browser = await startChromium();
    const times = {};
    try {
      for (const { id: network, network: limits } of kNetworks) {
        for (let round = 0; round < (quick ? 3 : 7); ++round) {
          for (const id of Object.keys(pages)) {
            if (failures[id]) continue;
            await timeToFirstStep(browser, pages[id].url, limits).then(
              (time) => {
                times[id] ??= {};
                times[id][network] ??= [];
                times[id][network].push(time);
              },
              (error) => {
                failures[id] = error.message.split("\n")[0];
              },
            );
          }
        }
      }
    } finally {
      await browser.close();
      for (const page of Object.values(pages)) page.stop();
    }
    return this.contenders.map((contender) => ({
      contender,
      values: {
        ...medians(times[contender], ""),
        ...Object.assign({}, ...kOthers.map(({ end }) => medians(times[contender + end], end))),
      },
      errors: {},
      data: {},
      failure: failures[contender] ?? null,
    }));
  },
};

function medians(times = {}, suffix) {
  const entries = Object.entries(times).map(([id, all]) => [id + suffix, median(all)]);
  return Object.fromEntries(entries);
}

function failed(contender, failure) {
  return { contender, values: {}, errors: {}, data: {}, failure };
}
