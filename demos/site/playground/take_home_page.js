// The page of the HTML file: the plane, and what is said of the point under the pointer. `model` and `predict` are there.

const kSide = 105;
const plane = document.getElementById("plane");
const context = plane.getContext("2d");
const at = (i) => ((i + 0.5) / kSide) * 2 - 1;
const points = Array.from({ length: kSide * kSide }, (_, i) => [
  at(i % kSide),
  -at(Math.floor(i / kSide)),
]);
const size = plane.width / kSide;
predict(model, points).forEach((share, i) => {
  context.fillStyle = `color-mix(in srgb, #2f5bea ${100 * share}%, #c2410c)`;
  context.fillRect((i % kSide) * size, Math.floor(i / kSide) * size, size + 1, size + 1);
});

plane.addEventListener("pointermove", ({ offsetX, offsetY }) => {
  const [x, y] = [offsetX / plane.clientWidth, offsetY / plane.clientHeight];
  const [share] = predict(model, [[2 * x - 1, 1 - 2 * y]]);
  document.getElementById("said").textContent = `${(100 * share).toFixed(0)} % blue`;
});
document.body.dataset.ready = "true";
