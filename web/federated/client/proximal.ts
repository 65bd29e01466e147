// FedProx's proximal term: while a client trains, mu / 2 times the squared distance from the round's weights is added to the loss.

import * as eg from "edgegrad";

/** Adds the gradient of the term to a module's gradients; returns a function that stops this. */
export function addProximalTerm(module: eg.nn.Module, mu: number): () => void {
  const starts: eg.Tensor[] = [];
  const handles: { remove(): void }[] = [];
  for (const parameter of module.parameters()) {
    if (!parameter.requiresGrad) continue;
    const start = eg.keep(parameter.detach().clone());
    starts.push(start);
    handles.push(
      parameter.registerHook((gradient: eg.Tensor) =>
        gradient.add(parameter.detach().sub(start).mul(mu)),
      ),
    );
  }
  return () => {
    for (const handle of handles) handle.remove();
    for (const start of starts) start.dispose();
  };
}
