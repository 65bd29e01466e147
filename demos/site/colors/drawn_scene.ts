// A scene for visitors without a camera: things whose brightness tells their color.

export const kSceneSize = [256, 192] as const;
export const kGround = "#1d3a2a";
export const kThings = [
  { color: "#f5d76e", radius: 30, speed: 0.7 },
  { color: "#7a1f3d", radius: 24, speed: -1.1 },
  { color: "#4aa3df", radius: 18, speed: 1.6 },
] as const;

/** Draws the scene as it is at a time in milliseconds. */
export function drawScene(canvas: HTMLCanvasElement, time: number): void {
  const context = canvas.getContext("2d");
  if (context === null) return;
  const { width, height } = canvas;
  context.fillStyle = kGround;
  context.fillRect(0, 0, width, height);
  for (const [i, { color, radius, speed }] of kThings.entries()) {
    const [x, y] = placeOf(i, speed, time, width, height);
    context.fillStyle = color;
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fill();
  }
}

/** Where the thing `i` is at a time in milliseconds. */
export function placeOf(
  i: number,
  speed: number,
  time: number,
  width: number,
  height: number,
): [x: number, y: number] {
  const turn = (time / 1000) * speed + i;
  const [x, y] = [Math.cos(turn), Math.sin(1.3 * turn)];
  return [width / 2 + (width / 3) * x, height / 2 + (height / 4) * y];
}
