// Misspelled options. tests/js/project/types.test.mjs compiles this file and expects an error in every line with a comment, which
// suggests the name in it.

import * as eg from "edgegrad";

const x = eg.ones([2]);
const model = new eg.nn.Linear(2, 3);
const optimizer = new eg.optim.SGD([x]);
const { lrScheduler } = eg.optim;

await eg.init({ thread: 2 }); // threads
eg.zeros([2], { dtpe: "float64" }); // dtype
eg.zeros(2, 3, { dtpe: "float64" }); // dtype
eg.randn([2], { requiresgrad: true }); // requiresGrad
eg.tensor([1], { requires_grad: true }); // requiresGrad
x.sum({ keepDim: true }); // keepdim
x.sum(1, { keepDim: true }); // keepdim
eg.crossEntropy(x, x, { labelSmothing: 0.1 }); // labelSmoothing
eg.conv2d(x, x, null, { strid: 1 }); // stride
x.backward(null, { retainGraf: true }); // retainGraph
eg.autograd.grad(x, x, { createGraf: true }); // createGraph
eg.testing.assertClose(x, x, { rtoll: 1 }); // rtol

eg.stft(x, 4, { hopLenght: 2 }); // hopLength
eg.stft(x, 4, 2, { winLenght: 2 }); // winLength
eg.cov(x, { corection: 0 }); // correction
eg.quantile(x, 0.5, null, { keepDim: true }); // keepdim
eg.hannWindow(4, { periodc: false }); // periodic
eg.hammingWindow(4, true, { dtpe: "float64" }); // dtype

new eg.nn.Linear(2, 3, { Bias: false }); // bias
new eg.nn.Conv2d(1, 2, 3, { strid: 2 }); // stride
new eg.nn.ConvTranspose2d(1, 2, 3, { strides: 2 }); // stride
new eg.nn.MaxPool2d(2, { strides: 2 }); // stride
new eg.nn.AvgPool2d(2, { strides: 2 }); // stride
new eg.nn.BatchNorm2d(2, { momentun: 2 }); // momentum
new eg.nn.GroupNorm(2, 2, { affin: true }); // affine
new eg.nn.Dropout(0.5, { inPlace: true }); // inplace
new eg.nn.HuberLoss({ detla: 1 }); // delta
new eg.nn.LSTM(2, 3, { numLayer: 2 }); // numLayers
new eg.nn.GRUCell(2, 3, { biass: true }); // bias
new eg.nn.MultiheadAttention(4, 2, { batchfirst: true }); // batchFirst
new eg.nn.TransformerEncoderLayer(4, 2, { dim_feedforward: 3 }); // dimFeedforward
eg.nn.utils.clipGradNorm_(model.parameters(), 1, { normtype: 1 }); // normType

new eg.optim.Adam([x], { weight_decay: 0.1 }); // weightDecay
new eg.optim.SGD([x], 0.1, { momentun: 0.1 }); // momentum
new lrScheduler.StepLR(optimizer, 1, { gama: 0.1 }); // gamma
new lrScheduler.ExponentialLR(optimizer, { gama: 0.1 }); // gamma
new lrScheduler.StepLR(optimizer, { stepsize: 2 }); // stepSize
new lrScheduler.CyclicLR(optimizer, 1, 2, { stepSizeup: 3 }); // stepSizeUp
new lrScheduler.OneCycleLR(optimizer, 1, { totalStep: 3 }); // totalSteps
new lrScheduler.ReduceLROnPlateau(optimizer, { patiense: 3 }); // patience

new eg.data.DataLoader([1, 2], { batchsize: 2 }); // batchSize
new eg.data.DataLoader([1, 2], 2, { shufle: true }); // shuffle
eg.data.randomSplit([1, 2], [1, 1], { generater: null }); // generator
new eg.distributions.Normal(0, 1, { validate_args: true }); // validateArgs
eg.io.saveSafetensors({}, { metdata: {} }); // metadata
