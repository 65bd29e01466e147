// Losses.

import { module } from "./module.mjs";

export const kLosses = [
  module(
    'new eg.nn.CrossEntropyLoss({ reduction: "sum", labelSmoothing: 0.1 })',
    "eg.randn([2, 3]), eg.randint(3, [2])",
  ),
  module("new eg.nn.NLLLoss({ ignoreIndex: 1 })", "eg.randn([2, 3]), eg.randint(3, [2])"),
  module(
    "new eg.nn.CTCLoss({ blank: 0, zeroInfinity: true })",
    "eg.randn([5, 2, 4]).logSoftmax(2), eg.randint(1, [4], { size: [2, 2] }), [5, 5], [2, 2]",
  ),
  [
    "eg.ctcLoss(eg.randn([5, 2, 4]), eg.tensor([1, 2, 3]), eg.tensor([5, 4]), [2, 1], { blank: 0 })",
  ],
  module('new eg.nn.KLDivLoss("batchmean", true)', "eg.randn([2, 3]), eg.randn([2, 3])"),
  module("new eg.nn.HuberLoss({ delta: 1 })", "eg.randn([3]), eg.randn([3])"),
  module(
    "new eg.nn.TripletMarginLoss({ margin: 1, p: 2 })",
    "eg.randn([2, 3]), eg.randn([2, 3]), eg.randn([2, 3])",
  ),
  module(
    "new eg.nn.TripletMarginWithDistanceLoss({ swap: true, margin: 1 })",
    "eg.randn([2, 3]), eg.randn([2, 3]), eg.randn([2, 3])",
  ),
  module("new eg.nn.GaussianNLLLoss({ full: true })", "eg.randn([3]), eg.randn([3]), eg.rand([3])"),
  module(
    "new eg.nn.BCEWithLogitsLoss({ posWeight: eg.rand([3]) })",
    "eg.randn([2, 3]), eg.rand([2, 3])",
  ),
  module("new eg.nn.MultiMarginLoss({ p: 1, margin: 1 })", "eg.randn([2, 3]), eg.randint(3, [2])"),
  ...[
    'MSELoss({ reduction: "none" })',
    "L1Loss()",
    "SmoothL1Loss({ beta: 0.5 })",
    "BCELoss({ weight: eg.rand([2, 3]) })",
    "PoissonNLLLoss({ full: true, logInput: false })",
    "SoftMarginLoss()",
    "MultiLabelSoftMarginLoss({ weight: eg.rand([3]) })",
    "HingeEmbeddingLoss({ margin: 0.5 })",
  ].map((loss) => module(`new eg.nn.${loss}`, "eg.rand([2, 3]), eg.rand([2, 3])")),
  module("new eg.nn.MultiLabelMarginLoss()", "eg.randn([2, 3]), eg.randint(3, [2, 3])"),
  module(
    "new eg.nn.CosineEmbeddingLoss({ margin: 0.1 })",
    "eg.randn([2, 3]), eg.randn([2, 3]), eg.ones([2])",
  ),
  module(
    "new eg.nn.MarginRankingLoss({ margin: 1 })",
    "eg.randn([3]), eg.randn([3]), eg.ones([3])",
  ),
  [
    "eg.nn.functional.ctcLoss(eg.randn([5, 2, 4]), eg.randint(1, [4], { size: [2, 2] }), [5, 5], [2, 2])",
    "eg.tripletMarginWithDistanceLoss(eg.randn([2, 3]), eg.randn([2, 3]), eg.randn([2, 3]), { distanceFunction: (a, b) => a.sub(b).abs().sum(1), margin: 2 })",
    "eg.nn.functional.tripletMarginWithDistanceLoss(eg.randn([2, 3]), eg.randn([2, 3]), eg.randn([2, 3]), { swap: true })",
  ],
];
