// Shapes of layers and ops in words: sizes by the names of their arguments. What samples and examples have is added as it was measured.

// "*" stands for any dims.
const kSame = "[*] → [*]";
const kOfImages = ["L", "H, W", "D, H, W"];

const pooled = (dims) => dims.replaceAll(/[A-Z]/g, "$&'");

// The dims of the layers for 1, 2 or 3 dims.
const spatial = (name) => kOfImages[Number(/([123])d/.exec(name)[1]) - 1];

// How one of these sizes follows from the size of the input and the arguments. The formulas of convolutions say it.
const kSizes = [
  [/maxUnpool/i, "(S - 1) * stride - 2 * padding + kernelSize"],
  [/^(nn\.)?(adaptive|fractional)/i, "outputSize"],
  [/lpPool/i, "floor((S - kernelSize) / stride + 1)"],
  [/avgPool/i, "floor((S + 2 * padding - kernelSize) / stride + 1)"],
  [/maxPool/i, "floor((S + 2 * padding - dilation * (kernelSize - 1) - 1) / stride + 1)"],
  [/Pad[123]d$/, "S + padding before + padding after"],
];

function sizesOf(name) {
  const first = spatial(name)[0];
  const [, size] = kSizes.find(([pattern]) => pattern.test(name));
  const others = pooled(spatial(name)).slice(4);
  const likewise = others === "" ? "" : `, likewise ${others.replace(", ", " and ")}`;
  return `${first}' = ${size.replace(/\bS\b/, first)}${likewise}`;
}

function resized(name) {
  const dims = spatial(name);
  return `[N, C, ${dims}] → [N, C, ${pooled(dims)}]; N may be missing; ${sizesOf(name)}`;
}

const kRules = [
  [
    /^nn\.(Lazy)?Conv(Transpose)?[123]d$/,
    (name) =>
      `[N, inChannels, ${spatial(name)}] → [N, outChannels, ${pooled(spatial(name))}]; N may be missing`,
  ],
  [/^nn\.(Adaptive|Fractional|LP|Max|Avg)\w*Pool[123]d$|^nn\.MaxUnpool[123]d$/, resized],
  [/^(adaptive|lp|max|avg)\w*[pP]ool[123]d$|^maxUnpool[123]d$/, resized],
  [
    /^conv[123]d$/,
    (name) =>
      `[N, inChannels, ${spatial(name)}], [outChannels, inChannels / groups, ${spatial(name).replaceAll(/[A-Z]/g, "k$&")}] → [N, outChannels, ${pooled(spatial(name))}]`,
  ],
  [
    /^convTranspose[123]d$/,
    (name) =>
      `[N, inChannels, ${spatial(name)}], [inChannels, outChannels / groups, ${spatial(name).replaceAll(/[A-Z]/g, "k$&")}] → [N, outChannels, ${pooled(spatial(name))}]`,
  ],
  [
    /^nn\.(Lazy)?(Batch|Instance)Norm([123])d$/,
    (name) => `[N, C, ${spatial(name)}] → [N, C, ${spatial(name)}]`,
  ],
  [/^nn\.(Circular|Constant|Reflection|Replication|Zero)Pad[123]d$/, resized],
  [/^nn\.(Dropout[123]d)$/, (name) => `[N, C, ${spatial(name)}] → [N, C, ${spatial(name)}]`],
  [/^nn\.(Lazy)?Linear$|^linear$/, () => "[*, inFeatures] → [*, outFeatures]"],
  [/^nn\.Bilinear$|^bilinear$/, () => "[*, in1Features], [*, in2Features] → [*, outFeatures]"],
  [/^nn\.Embedding$|^embedding$/, () => "[*] → [*, embeddingDim]"],
  [
    /^nn\.EmbeddingBag$|^embeddingBag$/,
    () => "[bags, n] or [n] with offsets [bags] → [bags, embeddingDim]",
  ],
  [
    /^nn\.(RNN|GRU)$/,
    () =>
      "input [L, N, inputSize], state [layers, N, hiddenSize] → output [L, N, hiddenSize], state [layers, N, hiddenSize]; [N, L, ...] with batchFirst",
  ],
  [
    /^nn\.LSTM$/,
    () =>
      "input [L, N, inputSize], two states [layers, N, hiddenSize] → output [L, N, hiddenSize], two states [layers, N, hiddenSize]; [N, L, ...] with batchFirst",
  ],
  [/^nn\.(RNN|GRU)Cell$/, () => "input [N, inputSize], state [N, hiddenSize] → [N, hiddenSize]"],
  [
    /^nn\.LSTMCell$/,
    () => "input [N, inputSize], two states [N, hiddenSize] → two states [N, hiddenSize]",
  ],
  [
    /^nn\.MultiheadAttention$/,
    () =>
      "query [L, N, embedDim], key and value [S, N, embedDim] → output [L, N, embedDim], weights [N, L, S]; [N, L, ...] with batchFirst",
  ],
  [
    /^nn\.TransformerEncoder(Layer)?$/,
    () => "[S, N, dModel] → [S, N, dModel]; [N, S, ...] with batchFirst",
  ],
  [
    /^nn\.Transformer(Decoder(Layer)?)?$/,
    () => "[T, N, dModel], [S, N, dModel] → [T, N, dModel]; [N, T, ...] with batchFirst",
  ],
  [
    /^nn\.(LayerNorm|RMSNorm)$|^(layerNorm|rmsNorm)$/,
    () => "[*, normalizedShape] → [*, normalizedShape]",
  ],
  [
    /^nn\.(GroupNorm|LocalResponseNorm)$|^(groupNorm|localResponseNorm|batchNorm|instanceNorm)$/,
    () => "[N, C, *] → [N, C, *]",
  ],
  [/^nn\.GLU$|^glu$/, () => "[*, 2 n, *] → [*, n, *]"],
  [
    /^nn\.(CrossEntropyLoss|NLLLoss)$|^(crossEntropy|nllLoss)$/,
    () => 'input [N, C, *], target [N, *] → [], or [N, *] with reduction: "none"',
  ],
  [
    /^nn\.(MultiMarginLoss)$|^multiMarginLoss$/,
    () => 'input [N, C], target [N] → [], or [N] with reduction: "none"',
  ],
  [
    /^nn\.(MultiLabel\w*Loss)$|^multilabel\w*Loss$/,
    () => 'input [N, C], target [N, C] → [], or [N] with reduction: "none"',
  ],
  [
    /^nn\.(CosineEmbedding|Triplet\w*)Loss$|^(cosineEmbedding|triplet\w*)Loss$/,
    () => 'vectors [N, D] → [], or [N] with reduction: "none"',
  ],
  [
    /^nn\.CTCLoss$|^ctcLoss$/,
    () => 'input [T, N, C], target [N, S] → [], or [N] with reduction: "none"',
  ],
  [
    /^nn\.AdaptiveLogSoftmaxWithLoss$/,
    () => "input [N, inFeatures], target [N] → output [N], loss []",
  ],
  [/^nn\.\w*Loss$/, () => 'input [*], target [*] → [], or [*] with reduction: "none"'],
  [/^nn\.(CosineSimilarity|PairwiseDistance)$/, () => "[*, D], [*, D] → [*]"],
  [/^nn\.(Flatten)$/, () => "[N, *] → [N, the product of the other sizes]"],
  [/^nn\.(Unflatten)$/, () => "[*, the product of the sizes, *] → [*, sizes, *]"],
  [/^nn\.Fold$|^col2im$/, () => "[N, C * kH * kW, patches] → [N, C, H, W]"],
  [/^nn\.Unfold$|^im2col$/, () => "[N, C, H, W] → [N, C * kH * kW, patches]"],
  [/^nn\.PixelShuffle$|^pixelShuffle$/, () => "[*, C * r * r, H, W] → [*, C, H * r, W * r]"],
  [/^nn\.PixelUnshuffle$|^pixelUnshuffle$/, () => "[*, C, H * r, W * r] → [*, C * r * r, H, W]"],
  [/^nn\.Upsampl\w+$|^interpolate$/, () => "[N, C, *] → [N, C, *'], as size or scaleFactor says"],
  [/^nn\.(ChannelShuffle)$|^channelShuffle$/, () => "[N, C, *] → [N, C, *]"],
  [/^nn\.PReLU$|^prelu$/, () => "input [N, C, *], weight [1] or [C] → [N, C, *]"],
  [/^nn\.(Sequential|ModuleList|ModuleDict|ParameterList|ParameterDict|Module)$/, () => null],
  [/^nn\.(Parameter|Buffer|Uninitialized\w+)$/, () => "any shape"],
  [/^nn\.[A-Z]\w*$/, () => kSame],
  [/^distributions\.\w*Transform$/, () => kSame],
  [
    /^distributions\.[A-Z]\w*$/,
    () =>
      "parameters that broadcast to batchShape; sample(size) → [size, batchShape, eventShape], logProb(value) → [size, batchShape]",
  ],
  [
    /^optim\.[A-Z]\w*$/,
    (name) =>
      /Optimizer|Scheduler/.test(name)
        ? "parameters of any shape"
        : "parameters of any shape; the state of each has its shape",
  ],
  // Functions without samples, and those of add-ons.
  [/^(allclose|equal)$/, () => "[*], [*] → a boolean"],
  [/^broadcastShapes$/, () => "lists of sizes → the sizes to which they broadcast"],
  [/^tensor$/, () => "a number → []; nested arrays → their lengths, from the outermost"],
  [/^fromImage$/, () => "a picture → [channels, height, width]"],
  [/^toCanvas$/, () => "[channels, height, width] or [height, width]; 1, 3 or 4 channels"],
  [/^sparseCooTensor$/, () => "indices [sparse dims, n], values [n, *] → size"],
  [/^sparseCsrTensor$/, () => "row offsets [rows + 1], columns [n], values [n] → [rows, columns]"],
  [
    /^autograd\.(backward|backwardAsync)$/,
    () => "outputs []; others with a gradient of their shape",
  ],
  [/^autograd\.gradAsync$/, () => "outputs [], inputs [*] → a gradient [*] for each input"],
  [/^autograd\.forwardAd\.\w+Dual$/, () => "value [*], tangent [*]"],
  [/^func\.(grad|gradAndValue)$/, () => "f: [*] → [] gives [*]"],
  [/^func\.vjp$/, () => "f: [in] → [out] takes vectors [out] to [in]"],
  [/^func\.linearize$/, () => "f: [in] → [out] takes vectors [in] to [out]"],
  [/^func\.(jacrev|jacfwd)$/, () => "f: [in] → [out] gives [out, in]"],
  [/^func\.hessian$/, () => "f: [in] → [] gives [in, in]"],
  [/^func\.vmap$/, () => "f: [in] → [out] becomes [batch, in] → [batch, out]"],
  [/^distributions\.klDivergence$/, () => "two distributions → their batchShape"],
  [/^nn\.utils\.getTotalNorm$/, () => "tensors of any shapes → []"],
  [/^nn\.utils\.clipGrad\w+$/, () => "parameters of any shapes, whose gradients are clipped"],
  [
    /^nn\.utils\.(parametrizations\.\w+|weightNorm|spectralNorm|prune\.[a-zA-Z]+)$/,
    (name) => (/isPruned|Container$/.test(name) ? null : "a parameter of any shape, which stays"),
  ],
  [
    /^nn\.utils\.rnn\.packSequence$/,
    () => "[length, *] for each sequence → data [sum of lengths, *]",
  ],
  [
    /^nn\.utils\.rnn\.unpackSequence$/,
    () => "data [sum of lengths, *] → [length, *] for each sequence",
  ],
  [/^edgegrad\/metrics\.accuracy$/, () => "output [N, C] or [N], target [N] → []"],
  [/^edgegrad\/metrics\.perplexity$/, () => "logits [*, V], target [*] → []"],
  [/^edgegrad\/metrics\.r2Score$/, () => "output [*], target [*] → []"],
  [/^edgegrad\/metrics\.rocAuc$/, () => "scores [N], target [N] → []"],
  [/^edgegrad\/metrics\.ConfusionMatrix$/, () => "output [N, C] or [N], target [N]; counts [C, C]"],
  [/^edgegrad\/vis\.(pca|umap)$/, () => "[points, features] → [points, components]"],
  [/^edgegrad\/distributed\.(allReduce|broadcast)$/, () => "[*] → [*], the same on all ranks"],
  [/^edgegrad\/distributed\.allGather$/, () => "[*] → [*] for each rank"],
  [/^edgegrad\/distributed\.reduceScatter$/, () => "[worldSize * n, *] → [n, *]"],
  [/^optim\.lrScheduler\./, () => "none: it changes learning rates, which are numbers"],
];

const kOfFamilies = {
  Activations: kSame,
  Softmax: kSame,
  Scans: kSame,
};

/** Returns the shapes that a function or class takes and returns, in words; null if only samples tell them. */
export function shapesInWords(name, op) {
  const [, make] = kRules.find(([pattern]) => pattern.test(name)) ?? [];
  if (make) return make(name);
  if (op === undefined) return null;
  if (op.kind === "elementwise") {
    const operands = op.args.filter(({ type }) => type.startsWith("operand")).length;
    return operands === 1
      ? kSame
      : "operands of any shapes that broadcast → the shape that they broadcast to";
  }
  if (op.family === "Reductions")
    return "[*] → [], or with dim [*] without the dim, of size 1 with keepdim";
  return kOfFamilies[op.family] ?? null;
}
