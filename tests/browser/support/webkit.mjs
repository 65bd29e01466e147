// WebKitGTK's MiniBrowser, which uses Safari's engine, on a virtual screen; driven by WebDriver's HTTP requests.

import { spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../support/until.mjs";
import { freePort } from "./servers.mjs";

const kLibraries = "/usr/lib/x86_64-linux-gnu";
// WebKitGTK shares memory between threads, as Safari does, only with this option; and without a locale the language of pages is
// "C", which is not a language.
const kSurroundings = {
  JSC_useSharedArrayBuffer: "1",
  LANG: "en_US.UTF-8",
  LC_ALL: "en_US.UTF-8",
};

/** Starts WebKitGTK and returns { version, newPage, close }. It supports one page at a time. */
export async function startWebKit() {
  const screen = await startScreen();
  const port = await freePort();
  const env = { ...process.env, ...kSurroundings, DISPLAY: screen.display };
  const driver = spawn("WebKitWebDriver", [`--port=${port}`], { env, stdio: "ignore" });
  const stop = () => {
    driver.kill();
    screen.stop();
  };
  try {
    const request = requestsTo(`http://127.0.0.1:${port}`);
    await untilReady(request);
    const browser = { binary: miniBrowser(), args: ["--automation"] };
    const capabilities = { alwaysMatch: { "webkitgtk:browserOptions": browser } };
    const { sessionId, capabilities: has } = await request("POST", "/session", { capabilities });
    const session = `/session/${sessionId}`;
    return {
      version: () => has.browserVersion,
      newPage: async () =>
        new WebKitPage((method, path, body) => request(method, session + path, body)),
      close: async () => {
        await request("DELETE", session);
        stop();
      },
    };
  } catch (error) {
    stop();
    throw error;
  }
}

/** A page with those Playwright methods that WebDriver can support; it does not report console messages. */
class WebKitPage {
  constructor(request) {
    this.request = request;
  }

  on() {}

  goto(url) {
    return this.request("POST", "/url", { url });
  }

  /** Runs a function in the page and returns its result, awaited. */
  evaluate(fn, ...args) {
    const script = `const done = arguments[arguments.length - 1];
      Promise.resolve((${fn})(...Array.from(arguments).slice(0, -1))).then(done);`;
    return this.request("POST", "/execute/async", { script, args });
  }

  close() {
    return this.goto("about:blank");
  }
}

function requestsTo(address) {
  return async (method, path, body) => {
    const response = await fetch(address + path, { method, body: body && JSON.stringify(body) });
    const { value } = await response.json();
    if (!response.ok) throw new Error(`WebDriver: ${value.error}: ${value.message}`);
    return value;
  };
}

function untilReady(request) {
  let last = "";
  return until(
    () => `answer of WebKitWebDriver: ${last}`,
    async () => {
      try {
        const { ready } = await request("GET", "/status");
        return ready;
      } catch (error) {
        last = error.message;
        return false;
      }
    },
  );
}

// Xvfb selects a free display and prints its number.
function startScreen() {
  const child = spawn("Xvfb", ["-displayfd", "3"], {
    stdio: ["ignore", "ignore", "ignore", "pipe"],
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (status) => reject(new Error(`Xvfb ended with ${status}`)));
    child.stdio[3].once("data", (number) => {
      resolve({ display: `:${String(number).trim()}`, stop: () => child.kill() });
    });
  });
}

function miniBrowser() {
  const folder = readdirSync(kLibraries).find((name) => name.startsWith("webkit2gtk-4"));
  const path = join(kLibraries, folder ?? "", "MiniBrowser");
  if (!folder || !existsSync(path)) throw new Error("There is no MiniBrowser of WebKitGTK");
  return path;
}
