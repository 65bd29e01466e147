// The demos of the site: how each starts, and how to tell that it has learned.

import { setTimeout as sleep } from "node:timers/promises";
import { kMost } from "../../support/until.mjs";

const kPause = 200; // ms

/** Those that need WebGPU. */
export const kWebGpuDemos = {
  colors: {
    // It watches the scene at once.
    learned: () => Number(document.getElementById("steps").textContent) >= 40,
  },
};

/** Pages that train what their visitor writes or records: the checks of the package and those without a network leave them out. */
export const kOwnMaterial = {
  sounds: {
    learned: () => document.getElementById("verdict").textContent !== "",
  },
  notebook: {
    start: () => document.getElementById("run-all").click(),
    learned: () =>
      /tensor\(|float32/.test(
        document.querySelector("#cells .cell:last-child [role=log]")?.innerText,
      ),
  },
};

/** The demos by name: where they are, how to start them and how to tell that they have learned; both functions run in the page. */
export const kDemos = {
  start: {
    path: "index.html",
    learned: () => /^2000 0\.0/m.test(document.querySelector("[role=log]")?.innerText),
  },
  digits: {
    start: anew("steps"),
    learned: () => Number.parseFloat(document.getElementById("accuracy").textContent) > 85,
  },
  gpt: {
    start: anew("step"),
    learned: () => Number.parseFloat(document.getElementById("held-out").textContent) < 3.5,
  },
  personalize: {
    start: async () => {
      while (document.querySelector("#example:enabled") === null) {
        await new Promise(requestAnimationFrame);
      }
      document.getElementById("example").click();
    },
    learned: () => document.getElementById("verdict").textContent !== "",
  },
  fine_tune: {
    start: anew("step"),
    learned: () =>
      document.getElementById("run").textContent === "Train" &&
      document.getElementById("samples").innerText.includes("I have read one book."),
  },
  backprop: {
    learned: () => document.querySelector("#graph .number")?.textContent !== undefined,
  },
  engine_room: {
    learned: () => document.querySelectorAll("#graph .node[data-state=done]").length > 5,
  },
  hogwild: {
    start: () => {
      document.getElementById("steps").value = "1000";
      document.querySelector("input[value='4']").click();
      document.getElementById("run").click();
    },
    learned: () =>
      document.getElementById("run").textContent === "Compare" &&
      document.querySelectorAll(".results tbody tr").length ===
        document.querySelectorAll("input[name=workers]:checked:enabled").length,
  },
  converter: {
    start: async () => {
      const ready = async (selector) => {
        while (document.querySelector(selector) === null) await new Promise(requestAnimationFrame);
        return document.querySelector(selector);
      };
      // The page opens its example.
      await ready("#example:enabled");
      (await ready("#opened:not([hidden]) #ten-digits")).click();
      await ready(".class:nth-child(10)");
      document.getElementById("learn").click();
    },
    learned: () => {
      const note = document.getElementById("lesson-note").textContent;
      return Number(/, (\d+) are recognized/.exec(note)?.[1]) > 40;
    },
  },
  playground: {
    start: anew("steps", "reset"),
    learned: () => Number.parseFloat(document.getElementById("accuracy").textContent) > 80,
  },
};

// Pages open with models that have learned: starts over, and trains from the first step. The texts of functions go to the page.
function anew(counter, button = "anew") {
  const start = async (counter, button) => {
    const until = async (isSo) => {
      while (!isSo()) await new Promise(requestAnimationFrame);
    };
    const isEnabled = (id) => document.querySelector(`#${id}:enabled`) !== null;
    await until(() => isEnabled(button));
    document.getElementById(button).click();
    await until(() => document.getElementById(counter).textContent === "0" && isEnabled("run"));
    document.getElementById("run").click();
  };
  return new Function(`return (${start})("${counter}", "${button}")`);
}

/** Opens a demo and trains until it has learned. */
export async function trainDemo(page, site, name) {
  const { start } = await openDemo(page, site, name);
  if (start) await page.evaluate(start);
  await untilLearned(page, name);
}

/** Opens a demo; resolves to how it starts when it can be started. */
export async function openDemo(page, site, name) {
  const demo = demoOf(name);
  const { path = `${name}/index.html` } = demo;
  await page.goto(site + path);
  // What is not needed at once waits for a sign of the visitor; WebKit's driver has no pointer.
  await page.evaluate(() => dispatchEvent(new Event("pointermove")));
  // The button is disabled until the engine is ready.
  await until(page, () => document.getElementById("run")?.disabled !== true);
  return demo;
}

/** Resolves when a demo shows that it has learned, which most do when they open. */
export function untilLearned(page, name) {
  return until(page, demoOf(name).learned);
}

function demoOf(name) {
  return kDemos[name] ?? kWebGpuDemos[name] ?? kOwnMaterial[name];
}

// Waits until a condition holds in the page; throws if the page shows an error.
async function until(page, condition) {
  const end = performance.now() + kMost;
  while (performance.now() < end) {
    const alert = await page.evaluate(
      () => document.querySelector("#alert:not([hidden])")?.textContent,
    );
    if (alert) throw new Error(`the page shows an error: ${alert}`);
    if (await page.evaluate(condition)) return;
    await sleep(kPause);
  }
  const text = await page.evaluate(() => document.querySelector("main").innerText);
  throw new Error(`after ${kMost / 1000} s the page shows:\n${text}`);
}
