// Chromium, driven by Playwright.

import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

const kPaths = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const kArguments = [
  "--headless=new",
  "--no-sandbox",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** The arguments for a Chromium with WebGPU, which uses a software renderer. */
export const kWebGpu = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"];

const executablePath = kPaths.find((path) => existsSync(path));

/** The reason why browser tests cannot run here, or false. */
export const noBrowser = executablePath
  ? false
  : `no Chromium: none of ${kPaths.join(", ")} exists; apt-get install chromium`;

/** Starts Chromium with optional additional arguments, and without some of those that Playwright adds. */
export function startChromium(more = [], ignoreDefaultArgs = []) {
  return chromium.launch({ executablePath, args: [...kArguments, ...more], ignoreDefaultArgs });
}

/** Starts Chromium with an unpacked extension; `profile` is an empty folder. */
export function startWithExtension(profile, extension) {
  const args = [`--disable-extensions-except=${extension}`, `--load-extension=${extension}`];
  return chromium.launchPersistentContext(profile, {
    executablePath,
    args: [...kArguments, ...args],
  });
}
