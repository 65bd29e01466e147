// A scene for visitors without a camera: things whose brightness tells their color.

const kThings = [
  { color: "#f5d76e", radius: 30, speed: 0.7 },
  { color: "#7a1f3d", radius: 24, speed: -1.1 },
  { color: "#4aa3df", radius: 18, speed: 1.6 },
] as const;

/** Draws the scene as it is at a time in milliseconds. */
export function drawScene(canvas: HTMLCanvasElement, time: number): void {
  const context = canvas.getContext("2d");
  if (context === null) return;
  const { width, height } = canvas;
  context.fillStyle = "#1d3a2a";
  context.fillRect(0, 0, width, height);
  for (const [i, { color, radius, speed }] of kThings.entries()) {
    const turn = (time / 1000) * speed + i;
    context.fillStyle = color;
    context.beginPath();
    context.arc(
      width / 2 + (width / 3) * Math.cos(turn),
      height / 2 + (height / 4) * Math.sin(1.3 * turn),
      radius,
      0,
      2 * Math.PI,
    );
    context.fill();
  }
}
