// An extension with manifest version 3: its page trains with threads, its service worker on one.

import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { noBrowser, startWithExtension } from "./support/chromium.mjs";
import { assertLosses } from "./support/losses.mjs";
import { resultOf } from "./support/pages.mjs";
import { makeProject } from "./support/project.mjs";

describe("an extension", { skip: noBrowser }, () => {
  let project;
  let profile;
  let browser;

  before(async () => {
    project = makeProject();
    profile = mkdtempSync(join(tmpdir(), "edgegrad-profile-"));
    const extension = join(project.folder, "extension");
    cpSync(join(project.folder, "node_modules/edgegrad/dist"), join(extension, "edgegrad"), {
      recursive: true,
    });
    // The page and the service worker import different entries, so the program gets the package as an argument.
    const train = readFileSync(join(project.folder, "train.js"), "utf8");
    const text = train.replace(/^import .*$/m, "").replace("train()", "train(eg)");
    writeFileSync(join(extension, "train.js"), text);
    browser = await startWithExtension(profile, extension);
  });
  after(async () => {
    await browser?.close();
    project?.remove();
    rmSync(profile, { recursive: true, force: true });
  });

  test("trains in its page with threads, and in its service worker", async () => {
    const [worker = await browser.waitForEvent("serviceworker")] = browser.serviceWorkers();
    const result = await resultOf(browser, new URL("page.html", worker.url()).href);
    assert.equal(result.error, undefined);
    assert.equal(result.page.threads, 2);
    assert.notEqual(result.page.variant, "single");
    assertLosses(result.page.losses);
    assert.equal(result.background.error, undefined);
    assert.equal(result.background.variant, "single");
    assertLosses(result.background.losses);
  });
});
