// The page of the HTML file: what is drawn is read. `model` and `predict` are there.

const pad = document.getElementById("pad");
const context = pad.getContext("2d", { willReadFrequently: true });
context.lineWidth = 20;
context.lineCap = "round";
context.strokeStyle = "#777";
let last = null;

// The ink in 28 x 28 pixels; as in MNIST, its longer side has 20 and its center of mass is in the middle.
function pixels() {
  const { width: side } = pad;
  const ink = context.getImageData(0, 0, side, side).data.filter((_, i) => i % 4 === 3);
  let [left, top, right, bottom, sum, sumX, sumY] = [side, side, 0, 0, 0, 0, 0];
  ink.forEach((value, i) => {
    if (value === 0) return;
    const [x, y] = [i % side, Math.floor(i / side)];
    [left, right] = [Math.min(left, x), Math.max(right, x + 1)];
    [top, bottom] = [Math.min(top, y), Math.max(bottom, y + 1)];
    [sum, sumX, sumY] = [sum + value, sumX + value * x, sumY + value * y];
  });
  if (sum === 0) return null;
  const scale = 20 / Math.max(right - left, bottom - top);
  const small = new OffscreenCanvas(28, 28).getContext("2d");
  small.setTransform(scale, 0, 0, scale, 14 - (scale * sumX) / sum, 14 - (scale * sumY) / sum);
  small.imageSmoothingQuality = "high";
  small.drawImage(pad, 0, 0);
  return Uint8Array.from(small.getImageData(0, 0, 28, 28).data.filter((_, i) => i % 4 === 3));
}

function read() {
  const image = pixels();
  const shares = image === null ? [0] : predict(model, image);
  const best = shares.indexOf(Math.max(...shares));
  document.getElementById("read").textContent =
    image === null ? "" : `${best}, ${(100 * shares[best]).toFixed(0)} % sure`;
}

function positionOf({ offsetX, offsetY }) {
  const scale = pad.width / pad.clientWidth;
  return [offsetX * scale, offsetY * scale];
}

pad.addEventListener("pointerdown", (event) => {
  pad.setPointerCapture(event.pointerId);
  last = positionOf(event);
});
pad.addEventListener("pointermove", (event) => {
  if (last === null) return;
  context.beginPath();
  context.moveTo(...last);
  last = positionOf(event);
  context.lineTo(...last);
  context.stroke();
  read();
});
pad.addEventListener("pointerup", () => {
  last = null;
});
document.getElementById("clear").addEventListener("click", () => {
  context.clearRect(0, 0, pad.width, pad.height);
  read();
});
document.body.dataset.ready = "true";
