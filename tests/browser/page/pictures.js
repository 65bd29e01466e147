// Pictures of every kind as tensors on both devices, and tensors on canvases; on a device of the page, or on the engine's own.

import * as eg from "edgegrad";

const { own, variant } = JSON.parse(new URLSearchParams(location.search).get("run"));

const [kWidth, kHeight] = [70, 40];

// A canvas with a gradient, of which some is transparent.
function drawn(hasAlpha) {
  const canvas = new OffscreenCanvas(kWidth, kHeight);
  const context = canvas.getContext("2d");
  for (let x = 0; x < kWidth; x++) {
    context.fillStyle = `rgb(${3 * x} ${255 - 3 * x} 90 / ${hasAlpha && x > 35 ? 0.6 : 1})`;
    context.fillRect(x, 0, 1, kHeight);
  }
  context.fillStyle = "white";
  context.fillRect(3, 5, 10, 10);
  return canvas;
}

async function sourcesOf(canvas) {
  const context = canvas.getContext("2d");
  const page = document.createElement("canvas");
  page.width = kWidth;
  page.height = kHeight;
  page.getContext("2d").drawImage(canvas, 0, 0);
  const image = new Image();
  image.src = page.toDataURL();
  await image.decode();
  return {
    ImageData: context.getImageData(0, 0, kWidth, kHeight),
    ImageBitmap: await createImageBitmap(canvas),
    OffscreenCanvas: canvas,
    HTMLCanvasElement: page,
    HTMLImageElement: image,
    VideoFrame: new VideoFrame(canvas, { timestamp: 0 }),
    HTMLVideoElement: await videoOf(page),
  };
}

// A video that shows a canvas.
async function videoOf(canvas) {
  const video = document.createElement("video");
  video.muted = true;
  video.srcObject = canvas.captureStream();
  const context = canvas.getContext("2d");
  const image = context.getImageData(0, 0, kWidth, kHeight);
  const draw = setInterval(() => context.putImageData(image, 0, 0), 20); // timer: a frame for each time that the canvas is drawn
  await video.play();
  clearInterval(draw);
  video.pause();
  return video;
}

const largest = (a, b) => a.reduce((most, x, i) => Math.max(most, Math.abs(x - b[i])), 0);

async function compare(source, options) {
  const cpu = eg.fromImage(source, options);
  const before = eg.webgpuStats();
  const gpu = eg.fromImage(source, { ...options, device: "webgpu" });
  const after = eg.webgpuStats();
  const [right, found] = [await cpu.data(), await gpu.data()];
  return {
    shape: gpu.shape.join(),
    device: gpu.device,
    difference: largest(right, found),
    written: after.bytesWritten - before.bytesWritten,
  };
}

const pixelsOf = (canvas) => {
  const copy = new OffscreenCanvas(canvas.width, canvas.height);
  const context = copy.getContext("2d");
  context.drawImage(canvas, 0, 0);
  return [...context.getImageData(0, 0, copy.width, copy.height).data];
};

async function codeOf(work) {
  try {
    return await work();
  } catch (error) {
    return `${error.code} ${error.message}`;
  }
}

async function run() {
  const gpuAdapter = await navigator.gpu.requestAdapter();
  const device = await gpuAdapter.requestDevice();
  const errors = [];
  device.addEventListener("uncapturederror", ({ error }) => errors.push(error.message));
  await eg.init({ threads: 2, variant, webgpu: own ? { device } : "required" });
  const result = { compared: {}, shown: {}, refused: {} };
  for (const [name, source] of Object.entries(await sourcesOf(drawn(false))))
    result.compared[name] = await compare(source);
  const [opaque, clear] = [drawn(false), drawn(true)];
  for (const [name, [source, options]] of Object.entries({
    gray: [opaque, { channels: 1 }],
    alpha: [clear, { channels: 4 }],
    smaller: [opaque, { size: [20, 35] }],
    larger: [opaque, { size: 100 }],
    normalized: [
      opaque,
      { size: 32, normalize: { mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225] } },
    ],
  }))
    result.compared[name] = await compare(source, options);

  for (const place of ["cpu", "webgpu"]) {
    for (const [name, options] of Object.entries({ rgb: {}, gray: { channels: 1 } })) {
      const x = eg.fromImage(opaque, { ...options, device: place });
      const canvas = document.createElement("canvas");
      const before = eg.webgpuStats();
      await eg.toCanvas(x, canvas);
      const pixels = pixelsOf(canvas);
      const after = eg.webgpuStats();
      const bytes = (await x.mul(255).round().expand(3, kHeight, kWidth).data()).slice();
      const shown = Array.from({ length: bytes.length }, (_, i) => {
        const [channel, pixel] = [Math.floor(i / kWidth / kHeight), i % (kWidth * kHeight)];
        return pixels[4 * pixel + channel];
      });
      result.shown[`${place} ${name}`] = {
        size: `${canvas.width} x ${canvas.height}`,
        difference: largest(bytes, shown),
        read: after.bytesRead - before.bytesRead,
      };
    }
  }
  // A failure that only the device knows is that of the promise.
  const bad = eg
    .ones([3, 4, 4], { device: "webgpu" })
    .indexSelect(0, eg.tensor([0n, 1n, 9n], { device: "webgpu" }));
  const bitmap = await createImageBitmap(opaque);
  bitmap.close();
  result.refused = {
    failed: await codeOf(() => eg.toCanvas(bad, new OffscreenCanvas(1, 1))),
    closed: await codeOf(() => eg.fromImage(bitmap, { device: "webgpu" })),
    empty: await codeOf(() => eg.fromImage(document.createElement("video"))),
    used: await codeOf(() => {
      const canvas = document.createElement("canvas");
      canvas.getContext("webgl");
      return eg.toCanvas(eg.ones([2, 2]), canvas);
    }),
  };
  await eg.shutdown();
  return { ...result, errors };
}

run().then(
  (result) => {
    document.body.textContent = JSON.stringify(result);
  },
  (error) => {
    document.body.textContent = JSON.stringify({ error: `${error}\n${error.stack}` });
  },
);
