// Players on the software adapter, for tests of kernels.

import { test } from "node:test";
import { openDevice } from "./device.mjs";
import { kAsQuickHardware } from "./replacing.mjs";
import { arrayOf, posingAs, StreamPlayer, webgpu } from "./stream_player.mjs";

export { arrayOf, webgpu };

export const { RandomKind } = webgpu;

const { device, reason } = await openDevice();

/** Returns the same device posing as hardware of this vendor. */
export const posing = (vendor = "") => device && posingAs(device, { vendor }, kAsQuickHardware);

const hardware = posing();

/** Devices for which kernels choose different shaders. */
export const devices = { software: device, hardware };

/** For node:test: skips tests if there is no device. */
export const options = { skip: reason ?? false };

export class Playing extends StreamPlayer {
  constructor({ on = device, kernels } = {}) {
    super(on, kernels);
  }
}

const shared = new Map();

/** Returns a player that is shared by all tests of a file, so that shaders are compiled only once. */
export function playing(on = device) {
  if (!shared.has(on)) shared.set(on, new Playing({ on }));
  return shared.get(on);
}

/** Defines a test that runs with the shaders for software adapters and with those for hardware. */
export function testBoth(name, body) {
  test(`${name}: software`, options, () => body(playing(device)));
  test(`${name}: hardware`, options, () => body(playing(hardware)));
}

/** Row-major strides. */
export function packedStrides(shape) {
  const strides = [];
  let step = 1;
  for (const size of [...shape].reverse()) {
    strides.unshift(step);
    step *= size;
  }
  return strides;
}
