// The page of speeds: the history that npm run bench -- --record writes, by machine and workload.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { readHistory } from "../bench/report/history.mjs";
import { comparison, kTables } from "../bench/report/tables.mjs";
import { noBrowser } from "../browser/support/chromium.mjs";
import { openPage, startSite } from "./support/site.mjs";

const kPage = "speed/index.html";
const kResults = new URL("../bench/results.json", import.meta.url);
const results = JSON.parse(readFileSync(kResults, "utf8"));
const history = readHistory();
const newest = history.at(-1);
const machineOf = ({ cpu, cores, node }) => `${cpu}, ${cores} cores, Node ${node}`;
const noHistory = newest ? false : "nothing has been recorded";

/** Returns the entries of a workload on the machine of the newest run. */
const entriesOf = (bench) =>
  history.filter((one) => one.bench === bench && machineOf(one) === machineOf(newest));
const rowsOf = (entries) => [...new Set(entries.map(({ rowTitle }) => rowTitle))];

describe("the page of speeds", { skip: noBrowser }, () => {
  let site;
  let opened;
  before(async () => {
    site = await startSite();
    opened = await openPage(site.browser, site.isolated + kPage);
  });
  after(() => site?.stop());

  test("shows the figures that were measured last beside other libraries", async () => {
    const { page } = opened;
    const tables = page.locator("#comparisons table");
    assert.equal(await tables.count(), 2);
    for (const [i, name] of Object.keys(kTables).entries()) {
      const { header, rows } = comparison(name, results);
      const cells = await tables.nth(i).locator("th, td").allTextContents();
      assert.deepEqual(
        cells,
        [header, ...rows].flat().map((text) => text.replaceAll("`", "")),
      );
    }
  });

  test("begins with the newest run, a row and a chart for each row of it", {
    skip: noHistory,
  }, async () => {
    const { page } = opened;
    assert.equal(await page.inputValue("#machine"), machineOf(newest));
    assert.equal(await page.inputValue("#bench"), newest.bench);
    const titles = rowsOf(entriesOf(newest.bench));
    assert.deepEqual((await page.locator("#rows th").allTextContents()).sort(), titles.sort());
    await page.waitForFunction(
      (count) => document.querySelectorAll("#charts .uplot canvas").length === count,
      titles.length,
    );
    assert.match(
      await page.textContent("#about"),
      new RegExp(`commit ${newest.commit.slice(0, 10)}`),
    );
  });

  test("shows every workload that was recorded", { skip: noHistory }, async () => {
    const { page, problems } = opened;
    const there = await page
      .locator("#bench option")
      .evaluateAll((all) => all.map((one) => one.value));
    const machine = history.filter((one) => machineOf(one) === machineOf(newest));
    const expected = new Set(machine.map(({ bench }) => bench));
    assert.deepEqual(there.sort(), [...expected].sort());
    for (const bench of there) {
      await page.selectOption("#bench", bench);
      const last = entriesOf(bench).at(-1);
      const row = page.locator("#rows tr", { has: page.getByText(last.rowTitle, { exact: true }) });
      const cells = await row.locator("td").allTextContents();
      assert.equal(cells[0], `${last.ours.toLocaleString("en")} ${last.unit}`.trim());
      const best = Math[last.better === "higher" ? "max" : "min"](...Object.values(last.peers));
      if (Number.isFinite(best))
        assert.ok(cells[2].startsWith(best.toLocaleString("en")), cells[2]);
    }
    assert.deepEqual(problems, []);
  });

  test("draws the other libraries on request", { skip: noHistory }, async () => {
    const { page, problems } = opened;
    const untilLines = (count) =>
      page.waitForFunction(
        (count) => document.querySelectorAll("#charts .u-legend .u-series").length === count,
        count,
      );
    await page.selectOption("#bench", newest.bench);
    const rows = rowsOf(entriesOf(newest.bench));
    await untilLines(rows.length);
    await page.check("#peers");
    const others = rows.map((title) => {
      const entries = entriesOf(newest.bench).filter(({ rowTitle }) => rowTitle === title);
      return new Set(entries.flatMap(({ peers }) => Object.keys(peers))).size;
    });
    const more = others.reduce((sum, count) => sum + count, 0);
    await untilLines(rows.length + more);
    assert.deepEqual(problems, []);
  });

  test("says so where nothing was recorded", {
    skip: newest ? "something was" : false,
  }, async () => {
    assert.ok(await opened.page.isVisible("#empty"));
    assert.ok(await opened.page.isHidden("#latest"));
  });
});
