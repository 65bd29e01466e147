// The models of steps.mjs that are made of layers, as TensorFlow.js has them too: an LSTM, a ResNet18 and a U-Net of the same shapes.
// jax-js has neither recurrent layers nor batch norm nor transposed convolutions.

import { kModels } from "./steps.mjs";

export const kLayered = ["lstm", "resnet18", "unet"].map((name) => ({
  name,
  title: `${kModels[name].title}, Adam`,
}));

/** For each library, a function that resolves to {step, loss} of a model. */
export const kTrainers = { edgegrad: trainHere, tfjs: trainInTfjs };

async function trainHere(name, { captured = false }) {
  const eg = await import("edgegrad");
  const { trainerOf } = await import("../trainers/edgegrad.mjs");
  const { make, batch } = kModels[name];
  const model = make().to("webgpu");
  const optimizer = new eg.optim.Adam(model.parameters(), { lr: 1e-3 });
  return trainerOf(model, optimizer, [batch().map((one) => one.to("webgpu"))], captured);
}

async function trainInTfjs(name) {
  const tf = await import("@tensorflow/tfjs");
  const { layers } = tf;
  const conv = (filters, kernelSize, strides = 1) =>
    layers.conv2d({ filters, kernelSize, strides, padding: "same", useBias: false });
  const normed = (x, ...given) => layers.batchNormalization().apply(conv(...given).apply(x));
  const relu = (x) => layers.reLU().apply(x);
  const add = (a, b) => layers.add().apply([a, b]);
  const basic = (x, to, strides) => {
    const y = normed(relu(normed(x, to, 3, strides)), to, 3);
    return relu(add(y, strides === 1 ? x : normed(x, to, 1, strides)));
  };
  const twice = (x, to) => relu(normed(relu(normed(x, to, 3)), to, 3));
  const networks = {
    lstm: {
      input: [32, 32],
      rows: [16],
      classes: 10,
      apply: (x) => layers.dense({ units: 10 }).apply(layers.lstm({ units: 64 }).apply(x)),
    },
    resnet18: {
      input: [32, 32, 3],
      rows: [2],
      classes: 10,
      apply(x) {
        let y = relu(normed(x, 8, 3));
        for (const [i, strides] of [1, 2, 2, 2].entries())
          y = basic(basic(y, 8 << i, strides), 8 << i, 1);
        return layers.dense({ units: 10 }).apply(layers.globalAveragePooling2d({}).apply(y));
      },
    },
    unet: {
      input: [32, 32, 3],
      rows: [2, 32, 32],
      classes: 2,
      apply(x) {
        const pool = (y) => layers.maxPooling2d({ poolSize: 2 }).apply(y);
        const up = (y, filters) =>
          layers.conv2dTranspose({ filters, kernelSize: 2, strides: 2 }).apply(y);
        const join = (a, b) => layers.concatenate().apply([a, b]);
        const first = twice(x, 8);
        const second = twice(pool(first), 16);
        const third = twice(pool(second), 32);
        const middle = twice(join(second, up(third, 16)), 16);
        const last = twice(join(first, up(middle, 8)), 8);
        return layers.conv2d({ filters: 2, kernelSize: 1 }).apply(last);
      },
    },
  };
  const { input, rows, classes, apply } = networks[name];
  const symbolic = tf.input({ shape: input });
  const model = tf.model({ inputs: symbolic, outputs: apply(symbolic) });
  const optimizer = tf.train.adam(1e-3);
  const x = tf.randomNormal([rows[0], ...input]);
  const y = tf.oneHot(tf.randomUniform(rows, 0, classes, "int32"), classes);
  let loss = null;
  return {
    step() {
      loss?.dispose();
      const run = () => tf.losses.softmaxCrossEntropy(y, model.apply(x, { training: true }));
      loss = optimizer.minimize(run, true);
    },
    loss: async () => (await loss.data())[0],
  };
}
