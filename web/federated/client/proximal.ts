// FedProx's term: while a client trains, each gradient of a parameter is that of the loss plus mu / 2 times the squared distance from the
// round's weights.

import * as eg from "edgegrad";

/** Adds the term to a module's gradients; returns a function that takes it off again. */
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
