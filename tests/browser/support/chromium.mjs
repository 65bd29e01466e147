// Chromium, driven by Playwright.

import { existsSync } from "node:fs";
import { chromium } from "playwright-core";
import { watchContext } from "../../support/failures.mjs";
import { kMost } from "../../support/until.mjs";

const kPaths = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
// A window loads a page of Chromium's own for its address bar, and a process for the next page: half of the CPU time of a test.
const kOwnPages = ["WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "SpareRendererForSitePerProcess"];
// What Playwright disables. Chromium obeys only the last list.
const kOfPlaywright = [
  "AimEnabled",
  "AvoidCorsURLLoaderRestartOnRedirect",
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "HttpsFirstBalancedModeAutoEnable",
  "HttpsUpgrades",
  "LensOverlay",
  "MediaRouter",
  "NetworkTimeServiceQuerying",
  "OptimizationHints",
  "PaintHolding",
  "TcpPortRandomizationWin",
  "ThirdPartyStoragePartitioning",
];
const kArguments = [
  `--disable-features=${[...kOwnPages, ...kOfPlaywright].join(",")}`,
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

/** The same, where a page also shows what WebGPU draws: without a screen, canvases need one renderer for both. */
export const kWebGpuCanvas = [
  ...kWebGpu,
  "--enable-features=Vulkan",
  "--use-vulkan=swiftshader",
  "--use-angle=swiftshader",
];

const executablePath = kPaths.find((path) => existsSync(path));

/** The reason why browser tests cannot run here, or false. */
export const noBrowser = executablePath
  ? false
  : `no Chromium: none of ${kPaths.join(", ")} exists; apt-get install chromium`;

/** Starts Chromium with optional additional arguments, and without some of those that Playwright adds. */
export async function startChromium(more = [], ignoreDefaultArgs = []) {
  const args = [...kArguments, ...more];
  const browser = await chromium.launch({ executablePath, args, ignoreDefaultArgs });
  browser.on("context", prepare);
  return browser;
}

/** Starts Chromium with an unpacked extension; `profile` is an empty folder. */
export async function startWithExtension(profile, extension) {
  const args = [`--disable-extensions-except=${extension}`, `--load-extension=${extension}`];
  const context = await chromium.launchPersistentContext(profile, {
    executablePath,
    args: [...kArguments, ...args],
  });
  prepare(context);
  return context;
}

function prepare(context) {
  context.setDefaultTimeout(kMost);
  watchContext(context);
}
