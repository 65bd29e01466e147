// Firefox ESR, driven by Puppeteer over WebDriver BiDi.

import { existsSync } from "node:fs";
import { launch } from "puppeteer-core";

const kPath = "/usr/bin/firefox-esr";

/** The reason why Firefox tests cannot run here, or false. */
export const noFirefox = existsSync(kPath)
  ? false
  : `no Firefox: ${kPath} does not exist; apt-get install firefox-esr`;

/** Starts Firefox; its pages are Puppeteer pages. */
export function startFirefox() {
  return launch({ browser: "firefox", executablePath: kPath });
}
