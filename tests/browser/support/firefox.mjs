// Firefox, driven by Puppeteer over WebDriver BiDi.

import { launch } from "puppeteer-core";

const kPath = "/usr/bin/firefox-esr";

/** Starts Firefox ESR, whose pages are Puppeteer's. */
export function startFirefox() {
  return launch({ browser: "firefox", executablePath: kPath });
}
