// node tests/bench/python/run.mjs: calls and steps from Python in Pyodide beside those from JavaScript, in one process and in turn.

import * as eg from "edgegrad";
import { install } from "edgegrad/pyodide";
import { loadPyodide } from "pyodide";

await eg.init({ threads: 1 });
const python = await loadPyodide();
await install(python, { engine: eg });
python.runPython(`
import edgegrad.torch as torch, edgegrad.torch.nn.functional as F
from edgegrad.torch import nn

a, b, w, bias, one = torch.rand(4, 4), torch.rand(4, 4), torch.rand(4, 4).requires_grad_(), torch.rand(4), torch.tensor(1.5)

def repeated(call):
    def run(count):
        for _ in range(count):
            call()
    return run

def step(inputs, hidden):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, 10))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    x, y = torch.rand(64, inputs), torch.randint(0, 10, (64,))

    def train(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        return loss

    captured = torch.capture(train, x, y)
    return lambda: train(x, y), lambda: captured(x, y)

small, small_captured = step(8, 16)
large, large_captured = step(784, 128)
calls = {
    "a + b": lambda: a + b, "a + b, recorded": lambda: w + b, "a + 2.0": lambda: a + 2.0, "F.linear": lambda: F.linear(a, w, bias),
    "reshape": lambda: a.reshape(2, 8), "a[1, 0:2]": lambda: a[1, 0:2], "softmax": lambda: a.softmax(-1), "shape": lambda: (a + b).shape,
    "item": one.item, "step of an MLP 8-16-10": small, "captured, 8-16-10": small_captured, "step of an MLP 784-128-10": large,
    "captured, 784-128-10": large_captured,
}
calls = {name: repeated(call) for name, call in calls.items()}`);

const [a, b, bias, one] = [eg.rand([4, 4]), eg.rand([4, 4]), eg.rand([4]), eg.tensor(1.5)];
const w = eg.rand([4, 4]).requiresGrad_();
const [small, smallCaptured] = steps(8, 16);
const [large, largeCaptured] = steps(784, 128);

function steps(inputs, hidden) {
  const net = new eg.nn.Sequential(
    new eg.nn.Linear(inputs, hidden),
    new eg.nn.ReLU(),
    new eg.nn.Linear(hidden, 10),
  );
  const optimizer = new eg.optim.SGD(net.parameters(), { lr: 0.01 });
  const x = eg.rand([64, inputs]);
  const y = eg.randint(0, 10, [64]);
  const train = (input, target) => {
    optimizer.zeroGrad();
    const loss = eg.crossEntropy(net.call(input), target);
    loss.backward();
    optimizer.step();
    return loss;
  };
  const captured = eg.capture(train, x, y);
  return [() => eg.scope(() => void train(x, y)), () => eg.scope(() => void captured(x, y))];
}

const kCalls = {
  "a + b": () => a.add(b).dispose(),
  "a + b, recorded": () => w.add(b).dispose(),
  "a + 2.0": () => a.add(2).dispose(),
  "F.linear": () => eg.nn.functional.linear(a, w, bias).dispose(),
  reshape: () => a.reshape([2, 8]).dispose(),
  "a[1, 0:2]": () => a.at(1, eg.slice(0, 2)).dispose(),
  softmax: () => a.softmax(-1).dispose(),
  shape: () => {
    const sum = a.add(b);
    const { shape } = sum;
    sum.dispose();
    return shape;
  },
  item: () => one.item(),
  "step of an MLP 8-16-10": small,
  "captured, 8-16-10": smallCaptured,
  "step of an MLP 784-128-10": large,
  "captured, 784-128-10": largeCaptured,
};

// The best of blocks in turn, in microseconds for a call.
const inPython = python.globals.get("calls");
const rounds = 20;
console.log("| call | Python, us | JavaScript, us | ratio |\n|---|---:|---:|---:|");
for (const [name, call] of Object.entries(kCalls)) {
  const repeat = inPython.get(name);
  const repeatOwn = (count) => {
    for (let i = 0; i < count; i++) call();
  };
  const count = /MLP|captured/.test(name) ? 20 : 300;
  const time = (run) => {
    const before = performance.now();
    run(count);
    return ((performance.now() - before) / count) * 1000;
  };
  // Until V8 has compiled what both call.
  for (let i = 0; i < 10; i++) for (const run of [repeat, repeatOwn]) run(count);
  let [best, own] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let i = 0; i < rounds; i++) {
    best = Math.min(best, time(repeat));
    own = Math.min(own, time(repeatOwn));
  }
  const cells = [name, best.toFixed(2), own.toFixed(2), (best / own).toFixed(2)];
  console.log(`| ${cells.join(" | ")} |`);
}
process.exit(0);
