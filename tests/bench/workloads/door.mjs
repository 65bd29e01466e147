// The time from navigation to the end of the first training step, in Chromium with an empty cache, on networks of three speeds.

import { median } from "../clock.mjs";
import { resultOf } from "../contenders.mjs";

const kPrograms = { edgegrad: "edgegrad", tfjs: "tfjs_core", jax: "jax" };

const kNetworks = [
  { id: "fast", title: "not limited", network: null },
  { id: "mobile", title: "10 Mbit/s, 40 ms", network: { megabits: 10, latency: 40 } },
  { id: "slow", title: "1.6 Mbit/s, 150 ms", network: { megabits: 1.6, latency: 150 } },
];

export default {
  name: "door",
  title: "Navigation to first training step in Chromium, MLP 784-128-10, built by Vite",
  contenders: Object.keys(kPrograms),
  newestNodeOnly: true,
  rows: () => kNetworks.map(({ id, title }) => ({ id, title, unit: "ms", better: "lower" })),

  /** Rounds over all programs, so that a disturbance affects all of them. */
  async measureAll(_, { quick }) {
    // Imported here, because Playwright is available only after `npm run bench` has installed it.
    const { noBrowser, startChromium } = await import("../../browser/support/chromium.mjs");
    if (noBrowser) return this.contenders.map((id) => resultOf(id, {}, noBrowser));
    const { servePage, timeToFirstStep } = await import("../pages.mjs");
    const pages = {};
    const failures = {};
    const times = Object.fromEntries(this.contenders.map((id) => [id, {}]));
    const attempt = async (id, work) => {
      try {
        if (!failures[id]) await work();
      } catch (error) {
        failures[id] = error.message.split("\n")[0];
      }
    };
    for (const [id, program] of Object.entries(kPrograms))
      await attempt(id, async () => {
        pages[id] = await servePage(program);
      });
    const browser = await startChromium();
    try {
      for (const { id: network, network: limits } of kNetworks) {
        for (let round = 0; round < (quick ? 3 : 7); ++round) {
          for (const id of this.contenders)
            await attempt(id, async () => {
              times[id][network] ??= [];
              times[id][network].push(await timeToFirstStep(browser, pages[id].url, limits));
            });
        }
      }
    } finally {
      await browser.close();
      for (const page of Object.values(pages)) page.stop();
    }
    return this.contenders.map((id) => {
      const found = Object.entries(times[id]).filter(([, all]) => all.length > 0);
      const values = Object.fromEntries(found.map(([network, all]) => [network, median(all)]));
      return resultOf(id, values, failures[id]);
    });
  },
};
