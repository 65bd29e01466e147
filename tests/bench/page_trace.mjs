// Measures what Chromium fetches for a page: the server counts the bytes.

import { noBrowser, startChromium } from "../browser/support/chromium.mjs";
import { servePage, timeToFirstStep } from "./pages.mjs";

/**
 * Resolves to the bytes that Chromium fetches for a cross-origin isolated page until its program (in programs/) has
 * printed its time: { requests, bytes, byType: { ".js": bytes, ... } }.
 */
export async function fetchedByPage(program) {
  if (noBrowser) throw new Error(noBrowser);
  const { url, sent, stop } = await servePage(program);
  const browser = await startChromium();
  try {
    await timeToFirstStep(browser, url);
  } finally {
    await browser.close();
    stop();
  }
  const byType = {};
  for (const { type, bytes } of sent) byType[type] = (byType[type] ?? 0) + bytes;
  return { requests: sent.length, bytes: sent.reduce((sum, { bytes }) => sum + bytes, 0), byType };
}
