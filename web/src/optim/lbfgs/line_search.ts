// The line search of minFunc, which PyTorch's L-BFGS uses: finds a step after which the loss is lower and its
// slope is flatter, by the strong Wolfe conditions.

/** A step along a line, with the loss at that point, its slope along the line, and its gradient. */
export interface Trial<Gradient> {
  readonly step: number;
  readonly loss: number;
  readonly slope: number;
  readonly gradient: Gradient;
}

/** The step that was found, and the number of evaluations of the loss. */
export interface Found<Gradient> {
  readonly trial: Trial<Gradient>;
  readonly evaluations: number;
}

/** The share of the decrease predicted by the slope that a step must achieve. */
const kSufficientFall = 1e-4;
/** The share of the slope that may remain. */
const kRemainingSlope = 0.9;
const kMaxTrials = 25;
const kSmallestChange = 1e-9;

/**
 * Searches for a step from `start`, where the step is 0 and the slope is negative, beginning with `step`. Stops when the
 * ends of the bracket are closer than `kSmallestChange`; `reach` is the largest change of an element by a step of 1.
 */
export function strongWolfe<Gradient>(
  evaluate: (step: number) => Trial<Gradient>,
  start: Trial<Gradient>,
  step: number,
  reach: number,
): Found<Gradient> {
  const isTooHigh = (trial: Trial<Gradient>) => {
    return trial.loss > start.loss + kSufficientFall * trial.step * start.slope;
  };
  const isFlat = (trial: Trial<Gradient>) => {
    return Math.abs(trial.slope) <= -kRemainingSlope * start.slope;
  };

  // Steps grow until a minimum must be between two of them.
  let previous = start;
  let current = evaluate(step);
  let evaluations = 1;
  let bracket: readonly [Trial<Gradient>, Trial<Gradient>] | null = null;
  for (let i = 0; i < kMaxTrials; i++) {
    if (isTooHigh(current) || (i > 1 && current.loss >= previous.loss)) {
      bracket = [previous, current];
      break;
    }
    if (isFlat(current)) return { trial: current, evaluations };
    if (current.slope >= 0) {
      bracket = [previous, current];
      break;
    }
    const nearest = current.step + 0.01 * (current.step - previous.step);
    const next = interpolate(previous, current, nearest, current.step * 10);
    previous = current;
    current = evaluate(next);
    evaluations++;
  }
  return narrow(evaluate, bracket ?? [start, current], evaluations, { isTooHigh, isFlat, reach });
}

interface Conditions<Gradient> {
  readonly isTooHigh: (trial: Trial<Gradient>) => boolean;
  readonly isFlat: (trial: Trial<Gradient>) => boolean;
  readonly reach: number;
}

// Replaces one end of the bracket by a trial until one satisfies the conditions.
function narrow<Gradient>(
  evaluate: (step: number) => Trial<Gradient>,
  bracket: readonly [Trial<Gradient>, Trial<Gradient>],
  evaluated: number,
  { isTooHigh, isFlat, reach }: Conditions<Gradient>,
): Found<Gradient> {
  let [first, second] = bracket;
  let evaluations = evaluated;
  let isFirstLow = first.loss <= second.loss;
  let wasNearEnd = false;
  // The first evaluation does not count as an iteration of the search.
  while (evaluations - 1 < kMaxTrials) {
    const [low, high] = isFirstLow ? [first, second] : [second, first];
    if (Math.abs(high.step - low.step) * reach < kSmallestChange) break;
    const { step, isNearEnd } = trialBetween(low, high, wasNearEnd);
    wasNearEnd = isNearEnd;
    const trial = evaluate(step);
    evaluations++;
    if (isTooHigh(trial) || trial.loss >= low.loss) {
      [first, second] = isFirstLow ? [low, trial] : [trial, low];
      isFirstLow = first.loss <= second.loss;
      continue;
    }
    if (isFlat(trial)) return { trial, evaluations };
    const other = trial.slope * (high.step - low.step) >= 0 ? low : high;
    [first, second] = isFirstLow ? [trial, other] : [other, trial];
  }
  return { trial: isFirstLow ? first : second, evaluations };
}

// The interpolated step. If it is close to an end of the bracket twice, it is moved away by a tenth of the bracket.
function trialBetween(
  low: Trial<unknown>,
  high: Trial<unknown>,
  wasNearEnd: boolean,
): { step: number; isNearEnd: boolean } {
  const left = Math.min(low.step, high.step);
  const right = Math.max(low.step, high.step);
  const step = interpolate(low, high, left, right);
  const margin = 0.1 * (right - left);
  if (Math.min(right - step, step - left) >= margin) return { step, isNearEnd: false };
  if (!wasNearEnd && step < right && step > left) return { step, isNearEnd: true };
  const isAtRight = Math.abs(step - right) < Math.abs(step - left);
  return { step: isAtRight ? right - margin : left + margin, isNearEnd: false };
}

// The minimum of the cubic through two trials with their slopes, or the midpoint if there is none.
function interpolate(
  a: Trial<unknown>,
  b: Trial<unknown>,
  lowest: number,
  highest: number,
): number {
  const [left, right] = a.step <= b.step ? [a, b] : [b, a];
  const bend = a.slope + b.slope - (3 * (a.loss - b.loss)) / (a.step - b.step);
  const square = bend ** 2 - a.slope * b.slope;
  if (!(square >= 0)) return (lowest + highest) / 2;
  const root = Math.sqrt(square);
  const share = (right.slope + root - bend) / (right.slope - left.slope + 2 * root);
  const minimum = right.step - (right.step - left.step) * share;
  return Math.min(Math.max(minimum, lowest), highest);
}
