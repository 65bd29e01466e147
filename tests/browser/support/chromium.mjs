// Chromium, and what its pages say.

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
const kTimeout = 120_000;

/** Arguments of a Chromium that has WebGPU, on a renderer of its own. */
export const kWebGpu = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"];

const executablePath = kPaths.find((path) => existsSync(path));

/** Why tests in a browser cannot run here, or false. */
export const noBrowser = executablePath
  ? false
  : `no Chromium: none of ${kPaths.join(", ")} exists; apt-get install chromium`;

/** Starts Chromium, with more arguments where they are given. */
export function startChromium(more = []) {
  return chromium.launch({ executablePath, args: [...kArguments, ...more] });
}

/** Opens a page and returns the JSON that it writes into its body. */
export async function resultOf(browser, url) {
  const page = await browser.newPage();
  const messages = [];
  page.on("console", (message) => messages.push(message.text()));
  page.on("pageerror", (error) => messages.push(String(error)));
  try {
    await page.goto(url);
    const isReady = () => document.body?.textContent.startsWith("{");
    await page.waitForFunction(isReady, null, { timeout: kTimeout });
    return JSON.parse(await page.textContent("body"));
  } catch (error) {
    throw new Error(`${url}: ${error.message}\n${messages.join("\n")}`);
  } finally {
    await page.close();
  }
}
