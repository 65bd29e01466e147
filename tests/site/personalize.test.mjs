// The Personalize page: things from drawings, from files and from a camera are told apart, and what was learned is saved and opened.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { noBrowser } from "../browser/support/chromium.mjs";
import { openPage, startSite, untilText } from "./support/site.mjs";

const kPage = "personalize/index.html";
const kCamera = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"];

describe("the Personalize page", { skip: noBrowser }, () => {
  let site;
  let folder;
  before(async () => {
    site = await startSite(kCamera);
    folder = mkdtempSync(join(tmpdir(), "edgegrad-pictures-"));
  });
  after(async () => {
    await site?.stop();
    rmSync(folder, { recursive: true });
  });

  const open = async (kind = "isolated") => {
    const opened = await openPage(site.browser, site[kind] + kPage);
    await opened.page.waitForSelector("#example:enabled");
    return opened;
  };

  for (const kind of ["isolated", "plain"]) {
    test(`tells drawn things apart, and knows them after a reload, ${kind}`, async () => {
      const { page, problems, close } = await open(kind);
      assert.match(await page.textContent("#measured"), /in 512 new ones, the color .* 9\d %/);
      await untilText(page, "#learned", /^Learned 30 pictures of 3 things/);
      const share = Number(/, (\d+) % are recognized/.exec(await page.textContent("#learned"))[1]);
      assert.ok(share >= 80, `${share} %`);
      const verdict = /^(fish|leaf|cup), \d+ % sure$/;
      await untilText(page, "#verdict", verdict);
      assert.equal(await page.locator("#prediction progress").count(), 3);
      await page.click("#another");
      await untilText(page, "#verdict", verdict);
      // Learning again keeps what is shown of the picture.
      await page.evaluate(() => {
        globalThis.firstBar = document.querySelector("#prediction progress");
      });
      await page.click("#learn");
      await untilText(page, "#learned", /^Learning/);
      await untilText(page, "#learned", /^Learned 30 pictures/);
      assert.ok(await page.evaluate(() => globalThis.firstBar.isConnected));
      const saved = page.waitForEvent("download");
      await page.getByRole("button", { name: "Weights (safetensors)" }).click();
      const file = join(folder, `${kind}.safetensors`);
      await (await saved).saveAs(file);

      await page.reload();
      await page.waitForSelector("#open:enabled");
      writeFileSync(join(folder, "other.safetensors"), "no file of this page");
      await page.setInputFiles("#file", join(folder, "other.safetensors"));
      await untilText(page, "#problem", /./);
      await page.setInputFiles("#file", file);
      await untilText(page, "#learned", /^It knows fish, leaf, cup\.$/);
      assert.ok(await page.isHidden("#problem"));
      assert.deepEqual(problems, []);
      await close();
    });
  }

  test("learns pictures from files, and says what is missing", async () => {
    const { page, problems, close } = await open();
    await page.click("#own");
    await page.click("#learn");
    await untilText(page, "#problem", /pictures in at least two classes/);
    const colors = { red: "#d02020", blue: "#2030d0" };
    for (const [i, [name, color]] of Object.entries(colors).entries()) {
      const files = [];
      for (let n = 0; n < 4; n++) files.push(await pictureFile(page, `${name}${n}`, color, n));
      await page.locator(".class input[type=text]").nth(i).fill(name);
      await page.locator(".class input[type=file]").nth(i).setInputFiles(files);
      await untilText(page, `.class:nth-child(${i + 1}) .number`, /^4 pictures$/);
    }
    await page.click("#learn");
    await untilText(page, "#learned", /^Learned 8 pictures of 2 things .* 100 % are recognized\.$/);
    await page.setInputFiles("#picture", await pictureFile(page, "new", colors.blue, 7));
    await untilText(page, "#verdict", /^blue, \d+ % sure$/);
    writeFileSync(join(folder, "text.png"), "no picture");
    await page.setInputFiles("#picture", join(folder, "text.png"));
    await untilText(page, "#problem", /^text\.png is no picture that this browser can read\.$/);
    assert.deepEqual(problems, []);
    await close();
  });

  test("learns from a camera, and predicts while it is on", async () => {
    const { page, problems, close } = await open();
    await page.evaluate(paintedCamera);
    await page.click("#camera");
    await page.waitForSelector("#video:not([hidden])");
    for (const [i, color] of ["red", "blue"].entries()) {
      await showToCamera(page, color);
      await page.locator(".class .make").nth(i).click();
      await untilText(page, `.class:nth-child(${i + 1}) .number`, /^10 pictures$/);
    }
    await page.click("#learn");
    await untilText(
      page,
      "#learned",
      /^Learned 20 pictures of 2 things .* 100 % are recognized\.$/,
    );
    const mostlyFirst = /thing 1(9\d|100) %thing 2\d %/;
    const mostlySecond = /thing 1\d %thing 2(9\d|100) %/;
    await untilText(page, "#prediction", mostlySecond);
    await showToCamera(page, "red");
    await untilText(page, "#prediction", mostlyFirst);
    await showToCamera(page, "blue");
    await untilText(page, "#prediction", mostlySecond);
    await page.click("#camera");
    await page.waitForSelector("#video", { state: "hidden" });
    assert.equal(await page.textContent("#camera"), "Use the camera");
    assert.deepEqual(problems, []);
    await close();
  });

  for (const [name, problem] of [
    ["NotAllowedError", /^The camera is not allowed: allow it/],
    ["NotFoundError", /^There is no camera\./],
    ["NotReadableError", /^The camera is used by another program\./],
    [null, /needs https/],
  ]) {
    test(`offers files without a camera: ${name ?? "no https"}`, async () => {
      const { page, problems, close } = await open();
      await page.evaluate((name) => {
        const getUserMedia =
          name === null ? undefined : () => Promise.reject(new DOMException("refused", name));
        Object.defineProperty(navigator.mediaDevices, "getUserMedia", { value: getUserMedia });
      }, name);
      await page.click("#camera");
      await untilText(page, "#problem", problem);
      assert.match(await page.textContent("#problem"), /add pictures from files instead\.$/);
      assert.equal(await page.textContent("#camera"), "Use the camera");
      assert.deepEqual(problems, []);
      await close();
    });
  }

  // A disc of a color, somewhere in a picture.
  async function pictureFile(page, name, color, n) {
    const base64 = await page.evaluate(
      async ([color, n]) => {
        const canvas = document.createElement("canvas");
        [canvas.width, canvas.height] = [96, 64];
        const context = canvas.getContext("2d");
        context.fillStyle = "#d8d8d0";
        context.fillRect(0, 0, 96, 64);
        context.fillStyle = color;
        context.arc(40 + 2 * n, 32, 18 + n, 0, 7);
        context.fill();
        return canvas.toDataURL("image/png").split(",")[1];
      },
      [color, n],
    );
    const path = join(folder, `${name}.png`);
    writeFileSync(path, Buffer.from(base64, "base64"));
    return path;
  }
});

// Runs in the page: its camera, which is still asked for, films a thing of globalThis.thingColor that moves a little.
function paintedCamera() {
  globalThis.thingColor = "black";
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [640, 480];
  const context = canvas.getContext("2d");
  let shift = 0;
  const paint = () => {
    shift = (shift + 1) % 40;
    context.fillStyle = "white";
    context.fillRect(0, 0, 640, 480);
    context.fillStyle = globalThis.thingColor;
    context.fillRect(200 + shift, 150 + shift, 240, 180);
  };
  const ask = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
  navigator.mediaDevices.getUserMedia = async (wishes) => {
    for (const track of (await ask(wishes)).getTracks()) track.stop();
    setInterval(paint, 50); // timer: the frames of a camera
    return canvas.captureStream();
  };
}

// Resolves when the page's video has the color, red or blue, in its middle.
async function showToCamera(page, color) {
  await page.evaluate((color) => {
    globalThis.thingColor = color;
  }, color);
  await page.waitForFunction((color) => {
    const context = new OffscreenCanvas(640, 480).getContext("2d");
    context.drawImage(document.getElementById("video"), 0, 0);
    const [red, , blue] = context.getImageData(320, 240, 1, 1).data;
    return (color === "red" ? red - blue : blue - red) > 150;
  }, color);
}
