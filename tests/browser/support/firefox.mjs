// Firefox, driven by Puppeteer over WebDriver BiDi.

import { createRequire } from "node:module";
import { join } from "node:path";

const kPath = "/usr/bin/firefox-esr";

/** Starts Firefox ESR, whose pages are Puppeteer's, with the Puppeteer that is installed in `folder`. */
export function startFirefox(folder) {
  const { launch } = createRequire(join(folder, "package.json"))("puppeteer-core");
  return launch({ browser: "firefox", executablePath: kPath });
}
