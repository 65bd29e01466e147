// The Sounds page: sounds that the page makes, from files and from a microphone are told apart, and what was learned is saved and opened.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { noBrowser } from "../browser/support/chromium.mjs";
import { noSite } from "./support/pages.mjs";
import { openPage, startSite, untilText } from "./support/site.mjs";

const kMicrophone = [
  "--use-fake-device-for-media-stream",
  "--use-fake-ui-for-media-stream",
  "--autoplay-policy=no-user-gesture-required",
];
const kRate = 16_000;

describe("the Sounds page", { skip: noBrowser || noSite }, () => {
  let site;
  let folder;
  before(async () => {
    site = await startSite(kMicrophone);
    folder = mkdtempSync(join(tmpdir(), "edgegrad-sounds-"));
  });
  after(async () => {
    await site?.stop();
    rmSync(folder, { recursive: true });
  });

  const open = async (kind = "isolated") => {
    const opened = await openPage(site.browser, `${site[kind]}sounds/index.html`);
    await opened.page.waitForSelector("#example:enabled");
    return opened;
  };

  for (const kind of ["isolated", "plain"]) {
    test(`tells sounds apart that it makes, and knows them after a reload, ${kind}`, async () => {
      const { page, problems, close } = await open(kind);
      await untilText(page, "#learned", /^Learned 36 examples of 3 sounds/);
      const share = Number(/, (\d+) % are recognized/.exec(await page.textContent("#learned"))[1]);
      assert.ok(share >= 90, `${share} %`);
      await untilText(page, "#verdict", /^(clap|whistle|silence), \d+ % sure$/);
      assert.equal(await page.locator("#prediction progress").count(), 3);
      assert.ok((await colorsOf(page)) > 20);
      await page.click("#another");
      await untilText(page, "#verdict", /^(clap|whistle|silence), \d+ % sure$/);
      await page.click("#play:enabled");
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
      await untilText(page, "#learned", /^It knows clap, whistle, silence\.$/);
      assert.ok(await page.isHidden("#problem"));
      assert.deepEqual(problems, []);
      await close();
    });
  }

  test("learns the sounds of files, and says what is missing", async () => {
    const { page, problems, close } = await open();
    await page.click("#own");
    await page.click("#learn");
    await untilText(page, "#problem", /^A lesson needs sounds in at least two classes\.$/);
    for (const [i, pitch] of [400, 2500].entries()) {
      const file = join(folder, `${pitch}.wav`);
      writeFileSync(file, wave(tones(pitch, 4)));
      await page.locator(".class input[type=file]").nth(i).setInputFiles(file);
      await untilText(page, `.class:nth-child(${i + 1}) .number`, /^4 sounds$/);
    }
    await page.click("#learn");
    await untilText(page, "#learned", /^Learned 8 examples of 2 sounds .* 100 % are recognized\.$/);
    writeFileSync(join(folder, "text.wav"), "no sound");
    await page.locator(".class input[type=file]").first().setInputFiles(join(folder, "text.wav"));
    await untilText(page, "#problem", /^text\.wav: no sounds that this browser can read\.$/);
    assert.deepEqual(problems, []);
    await close();
  });

  test("learns from a microphone, and predicts while it is on", async () => {
    const { page, problems, close } = await open();
    await page.evaluate(tonesAtMicrophone);
    await page.click("#microphone");
    await untilText(page, "#microphone", /^Stop/);
    for (const [i, pitch] of [500, 3000].entries()) {
      await page.evaluate((pitch) => globalThis.sing(pitch), pitch);
      await page.locator(".class .make").nth(i).click();
      await untilText(page, `.class:nth-child(${i + 1}) .number`, /^[1-9] sounds?$/);
    }
    await page.click("#learn");
    await untilText(page, "#learned", /^Learned/);
    const isSecond = /sound 1\d{1,2} %silence(9\d|100) %/;
    await untilText(page, "#prediction", isSecond);
    await page.evaluate(() => globalThis.sing(500));
    await untilText(page, "#prediction", /sound 1(9\d|100) %silence\d{1,2} %/);
    await page.click("#microphone");
    await untilText(page, "#microphone", /^Use/);
    assert.deepEqual(problems, []);
    await close();
  });

  test("offers files without a microphone", async () => {
    const { page, problems, close } = await open();
    await page.evaluate(() => {
      const getUserMedia = () => Promise.reject(new DOMException("refused", "NotFoundError"));
      Object.defineProperty(navigator.mediaDevices, "getUserMedia", { value: getUserMedia });
    });
    await page.click("#microphone");
    await untilText(page, "#problem", /^There is no microphone\. You can add sounds from files/);
    assert.equal(await page.textContent("#microphone"), "Use the microphone");
    assert.deepEqual(problems, []);
    await close();
  });
});

// The number of colors of the spectrogram.
function colorsOf(page) {
  return page.evaluate(() => {
    const canvas = document.getElementById("shown");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return new Set(new Uint32Array(data.buffer)).size;
  });
}

// Runs in the page: its microphone, which is still asked for, hears a tone of a pitch.
function tonesAtMicrophone() {
  const context = new AudioContext();
  const tone = new OscillatorNode(context, { frequency: 500 });
  const end = context.createMediaStreamDestination();
  tone.connect(end);
  tone.start();
  globalThis.sing = (pitch) => {
    tone.frequency.value = pitch;
  };
  const ask = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
  navigator.mediaDevices.getUserMedia = async (wishes) => {
    for (const track of (await ask(wishes)).getTracks()) track.stop();
    await context.resume();
    return end.stream;
  };
}

// Tones of 0.4 seconds with pauses of 0.8 seconds.
function tones(pitch, count) {
  return Float32Array.from({ length: 1.2 * kRate * count }, (_, i) => {
    const time = (i / kRate) % 1.2;
    const isOn = time > 0.4 && time < 0.8;
    return (isOn ? 0.4 : 0.001) * Math.sin((2 * Math.PI * pitch * i) / kRate);
  });
}

// The samples as a file of 16 bits.
function wave(samples) {
  const bytes = Buffer.alloc(44 + 2 * samples.length);
  bytes.write("RIFF", 0);
  bytes.writeUInt32LE(36 + 2 * samples.length, 4);
  bytes.write("WAVEfmt ", 8);
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20);
  bytes.writeUInt16LE(1, 22);
  bytes.writeUInt32LE(kRate, 24);
  bytes.writeUInt32LE(2 * kRate, 28);
  bytes.writeUInt16LE(2, 32);
  bytes.writeUInt16LE(16, 34);
  bytes.write("data", 36);
  bytes.writeUInt32LE(2 * samples.length, 40);
  for (const [i, sample] of samples.entries())
    bytes.writeInt16LE(Math.round(32_767 * sample), 44 + 2 * i);
  return bytes;
}
