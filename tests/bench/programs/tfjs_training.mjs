// The same training step in TensorFlow.js, for either way of loading its modules.

export async function trainOneStep(tf) {
  await tf.setBackend("wasm");
  await tf.ready();
  const uniform = (shape) => tf.variable(tf.randomUniform(shape, -0.03, 0.03));
  const [w1, b1, w2, b2] = [[784, 128], [128], [128, 10], [10]].map(uniform);
  const optimizer = tf.train.sgd(0.1);
  const x = tf.randomNormal([64, 784]);
  const labels = Float32Array.from({ length: 640 }, (_, i) => Number(i % 10 === 0));
  const y = tf.tensor2d(labels, [64, 10]);

  const loss = optimizer.minimize(() => {
    const hidden = tf.relu(tf.add(tf.matMul(x, w1), b1));
    const logits = tf.add(tf.matMul(hidden, w2), b2);
    return tf.losses.softmaxCrossEntropy(y, logits);
  }, true);
  await loss.data();
  console.log(performance.timeOrigin + performance.now());
}
