// The browsers used in one run of the checks.

import { ensurePackages } from "../../scripts/machine/apt.mjs";
import { startChromium } from "../browser/support/chromium.mjs";
import { startFirefox } from "../browser/support/firefox.mjs";
import { startWebKit } from "../browser/support/webkit.mjs";

const kStarts = {
  chromium: startChromium,
  firefox: startFirefox,
  webkit: startWebKit,
};
const kPackages = { chromium: "browser", firefox: "firefox", webkit: "webkit" };

/** Browsers, each of which is started when it is first used. */
export class Browsers {
  #started = new Map();

  start(name) {
    if (!this.#started.has(name)) this.#started.set(name, this.#start(name));
    return this.#started.get(name);
  }

  async versionOf(name) {
    const version = await (await this.start(name)).version();
    return /\d+\.\d+/.exec(version)[0];
  }

  async #start(name) {
    await ensurePackages(kPackages[name]);
    return kStarts[name]();
  }

  async close() {
    for (const { value } of await Promise.allSettled(this.#started.values())) await value?.close();
  }
}
