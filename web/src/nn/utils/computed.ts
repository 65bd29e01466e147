import { fail } from "../../runtime/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import type { Module } from "../module.js";
import { Buffer, Parameter } from "../parameter.js";

/** Removes a parameter or buffer from a module and returns it. */
export function takeMember(where: string, module: Module, name: string): Parameter | Buffer {
  const member: unknown = Object.hasOwn(module, name) ? Reflect.get(module, name) : undefined;
  if (!(member instanceof Parameter || member instanceof Buffer)) {
    const message = `${module.constructor.name} has no parameter or buffer "${name}".`;
    fail("InvalidArgument", where, message);
  }
  Reflect.deleteProperty(module, name);
  return member;
}

/** Gives a module a property that is computed at each use and is not a member. */
export function defineComputed(
  module: Module,
  name: string,
  compute: (this: Module) => Tensor,
  assign?: (this: Module, value: Tensor) => void,
): void {
  const property = { get: compute, configurable: true, enumerable: false };
  Object.defineProperty(
    module,
    name,
    assign === undefined ? property : { ...property, set: assign },
  );
}

/** Returns a tensor of the same kind as another: a parameter with the same `requiresGrad`, or a buffer. */
export function likeMember(member: Parameter | Buffer, data: Tensor): Parameter | Buffer {
  if (member instanceof Parameter) return new Parameter(data, member.requiresGrad);
  return new Buffer(data, { persistent: member.persistent });
}
