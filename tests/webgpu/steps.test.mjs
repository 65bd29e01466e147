// Consecutive optimizer steps: they need few dispatches, and each has the same effect as if it ran alone.

import assert from "node:assert/strict";
import { test } from "node:test";
import { assertClose, randoms, range } from "./support/close.mjs";
import { copyBytes, elementwise } from "./support/kernel_fields.mjs";
import { devices, options, Playing } from "./support/playing.mjs";

const kTolerance = { relative: 1e-6, absolute: 1e-7 };

const kAdam = {
  ...{ beta1: 0.9, beta2: 0.999, eps: 1e-8, weightDecay: 0 },
  ...{ decoupled: false, maximize: false },
};
const kSgd = {
  ...{ momentum: 0, dampening: 0, weightDecay: 0 },
  ...{ nesterov: false, maximize: false, first: false },
};

const zeros = (count) => new Array(count).fill(0);

/** A parameter with its gradient and state, each in a separate block. */
function makeParam(p, count, seed) {
  const view = (numbers) => p.view("float32", numbers);
  const [param, grad] = [view(randoms(count, seed)), view(randoms(count, seed + 100))];
  return { param, grad, state: [view(zeros(count)), view(zeros(count))] };
}

function adam(p, { param, grad, state }, { step = 1, lr = 0.01 } = {}) {
  p.kernel("adam_step", {
    options: { ...kAdam, step, lr },
    ...{ count: param.count, param, grad, expAvg: state[0], expAvgSq: state[1] },
  });
}

function sgd(p, param, grad, lr = 0.5) {
  p.kernel("sgd_step", { options: { ...kSgd, lr }, count: param.count, param, grad });
}

/** The last elements of a view; all of them if it is small. */
function endOf(view) {
  const count = Math.min(view.count, 5000);
  return { ...view, offset: 4 * (view.count - count), count };
}

/** Returns the parameters after some steps; if `apart`, each step waits for the previous one. */
async function train(counts, { apart, on }) {
  const p = new Playing({ on });
  const params = counts.map((count, i) => makeParam(p, count, i + 1));
  let dispatches = 0;
  for (let step = 1; step <= 3; step++) {
    const before = p.stats.dispatches;
    for (const one of params) {
      adam(p, one, { step });
      if (apart) await p.read(endOf(one.param));
    }
    await p.play();
    dispatches = p.stats.dispatches - before;
  }
  const results = params.map(({ param, state }) =>
    [param, ...state].map((view) => p.read(endOf(view))),
  );
  return { results: await Promise.all(results.flat()), dispatches };
}

async function assertJoins(counts, { on, most }) {
  const apart = await train(counts, { apart: true, on });
  assert.equal(apart.dispatches, counts.length);
  const joined = await train(counts, { apart: false, on });
  assert.equal(joined.dispatches, most);
  for (const [i, result] of joined.results.entries())
    assertClose(result, apart.results[i], kTolerance);
}

for (const [kind, on] of Object.entries(devices)) {
  test(`parameters in fours are one dispatch, others another: ${kind}`, options, () =>
    assertJoins([4, 256, 10, 3000, 1, 16, 7], { on, most: 2 }),
  );

  test(`more parameters than a table has room for: ${kind}`, options, () =>
    assertJoins(
      range(130, (i) => 4 * (1 + (i % 3))),
      { on, most: 2 },
    ),
  );

  test(`larger parameters, and some that are too large: ${kind}`, options, () => {
    const most = { software: 4, hardware: 2 }[kind];
    return assertJoins([64, 20_000, 2 ** 20 + 4, 12_004, 128, 70_000], {
      on,
      most,
    });
  });
}

test("a gradient that is another's parameter has its old or its new values", options, async () => {
  const p = new Playing();
  const [a, b, c] = [
    [1, 2, 3, 4],
    [10, 20, 30, 40],
    [100, 200, 300, 400],
  ].map((numbers) => p.view("float32", numbers));
  for (let i = 0; i < 3; i++) {
    sgd(p, a, b);
    sgd(p, b, c);
    sgd(p, c, a);
    sgd(p, a, b);
  }
  const expected = [1, 10, 100].map((x) => [x, 2 * x, 3 * x, 4 * x]);
  const [x, y, z] = expected;
  const move = (to, by) => {
    for (const i of to.keys()) to[i] -= 0.5 * by[i];
  };
  for (let i = 0; i < 3; i++) {
    move(x, y);
    move(y, z);
    move(z, x);
    move(x, y);
  }
  for (const [i, view] of [a, b, c].entries()) assertClose(await p.read(view), expected[i]);
});

test("parts of one block", options, async () => {
  const p = new Playing();
  const whole = p.view("float32", range(16));
  const grad = p.view(
    "float32",
    range(16, (i) => 2 * i),
  );
  const part = (view, first, count) => ({ ...view, offset: 4 * first, count });
  for (const [first, count] of [
    [0, 4],
    [4, 8],
    [12, 4],
  ])
    sgd(p, part(whole, first, count), part(grad, first, count));
  assert.deepEqual(await p.read(whole), zeros(16));
  assert.equal(p.stats.dispatches, 1);
});

test("parts of one block with options of their own", options, async () => {
  const p = new Playing();
  const whole = p.view("float32", zeros(16));
  const grad = p.view("float32", zeros(16).fill(1));
  const part = (view, first) => ({ ...view, offset: 4 * first, count: 4 });
  for (let i = 0; i < 3; i++)
    for (const [k, lr] of [1, 1, 2, 2].entries()) sgd(p, part(whole, 4 * k), part(grad, 4 * k), lr);
  assert.deepEqual(
    await p.read(whole),
    range(16, (i) => (i < 8 ? -3 : -6)),
  );
  assert.equal(p.stats.dispatches, 6);
});

test("other options are another dispatch", options, async () => {
  const p = new Playing();
  const params = [1, 2, 3, 4].map((seed) => makeParam(p, 8, seed));
  const starts = await Promise.all(params.map(({ param }) => p.read(param)));
  for (const [i, one] of params.entries()) adam(p, one, { lr: i < 2 ? 0.01 : 0.1 });
  const ends = await Promise.all(params.map(({ param }) => p.read(param)));
  assert.equal(p.stats.dispatches, 2);
  // The first step of Adam changes every number by the learning rate.
  for (const [i, end] of ends.entries())
    for (const [k, x] of end.entries())
      assert.ok(Math.abs(Math.abs(x - starts[i][k]) - (i < 2 ? 0.01 : 0.1)) < 1e-5);
});

test("what comes between steps comes between them", options, async () => {
  const p = new Playing();
  const [a, b] = [1, 2].map(() => p.view("float32", [1, 1, 1, 1]));
  const grad = p.view("float32", [2, 2, 2, 2]);
  const steps = () => {
    sgd(p, a, grad);
    sgd(p, b, grad);
  };
  steps();
  p.stream.write(grad.block, 0, Float32Array.of(4, 4, 4, 4));
  steps();
  p.kernel("fill", { count: 4, value: 6, y: grad });
  steps();
  copyBytes(p, a, 0, grad, 0, 8);
  const middle = p.later(a);
  steps();
  assert.deepEqual(await p.read(a), [3, 3, -8, -8]);
  assert.deepEqual(await middle, [6, 6, -5, -5]);
  assert.deepEqual(await p.read(b), [-8, -8, -8, -8]);
});

test("blocks that share a buffer are used as others are", options, async () => {
  const p = new Playing();
  const grads = [1, 2, 3].map((x) => p.view("float32", [x, x, x, x]));
  const params = [1, 2, 3].map(() => p.view("float32", zeros(4)));
  const steps = () => {
    for (const [i, param] of params.entries()) sgd(p, param, grads[i]);
  };
  steps();
  const [a, b, c] = params;
  const add = (to, x, y) =>
    p.kernel(
      "elementwise",
      elementwise(
        { op: "add", constants: [1], shape: [4] },
        [to, x, y].map((view) => [view, [1]]),
      ),
    );
  add(c, a, b);
  assert.deepEqual(await p.read(c), zeros(4).fill(-1.5));
  copyBytes(p, a, 0, b, 0, 8);
  assert.deepEqual(await p.read(a), [-1, -1, -0.5, -0.5]);
  p.stream.write(b.block, 4, Float32Array.of(7));
  assert.deepEqual(await p.read(b), [-1, 7, -1, -1]);
  p.kernel("fill", { count: 2, value: 0, y: { ...b, offset: 8 } });
  assert.deepEqual(await p.read(b), [-1, 7, 0, 0]);
  assert.deepEqual(await p.read(a), [-1, -1, -0.5, -0.5]);
  assert.deepEqual(await p.read(c), zeros(4).fill(-1.5));
});

test("blocks that share a buffer are freed, and others take their places", options, async () => {
  const p = new Playing();
  const grad = p.view("float32", zeros(64).fill(2));
  const step = () => {
    const params = [1, 2, 3].map((x) => p.view("float32", zeros(64).fill(x)));
    for (const param of params) sgd(p, param, grad);
    return params;
  };
  let created = 0;
  for (let i = 0; i < 6; i++) {
    const params = step();
    const found = await Promise.all(params.map((param) => p.read(param)));
    for (const [k, numbers] of found.entries()) assert.deepEqual(numbers, zeros(64).fill(k));
    for (const { block } of params) p.stream.free(block);
    if (i === 2) created = p.stats.buffersCreated;
  }
  assert.equal(p.stats.buffersCreated, created);
});

test("gradients that come in other blocks from step to step", options, async () => {
  const p = new Playing();
  const params = [1, 2, 3].map(() => p.view("float32", zeros(64)));
  const grads = range(6, () => p.view("float32", zeros(64).fill(2)));
  const dispatchesOf = [];
  let created = 0;
  for (let i = 0; i < 12; i++) {
    const before = p.stats.dispatches;
    for (const [k, param] of params.entries()) sgd(p, param, grads[(k * (1 + (i % 2)) + i) % 6]);
    await p.play();
    dispatchesOf.push(p.stats.dispatches - before);
    if (i === 5) created = p.stats.buffersCreated;
  }
  assert.deepEqual(dispatchesOf, new Array(12).fill(1));
  assert.equal(p.stats.buffersCreated, created);
  for (const param of params) assert.deepEqual(await p.read(param), zeros(64).fill(-12));
});

for (const [kind, on] of Object.entries(devices))
  test(`gradients that a recording computes: ${kind}`, options, async () => {
    const counts = [64, 128, 64, 64];
    const train = async (isRecorded) => {
      const p = new Playing({ on });
      const params = counts.map((n, i) => p.view("float32", randoms(n, i + 1)));
      const others = counts.map((n) => p.view("float32", zeros(n)));
      const shared = p.view("float32", zeros(64));
      const step = (grads) => {
        for (const [i, param] of params.entries()) sgd(p, param, grads[i], 0.1);
      };
      step(others);
      // One that has been gathered, two in blocks of their own, and one that is copied and stays where it is.
      const grads = [others[0], ...counts.slice(1).map((n) => p.empty("float32", n))];
      const compute = () => {
        for (const [i, param] of params.entries())
          p.kernel(
            "elementwise",
            elementwise({ op: "mul", shape: [counts[i]] }, [
              [grads[i], [1]],
              [param, [1]],
              [param, [1]],
            ]),
          );
        copyBytes(p, shared, 0, grads[3], 0, 256);
      };
      if (isRecorded) p.stream.beginRecording(1);
      compute();
      if (isRecorded) p.stream.endRecording();
      step(grads);
      await p.play();
      let dispatches = 0;
      for (let i = 0; i < 3; i++) {
        const before = p.stats.dispatches;
        if (isRecorded) p.stream.playRecording(1);
        else compute();
        await p.play();
        const between = p.stats.dispatches;
        step(grads);
        await p.play();
        dispatches = [between - before, p.stats.dispatches - between];
      }
      const middle = await Promise.all(grads.map((view) => p.read(view)));
      if (isRecorded) p.stream.forget(1);
      // What is used afterwards is where it was moved.
      compute();
      step(grads);
      const last = await Promise.all([...params, ...grads, shared].map((view) => p.read(view)));
      return { results: [...middle, ...last], dispatches };
    };
    const right = await train(false);
    const found = await train(true);
    for (const [i, result] of found.results.entries())
      assertClose(result, right.results[i], kTolerance);
    assert.deepEqual(right.dispatches, [4, 1]);
    assert.deepEqual(found.dispatches, [kind === "software" ? 4 : 1, 2]);
  });
