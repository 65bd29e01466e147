// Digits as text. One character shows two dots, one above the other, and a dot is a square of four pixels,
// so a digit of 28 x 28 pixels takes 14 characters by 7 lines.

const kDots = 14;
const kThreshold = 255 * 0.3;

/** Returns the lines of several digits side by side. */
export function drawDigits(images) {
  const digits = images.map(drawDigit);
  return digits[0].map((_, line) => digits.map((digit) => digit[line]).join("  "));
}

function drawDigit(pixels) {
  const isOn = (row, column) => {
    const [a, b] = [pixels[2 * row], pixels[2 * row + 1]];
    const sum = a[2 * column] + a[2 * column + 1] + b[2 * column] + b[2 * column + 1];
    return sum / 4 > kThreshold;
  };
  return Array.from({ length: kDots / 2 }, (_, line) =>
    Array.from({ length: kDots }, (_, column) =>
      block(isOn(2 * line, column), isOn(2 * line + 1, column)),
    ).join(""),
  );
}

function block(upper, lower) {
  if (upper) return lower ? "█" : "▀";
  return lower ? "▄" : " ";
}
