// The Federated page: four devices in one page, and two browsers with a server and a coordinator.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { after, before, describe, test } from "node:test";
import { noBrowser } from "../browser/support/chromium.mjs";
import { kRoot } from "../js/support/files.mjs";
import { soon, until } from "../support/until.mjs";
import { openPage, startSite, untilNumber, untilText } from "./support/site.mjs";

const kPage = "federated/index.html";
// A device that has two of eight digits cannot recognize more than a quarter of all, or little more by chance.
const kMostAlone = 35;

describe("the Federated page", { skip: noBrowser }, () => {
  let site;
  let browser;
  before(async () => {
    site = await startSite();
    ({ browser } = site);
  });
  after(() => site?.stop());

  const devicesOf = (page) =>
    page.locator("#devices tr").evaluateAll((rows) =>
      rows.map((row) => {
        const [, digits, alone, rounds] = [...row.cells].map((cell) => cell.textContent);
        return { digits, alone: Number.parseFloat(alone), rounds: Number(rounds) };
      }),
    );

  for (const choices of [[], ["#secure"], ["#compressed"]]) {
    test(`four devices learn more together than alone ${choices}`, async () => {
      const { page, problems, close } = await openPage(browser, site.isolated + kPage);
      await page.selectOption("#rounds", "20");
      for (const choice of choices) await page.check(choice);
      await page.click("#run");
      await untilNumber(page, "#round", 20);
      await untilText(page, "#run", /^Learn together$/);
      const together = Number.parseFloat(await page.textContent("#together"));
      const devices = await devicesOf(page);
      assert.deepEqual(
        devices.map(({ digits }) => digits),
        ["0, 1", "2, 3", "4, 5", "6, 7"],
      );
      for (const { alone, rounds } of devices) {
        assert.ok(alone < kMostAlone, `${alone} %`);
        assert.ok(rounds >= 18, `${rounds} rounds`);
      }
      assert.ok(together > 1.5 * kMostAlone, `${together} %`);
      assert.deepEqual(problems, []);
      await close();
    });
  }

  test("a device that is switched off is left out, and the run can be stopped", async () => {
    const { page, problems, close } = await openPage(browser, site.isolated + kPage);
    await page.selectOption("#rounds", "300");
    await page.click("#run");
    await untilNumber(page, "#round", 2);
    await page.uncheck("#device-4 input");
    await untilText(page, "#bytes", /^3 devices/);
    await page.check("#device-4 input");
    await untilText(page, "#bytes", /^4 devices/);
    await page.click("#run");
    await untilText(page, "#run", /^Learn together$/);
    assert.deepEqual(problems, []);
    await close();
  });

  test("two browsers take part in the run of npm run federated:browsers", async () => {
    const program = [`${kRoot}scripts/federated_browsers.mjs`, "--rounds", "3"];
    const child = spawn(process.execPath, program, { stdio: ["ignore", "pipe", "inherit"] });
    const exit = once(child, "exit");
    try {
      const lines = [];
      createInterface(child.stdout).on("line", (line) => lines.push(line));
      const url = await until(
        () => `address in:\n${lines.join("\n")}`,
        () => lines.find((line) => line.startsWith("http")),
      );
      const pages = await Promise.all([url, url].map((one) => openPage(browser, one)));
      for (const [i, { page }] of pages.entries()) {
        await page.selectOption("#device", String(i));
        await page.click("#join");
      }
      for (const { page, problems } of pages) {
        await untilText(page, "#joined", /the run has ended/);
        assert.match(await page.textContent("#joined"), /^round 3: \d+\.\d %/);
        assert.deepEqual(problems, []);
      }
      await soon("end of the program", exit);
      assert.equal(lines.filter((line) => /^round \d of 3: 2 browsers, loss/.test(line)).length, 3);
      await Promise.all(pages.map(({ close }) => close()));
    } finally {
      child.kill();
    }
  });

  test("says so if there is no server, and can try again", async () => {
    const query = "?server=ws://localhost:1&run=none";
    const { page, close } = await openPage(browser, site.isolated + kPage + query);
    assert.ok(await page.isHidden("#run"));
    await page.click("#join");
    await page.waitForSelector("text=/cannot connect to ws:..localhost:1: .*answer/");
    assert.ok(await page.isEnabled("#join"));
    await close();
  });
});
