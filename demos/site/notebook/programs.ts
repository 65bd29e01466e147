// The programs with which a notebook begins, cell by cell in both languages: a first training, and two chapters of the course
// "Backpropagation".

import type { Language } from "./languages.js";

/** A program in both languages. */
export type Program = Readonly<Record<Language, readonly string[]>>;

/** The programs by their titles; the first is that of a new notebook. */
export const kPrograms: Readonly<Record<string, Program>> = {
  "Learn a curve": {
    javascript: [
      `import * as eg from "edgegrad";

await eg.init();
const x = eg.linspace(-1, 1, 100).unsqueeze(1);
const y = x.mul(3).sin();
x.shape`,
      `const model = new eg.nn.Sequential(new eg.nn.Linear(1, 32), new eg.nn.Tanh(), new eg.nn.Linear(32, 1));
const optimizer = new eg.optim.Adam(model.parameters(), { lr: 0.01 });
for (let step = 0; step < 300; step++) {
  eg.scope(() => {
    const loss = eg.mseLoss(model.call(x), y);
    optimizer.zeroGrad();
    loss.backward();
    optimizer.step();
    plot(step, loss.item());
  });
}`,
      "eg.noGrad(() => model.call(x.narrow(0, 0, 3)))",
    ],
    python: [
      `import torch
from torch import nn

x = torch.linspace(-1, 1, 100).unsqueeze(1)
y = (3 * x).sin()
x.shape`,
      `model = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(300):
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    plot(step, loss.item())`,
      `with torch.no_grad():
    first = model(x[:3])
first`,
    ],
  },
  "What a graph keeps": {
    javascript: [
      `import * as eg from "edgegrad";

await eg.init();
// A leaf: nothing computed it. It has no gradient yet.
const x = eg.tensor(3, { requiresGrad: true });
// The op recorded a node, which has saved x.
const y = x.square();
y`,
      `// 2x = 6 arrives at the leaf, and the node keeps what it has saved.
y.backward(null, { retainGraph: true });
x.grad`,
      `// The same graph again: 6 is added, and now the saved tensor is gone.
y.backward();
x.grad`,
      `// A third time fails, because the node has nothing left to compute with.
y.backward();`,
    ],
    python: [
      `import torch

# A leaf: nothing computed it. It has no gradient yet.
x = torch.tensor(3.0, requires_grad=True)
# The op recorded a node, which has saved x.
y = x.square()
y`,
      `# 2x = 6 arrives at the leaf, and the node keeps what it has saved.
y.backward(retain_graph=True)
x.grad`,
      `# The same graph again: 6 is added, and now the saved tensor is gone.
y.backward()
x.grad`,
      `# A third time fails, because the node has nothing left to compute with.
y.backward()`,
    ],
  },
  "The gradient of a gradient": {
    javascript: [
      `import * as eg from "edgegrad";

await eg.init();
const x = eg.linspace(-2, 2, 9, { requiresGrad: true });
const y = x.pow(3).sum();
y`,
      `// 3x², and a tensor that knows how it was computed.
const [first] = eg.autograd.grad(y, x, { createGraph: true });
first`,
      `// The derivative of 3x²: 6x.
const [second] = eg.autograd.grad(first.sum(), x, { createGraph: true });
second`,
      `// The derivative of 6x: 6. Without createGraph it has no history.
const [third] = eg.autograd.grad(second.sum(), x);
third.requiresGrad`,
    ],
    python: [
      `import torch

x = torch.linspace(-2, 2, 9, requires_grad=True)
y = x.pow(3).sum()
y`,
      `# 3x², and a tensor that knows how it was computed.
first, = torch.autograd.grad(y, x, create_graph=True)
first`,
      `# The derivative of 3x²: 6x.
second, = torch.autograd.grad(first.sum(), x, create_graph=True)
second`,
      `# The derivative of 6x: 6. Without create_graph it has no history.
third, = torch.autograd.grad(second.sum(), x)
third.requires_grad`,
    ],
  },
};
