// The windows along one of the two axes of planes (src/kernels/pool.h).

import type { PoolAxis } from "../../../generated/stream";

export interface Axis {
  readonly uniforms: Record<string, number>;
  readonly isAdaptive: boolean;
  /** Whether windows neither overlap nor leave gaps. `tiles` also counts the rest after the last window. */
  readonly isTiled: boolean;
  readonly tiles: number;
  readonly in: number;
  readonly out: number;
}

export function makeAxis(axis: PoolAxis, name: string): Axis {
  const { in: size, out, kernel, stride, padding, dilation, isAdaptive } = axis;
  const tiles = Math.ceil(size / stride);
  return {
    in: size,
    out,
    isAdaptive,
    isTiled: !isAdaptive && stride === kernel && padding === 0 && dilation === 1,
    tiles,
    uniforms: {
      [`${name}_in`]: size,
      [`${name}_out`]: out,
      [`${name}_tiles`]: tiles,
      [`${name}_kernel`]: kernel,
      [`${name}_stride`]: stride,
      [`${name}_padding`]: padding,
      [`${name}_dilation`]: dilation,
    },
  };
}

/**
 * Returns the WGSL functions for an axis. They use `struct Window { begin: i32, end: i32, padded: i32 }` and
 * `struct Range { begin: i32, end: i32 }`. The first returns the elements of a window (begin, begin + dilation, ... below end) and
 * its length including padding, the second the windows that may contain an element, the third whether a window contains it.
 */
export function axisText(name: string, { isAdaptive }: Axis): string {
  if (isAdaptive)
    return `fn ${name}_window(i: i32) -> Window {
  let begin = i * u.${name}_in / u.${name}_out;
  let end = ((i + 1) * u.${name}_in + u.${name}_out - 1) / u.${name}_out;
  return Window(begin, end, end - begin);
}
fn ${name}_windows_of(at: i32) -> Range {
  return Range(at * u.${name}_out / u.${name}_in, ((at + 1) * u.${name}_out - 1) / u.${name}_in + 1);
}
fn is_in_${name}(window: Window, at: i32) -> bool { return at >= window.begin && at < window.end; }
`;
  return `fn ${name}_window(i: i32) -> Window {
  let first = i * u.${name}_stride - u.${name}_padding;
  let padded_end = min(first + u.${name}_dilation * (u.${name}_kernel - 1) + 1, u.${name}_in + u.${name}_padding);
  let missed = max(0, -first);
  let begin = first + (missed + u.${name}_dilation - 1) / u.${name}_dilation * u.${name}_dilation;
  return Window(begin, min(padded_end, u.${name}_in), padded_end - first);
}
fn ${name}_windows_of(at: i32) -> Range {
  let reach = u.${name}_dilation * (u.${name}_kernel - 1);
  let least = max(0, at + u.${name}_padding - reach + u.${name}_stride - 1);
  return Range(least / u.${name}_stride, min((at + u.${name}_padding) / u.${name}_stride + 1, u.${name}_out));
}
fn is_in_${name}(window: Window, at: i32) -> bool {
  return at >= window.begin && at < window.end && (at - window.begin) % u.${name}_dilation == 0;
}
`;
}
