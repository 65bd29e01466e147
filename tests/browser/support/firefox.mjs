// Firefox ESR, driven by Puppeteer over WebDriver BiDi.

import { existsSync } from "node:fs";
import { launch } from "puppeteer-core";

const kPath = "/usr/bin/firefox-esr";

/** Why tests in Firefox cannot run here, or false. */
export const noFirefox = existsSync(kPath)
  ? false
  : `no Firefox: ${kPath} does not exist; apt-get install firefox-esr`;

/** Starts Firefox, whose pages are Puppeteer's. */
export function startFirefox() {
  return launch({ browser: "firefox", executablePath: kPath });
}
