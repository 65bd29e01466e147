// The calls of optimizers that every step makes.

import type { optim, Tensor } from "edgegrad";
import type { Handles } from "./handles.js";

/** Returns the functions about optimizers. */
export function optimizerFunctions(handles: Handles) {
  const at = (handle: number) => handles.objects[handle] as optim.SGD;
  return {
    /** Makes a step, after dropping the numbers that Python has let go. */
    step(handle: number, ...dead: number[]): void {
      for (const one of dead) handles.drop(one);
      at(handle).step();
    },
    zeroGrad(handle: number): void {
      at(handle).zeroGrad();
    },
    /** Gives a group other tensors in the place of those that Python has replaced. */
    setParams(handle: number, group: number, ...params: number[]): void {
      const tensors = params.map((param) => handles.objects[param] as Tensor);
      handles.hold(tensors);
      (at(handle).paramGroups[group] as { params: Tensor[] }).params = tensors;
    },
    /** Returns the number of a group, whose settings Python reads and writes. */
    group: (handle: number, place: number) => handles.put(at(handle).paramGroups[place]),
    /** Removes a property of an object. */
    unset: (handle: number, name: string) =>
      Reflect.deleteProperty(handles.objects[handle] as object, name),
    /** Returns the names of an object's properties, separated by commas. */
    keys: (handle: number) => Object.keys(handles.objects[handle] as object).join(),
  };
}
