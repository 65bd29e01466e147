// Telling a program that the WebGPU device was lost.

import { functionOf } from "../arguments/rule.js";
import { checked, native, takeError } from "../runtime/bridge/bridge.js";
import { holdFunction } from "../runtime/bridge/callbacks.js";
import { EdgeGradError, fail } from "../runtime/errors/errors.js";
import { queueMicrotask } from "../runtime/host/host.js";
import { addStopListener } from "./lifecycle.js";

/** A listener that can be removed. */
export interface LossHandle {
  /** Removes the listener; a second call has no effect. */
  remove(): void;
}

type LossListener = (error: EdgeGradError) => unknown;

const lossListeners = new Map<LossHandle, LossListener>();

/**
 * Calls `listener` each time the WebGPU device is lost, until shutdown(), with the DeviceLost error that pending reads get. It may call
 * init(), which opens the device again.
 */
export function onDeviceLost(listener: (error: EdgeGradError) => unknown): LossHandle {
  functionOf<LossListener>().check("onDeviceLost", "listener", listener);
  if (lossListeners.size === 0) {
    checked(native.whenGpuLost(holdFunction(tellOfLoss)));
    addStopListener(forgetAll);
  }
  const handle = {
    remove() {
      if (lossListeners.delete(handle) && lossListeners.size === 0) native.whenGpuLost(0);
    },
  };
  lossListeners.set(handle, listener);
  return handle;
}

// What a listener throws is reported as that of a listener of any event, and does not keep others from being called.
function tellOfLoss(): readonly number[] {
  const error = takeError() as EdgeGradError;
  for (const listener of [...lossListeners.values()])
    queueMicrotask(() => {
      listener(error);
    });
  return [];
}

const lossPromises = new Set<LossListener>();

/**
 * Resolves when the open WebGPU device is lost, to the DeviceLost error that pending reads get; also when the engine is shut down. Does
 * not keep a process alive.
 */
export function deviceLost(): Promise<EdgeGradError> {
  return new Promise((resolve) => {
    if (native.gpuIsLost() === 1) {
      resolve(lossBecause("it was lost before"));
      return;
    }
    if (native.gpuAdapter() === "")
      fail(
        "DeviceUnavailable",
        "deviceLost",
        "no device is open. Open it first with `await init({ webgpu: 'required' })`.",
      );
    const settle = (error: EdgeGradError) => {
      handle.remove();
      lossPromises.delete(settle);
      resolve(error);
    };
    const handle = onDeviceLost(settle);
    lossPromises.add(settle);
  });
}

function lossBecause(reason: string): EdgeGradError {
  return new EdgeGradError(
    "DeviceLost",
    `[deviceLost] ${reason}. Call \`await init()\` to open the device again.`,
  );
}

// The engine stops.
function forgetAll(): void {
  for (const settle of [...lossPromises]) settle(lossBecause("the engine was shut down"));
  lossListeners.clear();
}
