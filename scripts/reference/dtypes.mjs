// Dtypes of functions and classes that are not ops, in words. What samples and examples have is measured.

const kFloating = "floating dtypes; gradient: the same";

const kRules = [
  [/^fromImage$/, "returns float32; no gradient"],
  [/^toCanvas$/, "uint8, floating dtypes"],
  [/^(finfo|iinfo)$/, "takes a floating dtype, or for iinfo an integer one"],
  [/^nn\.utils\.(parametersToVector|vectorToParameters)$/, kFloating],
  [/^nn\.utils\.(clipGrads?\w+|getTotalNorm|fuse\w+)$/, "floating dtypes"],
  [/^nn\.utils\.(parametrizations\.\w+|weightNorm|spectralNorm)$/, kFloating],
  [/^nn\.utils\.prune\.(?!isPruned|Base|\w*Container)\w+$/, kFloating],
  [/^optim\.swaUtils\.(AveragedModel|get\w+)$/, "floating dtypes, or as the model has them"],
  [
    /^distributions\.(StudentT|Laplace|LKJCholesky|Wishart|ExponentialFamily|Distribution|klDivergence|Transform)$/,
    kFloating,
  ],
  [/^edgegrad\/metrics\.(accuracy|rocAuc)$/, "real dtypes; returns float32; no gradient"],
  [/^edgegrad\/metrics\.perplexity$/, "logits of a floating dtype, which the result has"],
  [/^edgegrad\/metrics\.r2Score$/, "real dtypes"],
  [
    /^edgegrad\/distributed\.(allReduce|reduceScatter|allGather|broadcast)$/,
    "every dtype; half precision is summed in float32",
  ],
];

/** Returns the dtypes of a name in words; undefined if only runs tell them. */
export function dtypesInWords(name) {
  return kRules.find(([pattern]) => pattern.test(name))?.[1];
}
