// A test of pages that fails keeps what its pages showed, said and requested; one that passes keeps nothing.

import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { kRoot } from "../../scripts/process.mjs";
import { runNode } from "../js/support/child.mjs";
import { noBrowser } from "./support/chromium.mjs";

const kFailures = join(kRoot, "build", "failures");
const kPng = Buffer.from("89504e470d0a1a0a", "hex");

const suite = (support) => `
  import assert from "node:assert/strict";
  import { after, before, describe, test } from "node:test";
  import { startChromium } from ${JSON.stringify(support)};

  describe("pages", () => {
    let browser;
    before(async () => {
      browser = await startChromium();
    });
    after(() => browser.close());

    async function open(name) {
      const page = await browser.newPage();
      await page.route("**/*", (route) =>
        route.request().url().endsWith("/" + name)
          ? route.fulfill({ contentType: "text/html", body: "<h1>" + name + "</h1><script src='missing.js'></script>" })
          : route.fulfill({ status: 404 }),
      );
      await page.goto("http://localhost/" + name);
      await page.evaluate((name) => console.log(name + " is here"), name);
      return page;
    }

    test("passes", async () => (await open("good")).close());

    test("is wrong / once", async () => {
      await (await open("closed")).close();
      const page = await open("bad");
      const thrown = page.waitForEvent("pageerror");
      await page.evaluate(() => queueMicrotask(() => { throw new Error("of the page"); }));
      await thrown;
      assert.equal(await page.textContent("h1"), "better");
    });

    test("is wrong again", async () => {
      await open("other");
      assert.fail();
    });
  });
`;

describe("a test of pages that fails", { skip: noBrowser }, () => {
  let folder;
  let kept;
  let output;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "edgegrad-failing-"));
    const file = join(folder, "failing.test.mjs");
    writeFileSync(file, suite(new URL("./support/chromium.mjs", import.meta.url).href));
    const { NODE_TEST_CONTEXT, ...env } = process.env;
    const { stdout } = await runNode(["--test", "--test-reporter=spec", file], { env });
    output = stdout;
    kept = readdirSync(kFailures).filter((name) => name.includes(basename(folder)));
  });
  after(() => {
    rmSync(folder, { recursive: true });
    for (const name of kept) rmSync(join(kFailures, name), { recursive: true });
  });

  const folderOf = (test) => {
    const name = kept.find((one) => one.endsWith(`-pages_${test}`));
    assert.ok(name, `${kept}\n${output}`);
    return join(kFailures, name);
  };

  test("keeps a picture, the console, the requests and a trace of each page", () => {
    const files = folderOf("is_wrong_once");
    const read = (name) => readFileSync(join(files, name));
    assert.match(String(read("context_1-console.txt")), /log: closed is here/);
    assert.match(
      String(read("context_2-console.txt")),
      /log: bad is here[\s\S]*Error: of the page/,
    );
    assert.match(String(read("context_2-network.txt")), /200 GET .*bad\n.* 404 GET .*missing\.js/);
    assert.deepEqual(read("context_2-page_1.png").subarray(0, kPng.length), kPng);
    assert.equal(String(read("context_2-trace.zip").subarray(0, 2)), "PK");
  });

  test("has nothing of tests before it", () => {
    const files = readdirSync(folderOf("is_wrong_again"));
    assert.ok(files.length > 0 && files.every((name) => name.startsWith("context_1-")));
    assert.match(
      readFileSync(join(folderOf("is_wrong_again"), "context_1-console.txt"), "utf8"),
      /log: other is here/,
    );
  });

  test("says where that is, and others keep nothing", () => {
    assert.equal(kept.length, 2);
    const places = [...output.matchAll(/its pages are in (\S+)/g)].map(([, place]) => place);
    assert.ok(places.length >= 2 && places.every((place) => existsSync(join(kRoot, place))));
  });
});
