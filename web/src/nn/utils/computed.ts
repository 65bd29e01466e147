import { fail } from "../../runtime/errors/errors.js";
import { isComplex, isFloat } from "../../tensor/dtype.js";
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

const computed = new WeakSet<Tensor>();

/** True for the value of a computed property: it is made at each use, so that changes of it are lost. */
export function isComputed(tensor: Tensor): boolean {
  return computed.has(tensor);
}

/** Marks a value as computed, unless it is a member that was passed through; returns it. */
export function asComputed(value: Tensor): Tensor {
  if (!(value instanceof Parameter || value instanceof Buffer)) computed.add(value);
  return value;
}

/** Gives a module a property that is computed at each use and is not a member; returns its getter. */
export function defineComputed(
  module: Module,
  name: string,
  compute: (this: Module) => Tensor,
  assign?: (this: Module, value: Tensor) => void,
): (this: Module) => Tensor {
  const get = function (this: Module) {
    return asComputed(compute.call(this));
  };
  const property = { get, configurable: true, enumerable: false };
  Object.defineProperty(
    module,
    name,
    assign === undefined ? property : { ...property, set: assign },
  );
  return get;
}

/** Returns a tensor of the same kind as another: a parameter with the same `requiresGrad`, or a buffer. */
export function likeMember(member: Parameter | Buffer, data: Tensor): Parameter | Buffer {
  if (member instanceof Parameter) {
    const requiresGrad = member.requiresGrad && (isFloat(data.dtype) || isComplex(data.dtype));
    return new Parameter(data, requiresGrad);
  }
  return new Buffer(data, { persistent: member.persistent });
}
