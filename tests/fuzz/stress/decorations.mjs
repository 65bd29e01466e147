// Hooks and modes that do not change gradients.

/** Adds hooks to some of these tensors; returns a function that removes them. */
export function withHooks(eg, random, leaf, results) {
  const same = (grad) => (random.chance(0.5) ? grad.mul(1) : undefined);
  const hooks = [];
  for (const tensor of [leaf, ...results]) {
    if (random.chance(0.4)) hooks.push(tensor.registerHook(same));
    if (tensor === leaf || tensor.gradFn === null) continue;
    if (random.chance(0.2)) hooks.push(tensor.gradFn.registerHook(() => undefined));
    if (random.chance(0.2)) hooks.push(tensor.gradFn.registerPrehook((grads) => grads));
  }
  if (random.chance(0.3)) hooks.push(leaf.registerPostAccumulateGradHook(() => undefined));
  if (random.chance(0.3)) {
    const backward = () =>
      eg.scope(() => {
        const x = eg.ones([2], { requiresGrad: true });
        eg.enableGrad(() => x.mul(x).sum()).backward();
      });
    hooks.push(eg.autograd.graph.registerMultiGradHook([results[0]], backward));
  }
  return () => {
    for (const hook of hooks) hook.remove();
  };
}

const kAround = [
  (eg, step) =>
    eg.autograd.graph.savedTensorsHooks(
      (x) => x,
      (x) => x,
      step,
    ),
  (eg, step) =>
    eg.autograd.graph.savedTensorsHooks(
      (x) => [x.detach().clone()],
      ([x]) => x.clone(),
      step,
    ),
  (eg, step) => eg.autograd.graph.saveOnCpu(step),
  (eg, step) => eg.autograd.detectAnomaly(step),
  (eg, step) => eg.enableGrad(step),
  (eg, step, operand) => eg.autograd.checkpoint(() => step(), operand),
];

/** Returns a function that runs steps directly or in a random mode. */
export function inMode(eg, random) {
  return (step, operand) => (random.chance(0.6) ? step() : random.pick(kAround)(eg, step, operand));
}
