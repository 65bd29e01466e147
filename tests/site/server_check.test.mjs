// The page that tells what a server sends: about the site's own server, and about others, which may refuse.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import { kIsolation } from "../../scripts/isolation.mjs";
import { noBrowser } from "../browser/support/chromium.mjs";
import { noSite } from "./support/pages.mjs";
import { openPage, startSite } from "./support/site.mjs";

const kPage = "server_check/index.html";
const kScript = Buffer.from("export const x = 1;\n".repeat(1000));
const kShared = { "Access-Control-Allow-Origin": "*" };
const kExposed = { ...kShared, "Access-Control-Expose-Headers": "*", "Timing-Allow-Origin": "*" };

// What the other server sends, by path.
const kAnswers = {
  "/closed.wasm": [{ "Content-Type": "application/wasm" }, kScript],
  "/best.wasm": [
    {
      ...kExposed,
      "Content-Type": "application/wasm",
      "Content-Encoding": "gzip",
      "Cache-Control": "max-age=31536000, immutable",
    },
    gzipSync(kScript),
  ],
  "/hidden.js": [
    { ...kShared, "Content-Type": "text/javascript", "Content-Encoding": "gzip", ...kIsolation },
    gzipSync(kScript),
  ],
  "/type.wasm": [
    { ...kExposed, "Content-Type": "application/octet-stream", "Cache-Control": "no-store" },
    kScript,
  ],
  "/start_page.wasm": [{ ...kShared, "Content-Type": "text/html" }, Buffer.from("<h1>404</h1>")],
  "/old.html": [
    { ...kExposed, ...kIsolation, "Content-Type": "text/html", "Cache-Control": "max-age=999999" },
    kScript,
  ],
};

async function startOther() {
  const server = createServer((request, response) => {
    if (request.url === "/dead.wasm") return request.socket.destroy();
    const [headers, body] = kAnswers[request.url] ?? [];
    if (body === undefined) return response.writeHead(404, kShared).end();
    // Without it an isolated page gets no answer whose content stays unread.
    response.writeHead(200, { "Cross-Origin-Resource-Policy": "cross-origin", ...headers });
    response.end(body);
  });
  await new Promise((resolve) => server.listen(0, "localhost", resolve));
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://localhost:${server.address().port}`, stop };
}

describe("the server check", { skip: noBrowser || noSite }, () => {
  let site;
  let other;
  before(async () => {
    [site, other] = await Promise.all([startSite(), startOther()]);
  });
  after(async () => {
    other?.stop();
    await site?.stop();
  });

  for (const [kind, isolation] of [
    ["isolated", { good: /^Cross-Origin-Opener-Policy: same-origin$/ }],
    ["plain", { bad: /^Cross-Origin-Opener-Policy: none\. Expected same-origin\. .*one thread/ }],
  ]) {
    test(`looks at the site's own page, script and engine first, ${kind}`, async () => {
      const { page, problems, close } = await openPage(site.browser, site[kind] + kPage);
      const [first, script, ...engine] = await answersOn(page);
      assert.equal(first.title, site[kind] + kPage);
      assertFinding(first, isolation);
      assertFinding(script, { good: /^Content-Type: text\/javascript$/ });
      assert.ok(engine.length > 0);
      for (const file of engine) {
        assert.match(
          file.title,
          kind === "isolated" ? /edgegrad-(?:relaxed|simd)/ : /edgegrad-single/,
        );
        assertFinding(file, { good: /^Content-Type: application\/wasm$/ });
        assertFinding(file, { better: /^Cache-Control: none\. .*immutable/ });
      }
      // The server of the tests does not compress.
      assertFinding(engine[0], {
        bad: /^Not compressed: [\d,]+ kB are sent.*npx edgegrad-compress/,
      });
      assert.deepEqual(problems, []);
      await close();
    });
  }

  for (const [path, ...findings] of [
    [
      "/best.wasm",
      { good: /^Content-Type: application\/wasm$/ },
      { better: /^Content-Encoding: gzip, 0\.\d of 20 kB are sent\. Brotli/ },
      { good: /^Cache-Control: max-age=31536000, immutable$/ },
    ],
    [
      "/hidden.js",
      { hidden: /^Content-Encoding is hidden from other origins\.$/ },
      { hidden: /^Cross-Origin-Embedder-Policy is hidden from other origins\.$/ },
    ],
    [
      "/type.wasm",
      { bad: /^Content-Type: application\/octet-stream\. Expected application\/wasm\. .*during/ },
      { bad: /^Not compressed/ },
      { bad: /^Cache-Control: no-store\. Every visit downloads/ },
    ],
    ["/start_page.wasm", { bad: /^Content-Type: text\/html\. .*A web page came instead/ }],
    [
      "/old.html",
      { good: /^Cross-Origin-Embedder-Policy: require-corp$/ },
      { bad: /^Cache-Control: max-age=999999\. Visitors keep an old page/ },
    ],
    ["/nothing.wasm", { bad: /^The server answers with status 404\.$/ }],
  ]) {
    test(`another server: ${path}`, async () => {
      const { page, close } = await openPage(site.browser, site.isolated + kPage);
      const answer = await check(page, other.url + path);
      for (const finding of findings) assertFinding(answer, finding);
      assert.match(answer.text, /curl -sI --compressed 'http:\/\/localhost/);
      await close();
    });
  }

  test("says plainly that a server does not let pages of other origins read, or that nothing came", async () => {
    const { page, close } = await openPage(site.browser, site.isolated + kPage);
    const closed = await check(page, `${other.url}/closed.wasm`);
    assert.match(
      closed.text,
      /The server answers, but does not allow this page to read the answer/,
    );
    assert.match(closed.text, /no Access-Control-Allow-Origin/);
    const dead = await check(page, `${other.url}/dead.wasm`);
    assert.match(dead.text, /no answer that this page may see.*browsers do not say which/);
    await close();
  });

  test("says what is no address", async () => {
    const { page, close } = await openPage(site.browser, site.isolated + kPage);
    await answersOn(page);
    for (const [text, message] of [
      ["", /^"" is no address\.$/],
      ["http://", /is no address/],
      ["file:///etc/hosts", /^file: addresses cannot be requested\.$/],
    ]) {
      await page.fill("#address", text);
      await page.press("#address", "Enter");
      assert.match(await page.textContent("#state"), message);
      assert.equal(await page.locator(".answer").count(), 0);
    }
    await close();
  });
});

async function check(page, address) {
  await answersOn(page);
  await page.fill("#address", address);
  await page.press("#address", "Enter");
  const [answer, ...others] = await answersOn(page);
  assert.deepEqual(others, []);
  return answer;
}

/** Returns the answers once the server has been asked for all: the address, the text, and the findings by verdict. */
async function answersOn(page) {
  await page.waitForSelector("#site:enabled");
  await page.waitForSelector(".answer");
  return page.locator(".answer").evaluateAll((cards) =>
    cards.map((card) => ({
      title: card.querySelector("h2").textContent,
      text: card.textContent,
      findings: Array.from(card.querySelectorAll("li"), (item) => [
        item.querySelector("[data-verdict]").dataset.verdict,
        item.lastChild.textContent,
      ]),
    })),
  );
}

function assertFinding({ title, findings }, wanted) {
  const [[verdict, pattern]] = Object.entries(wanted);
  const has = findings.some(([found, text]) => found === verdict && pattern.test(text));
  assert.ok(has, `${title} has not ${verdict} ${pattern}: ${JSON.stringify(findings)}`);
}
