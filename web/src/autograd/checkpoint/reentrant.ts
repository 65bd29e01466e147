// The re-entrant form of checkpoint(): one node, whose backward runs the function again and calls backward() itself.

import { native } from "../../runtime/bridge/bridge.js";
import { fail } from "../../runtime/errors/errors.js";
import { isDue } from "../../runtime/errors/once.js";
import { Tensor } from "../../tensor/tensor.js";
import { Function as AutogradFunction, type FunctionContext } from "../function.js";
import { backward } from "../grad.js";
import { recording } from "../recording.js";
import { CallContext } from "./call_context.js";

type AnyFunction = (...inputs: unknown[]) => unknown;

const once = { done: false };

/** Returns fn(...inputs), without recording it; backward runs it again. */
export function checkpointReentrant(
  fn: AnyFunction,
  inputs: readonly unknown[],
  preserveRngState: boolean,
): unknown {
  if (!inputs.some((input) => input instanceof Tensor && input.requiresGrad) && isDue(once)) {
    console.warn(
      "edgegrad: [checkpoint] with useReentrant: true, an input must require a gradient: without one, nothing in the function gets " +
        "gradients.",
    );
  }
  const context = new CallContext(preserveRngState);
  try {
    return Reentrant.apply({ fn, context }, context.drawn, ...inputs);
  } finally {
    // The node has saved it.
    context.dispose();
  }
}

class Reentrant extends AutogradFunction {
  static override readonly name: string = "CheckpointFunction";

  static override forward(
    ctx: FunctionContext,
    { fn, context }: { fn: AnyFunction; context: CallContext },
    drawn: Tensor | null,
    ...inputs: unknown[]
  ): unknown {
    Object.assign(ctx, { fn, context });
    ctx.inputs = inputs.map((input) => (input instanceof Tensor ? kSaved : input));
    ctx.requireGrad = inputs.map((input) => input instanceof Tensor && input.requiresGrad);
    ctx.saveForBackward(
      drawn,
      ...inputs.filter((input): input is Tensor => input instanceof Tensor),
    );
    return context.recordingRandomness(() => fn(...inputs));
  }

  static override backward(ctx: FunctionContext, ...grads: Tensor[]): (Tensor | null)[] {
    if (native.isCheckpointValid() === 0) {
      fail(
        "InvalidArgument",
        "checkpoint",
        "with useReentrant: true, gradients cannot be computed by grad(), or by backward() with inputs. Call backward() without " +
          "inputs, or leave out useReentrant.",
      );
    }
    const [drawn, ...tensors] = ctx.savedTensors as [Tensor | null, ...Tensor[]];
    const requireGrad: boolean[] = ctx.requireGrad;
    const inputs = (ctx.inputs as unknown[]).map((input, i) => {
      if (input !== kSaved) return input;
      const leaf = (tensors.shift() as Tensor).detach();
      if (requireGrad[i] === true) leaf.requiresGrad = true;
      return leaf;
    });
    const context: CallContext = ctx.context;
    const result = context.restored(() => recording(() => ctx.fn(...inputs)), drawn);
    const outputs = ([result].flat() as unknown[]).flatMap((output, i) =>
      output instanceof Tensor && output.requiresGrad ? [{ output, grad: grads[i] as Tensor }] : [],
    );
    if (outputs.length === 0) {
      fail(
        "NotDifferentiable",
        "checkpoint",
        "no result of the function requires a gradient, so checkpoint() is not necessary.",
      );
    }
    backward(
      outputs.map(({ output }) => output),
      { gradTensors: outputs.map(({ grad }) => grad) },
    );
    return [null, null, ...inputs.map((input) => (input instanceof Tensor ? input.grad : null))];
  }
}

// Marks the position of a tensor among the inputs.
const kSaved = Symbol("saved");
