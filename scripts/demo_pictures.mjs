// npm run site:pictures: takes the pictures of the start page (demos/site/start/pictures) from the pages in build/site, as
// visitors find them. Run it when the look of a page has changed; `-- fine_tune gpt` takes those of some pages only.

import { join } from "node:path";
import { parseArgs } from "node:util";
import { ensureNodeModules } from "./machine/dependencies.mjs";
import { expected, kRoot, main, step } from "./process.mjs";

const kPictures = join(kRoot, "demos", "site", "start", "pictures");
// Text of 16 pixels is 10 pixels high in the pictures.
const kView = { width: 960, height: 600 };
const kScale = 2 / 3;
// What messengers show of a link to the site.
const kPreview = { page: "backprop/index.html#paths?step=14", width: 1200, height: 630 };

// The pages that are trained for their picture.
const kTrained = ["converter", "notebook"];

async function takePicture({ browser, isolated }, name, demos) {
  const page = await browser.newPage({
    viewport: kView,
    deviceScaleFactor: kScale,
    colorScheme: "light",
    serviceWorkers: "block",
  });
  if (kTrained.includes(name)) await demos.trainDemo(page, isolated, name);
  else if (name in demos.kDemos || name in demos.kWebGpuDemos) {
    await demos.openDemo(page, isolated, name);
    await demos.untilLearned(page, name);
  } else await page.goto(`${isolated}${name}/index.html`, { waitUntil: "networkidle" });
  // Scrolls past the title and controls to the contents of the page.
  await page.evaluate(() =>
    document.querySelector(".room, .cards, #opened, #answers, #lesson")?.scrollIntoView(),
  );
  await page.screenshot({ path: join(kPictures, `${name}.jpg`), type: "jpeg", quality: 72 });
  await page.close();
}

async function takePreview({ browser, isolated }) {
  const { page: address, ...viewport } = kPreview;
  const page = await browser.newPage({ viewport, colorScheme: "light", serviceWorkers: "block" });
  await page.goto(isolated + address);
  await page.locator("#graph .node").first().waitFor();
  await page.evaluate(() => document.querySelector("#lesson").scrollIntoView());
  const path = join(kRoot, "demos", "site", "public", "preview.jpg");
  await page.screenshot({ path, type: "jpeg", quality: 72 });
  await page.close();
}

await main(async () => {
  const { positionals } = parseArgs({ allowPositionals: true });
  const { kPages } = await import("../demos/site/pages.mjs");
  const all = kPages.filter(({ group }) => group !== "tools").map(({ name }) => name);
  const unknown = positionals.find((name) => !all.includes(name));
  if (unknown !== undefined) {
    throw expected(`there is no page "${unknown}"; the pages are ${all.join(", ")}`);
  }
  await ensureNodeModules();
  const demos = await import("../tests/site/support/demos.mjs");
  const { startSite } = await import("../tests/site/support/site.mjs");
  const { kWebGpuCanvas } = await import("../tests/browser/support/chromium.mjs");
  const site = await startSite(kWebGpuCanvas);
  try {
    const wanted = positionals.length > 0 ? all.filter((name) => positionals.includes(name)) : all;
    for (const name of wanted) await step(name, () => takePicture(site, name, demos));
    if (positionals.length === 0) await step("preview", () => takePreview(site));
  } finally {
    await site.stop();
  }
});
