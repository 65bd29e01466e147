// Things that the page draws, for visitors without a camera. The backbone has seen none of them.

const kSide = 128;

/** The things by name. */
export const kThings = {
  fish: drawFish,
  leaf: drawLeaf,
  cup: drawCup,
} as const;

type Thing = keyof typeof kThings;

const kNames = Object.keys(kThings) as Thing[];

const between = (low: number, high: number) => low + (high - low) * Math.random();

/** Draws a thing: each time in another color, size, place and angle. */
export function drawThing(name: string): Promise<ImageBitmap> {
  const canvas = new OffscreenCanvas(kSide, kSide);
  const context = canvas.getContext("2d") as OffscreenCanvasRenderingContext2D;
  const sky = context.createLinearGradient(0, 0, between(0, kSide), kSide);
  const hue = between(0, 360);
  sky.addColorStop(0, `hsl(${hue} ${between(5, 35)}% ${between(70, 92)}%)`);
  sky.addColorStop(1, `hsl(${hue + 40} ${between(5, 35)}% ${between(60, 85)}%)`);
  context.fillStyle = sky;
  context.fillRect(0, 0, kSide, kSide);
  context.translate(kSide * between(0.42, 0.58), kSide * between(0.42, 0.58));
  context.rotate(between(-0.35, 0.35));
  context.scale(between(0.8, 1.15), between(0.8, 1.15));
  kThings[name as Thing](context);
  return createImageBitmap(canvas);
}

/** The name of any of the things. */
export function anyThing(): string {
  return kNames[Math.floor(Math.random() * kNames.length)] as string;
}

type Context = OffscreenCanvasRenderingContext2D;

function drawFish(context: Context): void {
  context.fillStyle = `hsl(${between(5, 45)} 80% ${between(45, 60)}%)`;
  context.beginPath();
  context.ellipse(-6, 0, 36, 19, 0, 0, 7);
  context.fill();
  context.beginPath();
  context.moveTo(24, 0);
  context.lineTo(50, -18);
  context.lineTo(44, 0);
  context.lineTo(50, 18);
  context.fill();
  context.strokeStyle = "#fff9";
  context.lineWidth = 3;
  for (const x of [-8, 4, 16]) {
    context.beginPath();
    context.arc(x - 18, 0, 18, -0.7, 0.7);
    context.stroke();
  }
  context.fillStyle = "#222";
  context.beginPath();
  context.arc(-28, -5, 3.5, 0, 7);
  context.fill();
}

function drawLeaf(context: Context): void {
  context.rotate(between(-0.5, 0.5));
  context.fillStyle = `hsl(${between(85, 140)} ${between(40, 65)}% ${between(30, 42)}%)`;
  context.beginPath();
  context.moveTo(0, -48);
  context.bezierCurveTo(40, -20, 30, 25, 0, 40);
  context.bezierCurveTo(-30, 25, -40, -20, 0, -48);
  context.fill();
  context.strokeStyle = "#fff7";
  context.lineWidth = 2;
  context.beginPath();
  context.moveTo(0, -44);
  context.lineTo(0, 54);
  for (const y of [-22, -6, 10, 24]) {
    context.moveTo(0, y + 8);
    context.lineTo(20 - y / 6, y - 8);
    context.moveTo(0, y + 8);
    context.lineTo(y / 6 - 20, y - 8);
  }
  context.stroke();
}

function drawCup(context: Context): void {
  const color = `hsl(${between(200, 345)} ${between(35, 70)}% ${between(38, 58)}%)`;
  context.strokeStyle = color;
  context.lineWidth = 8;
  context.beginPath();
  context.ellipse(32, 4, 16, 18, 0, 0, 7);
  context.stroke();
  context.fillStyle = color;
  context.beginPath();
  context.moveTo(-34, -32);
  context.lineTo(-26, 40);
  context.lineTo(22, 40);
  context.lineTo(30, -32);
  context.fill();
  context.fillStyle = "#4a2c17";
  context.beginPath();
  context.ellipse(-2, -32, 32, 8, 0, 0, 7);
  context.fill();
}
