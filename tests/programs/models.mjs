// Many kinds of models, for the ops that they use.

import * as eg from "edgegrad";

const { nn, optim } = eg;
const F = nn.functional;
const all = eg.slice();

function fit(params, lossOf, record, optimizer = new optim.Adam(params, { lr: 0.02 })) {
  for (let step = 0; step < 15; step++) {
    optimizer.zeroGrad();
    const loss = lossOf();
    loss.backward();
    optimizer.step();
    record(loss);
  }
  return params;
}

const parametersOf = (...modules) => modules.flatMap((module) => [...module.parameters()]);
const linear = (dtype, ...sizes) => new nn.Linear(...sizes).to(dtype);

function gcn(record, dtype) {
  const edges = eg.randint(0, 12, [2, 30]);
  const ones = eg.ones([30], { dtype });
  const half = eg.zeros([12, 12], { dtype }).indexPut([edges.at(0), edges.at(1)], ones);
  const adjacency = half.add(half.T).add(eg.eye(12, { dtype })).gt(0).to(dtype);
  const d = adjacency.sum(1).pow(-0.5);
  const mixing = d.at(all, null).mul(adjacency).mul(d.at(null, all));
  const x = eg.randn([12, 5], { dtype });
  const y = eg.randint(0, 3, [12]);
  const first = linear(dtype, 5, 8);
  const second = linear(dtype, 8, 3);
  const seen = eg.rand([12]).lt(0.6);
  const lossOf = () => {
    const hidden = F.relu(mixing.matmul(first.call(x)));
    const out = mixing.matmul(second.call(F.dropout(hidden, 0.3)));
    return F.nllLoss(F.logSoftmax(out, 1).at(seen), y.at(seen));
  };
  return fit(parametersOf(first, second), lossOf, record);
}

/** Attention over the edges of a graph, with scattered sums. */
function gat(record, dtype) {
  const source = eg.randint(0, 10, [40]);
  const target = eg.randint(0, 10, [40]);
  const x = eg.randn([10, 4], { dtype });
  const y = eg.randn([10], { dtype });
  const w = linear(dtype, 4, 6);
  const a = linear(dtype, 12, 1);
  const head = linear(dtype, 6, 1);
  const zeros = (...shape) => eg.zeros(shape, { dtype });
  const lossOf = () => {
    const h = w.call(x);
    const pairs = eg.cat([h.at(source), h.at(target)], 1);
    const e = F.leakyRelu(a.call(pairs).squeeze(1), 0.2);
    const largest = zeros(10).scatterReduce(0, target, e, "amax", { includeSelf: false });
    const raised = e.sub(largest.at(target)).exp();
    const total = zeros(10).indexAdd(0, target, raised);
    const p = raised.div(total.at(target).add(1e-9));
    const places = target.at(all, null).expand([-1, 6]);
    const out = zeros(10, 6).scatterAdd(0, places, p.at(all, null).mul(h.at(source)));
    return F.mseLoss(head.call(F.elu(out)).squeeze(1), y);
  };
  return fit(parametersOf(w, a, head), lossOf, record);
}

function dqn(record, dtype) {
  const network = new nn.Sequential(new nn.Linear(3, 16), new nn.ReLU(), new nn.Linear(16, 4));
  const target = network.to(dtype).clone();
  const settings = { lr: 1e-3, alpha: 0.95, eps: 0.01 };
  const optimizer = new optim.RMSprop(network.parameters(), settings);
  const states = eg.randn([40, 3], { dtype });
  const rewards = eg.randn([40], { dtype });
  const actions = eg.randint(0, 4, [40]);
  const done = eg.rand([40]).lt(0.2);
  for (let step = 0; step < 25; step++) {
    const i = eg.randint(0, 39, [8]);
    const q = network.call(states.at(i)).gather(1, actions.at(i).unsqueeze(1)).squeeze(1);
    const later = eg.noGrad(() => {
      const following = states.at(i.add(1));
      const best = network.call(following).argmax(1, { keepdim: true });
      return target.call(following).gather(1, best).squeeze(1).maskedFill(done.at(i), 0);
    });
    const loss = F.smoothL1Loss(q, rewards.at(i).add(later.mul(0.9)));
    optimizer.zeroGrad();
    loss.backward();
    for (const p of network.parameters()) p.grad.clamp_(-1, 1);
    optimizer.step();
    const own = network.parameters();
    for (const [k, p] of target.parameters().entries()) {
      p.detach().copy_(p.mul(0.95).add(own[k].mul(0.05)).detach());
    }
    record(loss);
  }
  return parametersOf(network, target);
}

class LoRA extends nn.Module {
  constructor(inner, rank) {
    super();
    this.inner = inner;
    for (const p of inner.parameters()) p.requiresGrad = false;
    this.A = new nn.Parameter(eg.empty([rank, inner.inFeatures]));
    this.B = new nn.Parameter(eg.zeros([inner.outFeatures, rank]));
    nn.init.kaimingUniform_(this.A, { a: 5 ** 0.5 });
  }

  forward(x) {
    return this.inner.call(x).add(x.matmul(this.A.T).matmul(this.B.T).mul(2));
  }
}

function lora(record, dtype) {
  const plain = [new nn.Linear(6, 10), new nn.GELU(), new nn.Linear(10, 2)];
  const model = new nn.Sequential(new LoRA(plain[0], 2), plain[1], new LoRA(plain[2], 1)).to(dtype);
  const x = eg.randn([20, 6], { dtype });
  const y = eg.randint(0, 2, [20]);
  const params = model.parameters().filter((p) => p.requiresGrad);
  const optimizer = new optim.AdamW(params, { lr: 0.02 });
  fit(params, () => F.crossEntropy(model.call(x), y), record, optimizer);
  return model.parameters();
}

function gaussianProcess(record, dtype) {
  const x = eg.linspace(-1, 1, 14, { dtype });
  const y = x
    .mul(3)
    .sin()
    .add(eg.randn([14], { dtype }).mul(0.1));
  const raw = new nn.Parameter(eg.zeros([3], { dtype }));
  const column = x.at(all, null);
  const lossOf = () => {
    const [length, scale] = raw.exp();
    const distances = eg.cdist(column, column).square().div(length.pow(2));
    const smooth = scale.mul(distances.mul(-0.5).exp());
    const noise = raw.at(2).exp().mul(0.1).add(0.05);
    const factor = eg.cholesky(smooth.add(noise.mul(eg.eye(14, { dtype }))));
    const alpha = eg.choleskySolve(y.at(all, null), factor);
    const fitted = y.matmul(alpha.squeeze(1)).mul(0.5);
    return fitted.add(factor.diagonal().log().sum());
  };
  return fit([raw], lossOf, record);
}

/** Matrix factorisation with biases, for the observed ratings. */
function factorised(record, dtype) {
  const users = eg.randint(0, 8, [50]);
  const items = eg.randint(0, 9, [50]);
  const ratings = eg.randint(1, 6, [50]).to(dtype);
  const sizes = [
    [8, 4],
    [9, 4],
    [8, 1],
    [9, 1],
  ];
  const tables = sizes.map(([rows, width]) => new nn.Embedding(rows, width).to(dtype));
  for (const table of tables) nn.init.uniform_(table.weight, -0.1, 0.1);
  const [u, v, bu, bv] = tables;
  const mean = ratings.mean();
  const lossOf = () => {
    const alike = u.call(users).mul(v.call(items)).sum(-1);
    const biases = bu.call(users).squeeze(-1).add(bv.call(items).squeeze(-1));
    const sums = tables.map((table) => table.weight.pow(2).sum());
    const penalty = sums.reduce((a, b) => a.add(b));
    return F.mseLoss(mean.add(alike).add(biases), ratings).add(penalty.mul(1e-3));
  };
  const params = parametersOf(...tables);
  return fit(params, lossOf, record, new optim.Adagrad(params, { lr: 0.3 }));
}

/** CLIP: two encoders, a learned temperature, a symmetric loss. */
function contrastive(record, dtype) {
  const images = eg.randn([8, 6], { dtype });
  const texts = eg.randn([8, 5], { dtype });
  const a = linear(dtype, 6, 4);
  const b = linear(dtype, 5, 4);
  const scale = new nn.Parameter(eg.tensor(2, { dtype }));
  const labels = eg.arange(8);
  const lossOf = () => {
    const x = F.normalize(a.call(images), { dim: -1 });
    const y = F.normalize(b.call(texts), { dim: -1 });
    const logits = scale.exp().mul(x).matmul(y.t());
    return F.crossEntropy(logits, labels).add(F.crossEntropy(logits.t(), labels)).div(2);
  };
  return fit([...parametersOf(a, b), scale], lossOf, record);
}

/** A frequency filter with learned complex weights, whose loss includes a spectrogram. */
function spectral(record, dtype) {
  const x = eg.randn([3, 64], { dtype });
  const wanted = eg.roll(x, 3, 1);
  const weight = new nn.Parameter(eg.ones([33, 2], { dtype }));
  const window = eg.hannWindow(16, { dtype });
  const heights = (signal) => eg.stft(signal, 16, 8, { window, returnComplex: true }).abs();
  const lossOf = () => {
    const out = eg.irfft(eg.rfft(x).mul(eg.viewAsComplex(weight)), { n: 64 });
    return F.mseLoss(out, wanted).add(F.l1Loss(heights(out), heights(wanted)));
  };
  return fit([weight], lossOf, record);
}

function sinkhorn(record, dtype) {
  const x = new nn.Parameter(eg.randn([10, 2], { dtype }));
  const y = eg.randn([12, 2], { dtype }).add(2);
  const lossOf = () => {
    const cost = eg.cdist(x, y, { p: 2 }).pow(2);
    let f = eg.zeros([10], { dtype });
    let g = eg.zeros([12], { dtype });
    for (let round = 0; round < 6; round++) {
      const rows = g.at(null).sub(cost).div(0.5).sub(Math.log(12));
      f = eg.logsumexp(rows, 1).mul(-0.5);
      const columns = f.at(all, null).sub(cost).div(0.5).sub(Math.log(10));
      g = eg.logsumexp(columns, 0).mul(-0.5);
    }
    const plan = f.at(all, null).add(g.at(null)).sub(cost).div(0.5).exp().div(120);
    return plan.mul(cost).sum();
  };
  return fit([x], lossOf, record);
}

/** Mixup with coefficients from a Beta distribution, and one step of FGSM. */
function mixedUp(record, dtype) {
  const x = eg.randn([16, 4], { dtype });
  const y = eg.randint(0, 3, [16]);
  const model = new nn.Sequential(new nn.Linear(4, 12), new nn.ReLU(), new nn.Linear(12, 3));
  const [a, b] = [eg.tensor(0.4, { dtype }), eg.tensor(0.4, { dtype })];
  const beta = new eg.distributions.Beta(a, b);
  const lossOf = () => {
    const lam = beta.sample();
    const order = eg.randperm(16);
    const rest = eg.sub(1, lam);
    const seen = lam
      .mul(x)
      .add(rest.mul(x.at(order)))
      .requiresGrad_();
    const [grad] = eg.autograd.grad(F.crossEntropy(model.call(seen), y), seen);
    const attacked = eg.clamp(seen.add(grad.sign().mul(0.05)), -2, 2).detach();
    const out = model.call(attacked);
    return lam.mul(F.crossEntropy(out, y)).add(rest.mul(F.crossEntropy(out, y.at(order))));
  };
  return fit(model.to(dtype).parameters(), lossOf, record);
}

/** VQ-VAE: the nearest code, a straight-through gradient, and codes that move towards the encodings. */
function quantized(record, dtype) {
  const x = eg.randn([20, 4], { dtype });
  const encoder = linear(dtype, 4, 3);
  const decoder = linear(dtype, 3, 4);
  const codes = new nn.Parameter(eg.rand([6, 3], { dtype }).sub(0.5));
  const lossOf = () => {
    const z = encoder.call(x);
    const index = eg.cdist(z, codes).argmin(1);
    const q = F.embedding(index, codes);
    const kept = F.mseLoss(z, q.detach()).mul(0.25);
    const commitment = F.mseLoss(q, z.detach()).add(kept);
    const used = F.oneHot(index, 6).to(dtype).mean(0);
    record(used.mul(used.add(1e-10).log()).sum().neg().exp());
    return F.mseLoss(decoder.call(z.add(q.sub(z).detach())), x).add(commitment);
  };
  return fit([...parametersOf(encoder, decoder), codes], lossOf, record);
}

/** Box regression: an overlap loss, a focal loss, and hard negative mining. */
function detected(record, dtype) {
  const x = eg.randn([12, 5], { dtype });
  const low = eg.rand([12, 2], { dtype });
  const wanted = eg.cat([low, low.add(eg.rand([12, 2], { dtype })).add(0.1)], 1);
  const labels = eg.rand([12]).lt(0.4).to(dtype);
  const box = linear(dtype, 5, 4);
  const score = linear(dtype, 5, 1);
  const [from, to] = [eg.slice(null, 2), eg.slice(2, null)];
  const column = (boxes, i) => boxes.at(all, i);
  const area = (b) =>
    column(b, 2)
      .sub(column(b, 0))
      .mul(column(b, 3).sub(column(b, 1)));
  const lossOf = () => {
    const raw = box.call(x).sigmoid().mul(2);
    const [start, size] = [raw.at(all, from), raw.at(all, to)];
    const made = eg.cat([start, start.add(size).add(0.05)], 1);
    const ends = eg.min(made.at(all, to), wanted.at(all, to));
    const starts = eg.max(made.at(all, from), wanted.at(all, from));
    const inside = ends.sub(starts).clamp({ min: 0 }).prod(1);
    const iou = inside.div(area(made).add(area(wanted)).sub(inside));
    const logits = score.call(x).squeeze(1);
    const p = eg.sigmoid(logits);
    const bce = F.binaryCrossEntropyWithLogits(logits, labels, { reduction: "none" });
    const right = p.mul(labels).add(eg.sub(1, p).mul(eg.sub(1, labels)));
    const focal = eg.sub(1, right).pow(2).mul(bce).mean();
    const [hardest] = bce.at(labels.eq(0)).topk(3);
    return eg.sub(1, iou).mean().add(focal).add(hardest.mean().mul(0.5));
  };
  return fit(parametersOf(box, score), lossOf, record);
}

/** NeRF: positional encoding, densities along rays, and products of transmittances. */
function rays(record, dtype) {
  const [points] = eg.rand([4, 8, 1], { dtype }).sort({ dim: 1 });
  const colors = eg.rand([4, 3], { dtype });
  const net = new nn.Sequential(new nn.Linear(8, 16), new nn.ReLU(), new nn.Linear(16, 4));
  const lossOf = () => {
    const waves = points.mul(eg.pow(2, eg.arange(4, { dtype }))).mul(Math.PI);
    const out = net.call(eg.cat([waves.sin(), waves.cos()], -1));
    const sigma = F.softplus(out.at("...", 3));
    const rgb = out.at("...", eg.slice(null, 3)).sigmoid();
    const [later, earlier] = [eg.slice(1, null), eg.slice(null, -1)];
    const steps = points.at(all, later, 0).sub(points.at(all, earlier, 0));
    const gaps = eg.cat([steps, eg.full([4, 1], 0.3, { dtype })], 1);
    const alpha = eg.sub(1, sigma.neg().mul(gaps).exp());
    const free = eg.cat([eg.ones([4, 1], { dtype }), eg.sub(1, alpha).add(1e-10)], 1);
    const weights = alpha.mul(eg.cumprod(free, 1).at(all, earlier));
    return F.mseLoss(eg.einsum("rs,rsc->rc", weights, rgb), colors);
  };
  return fit(net.to(dtype).parameters(), lossOf, record);
}

function quantiles(record, dtype) {
  const x = eg.randn([30, 3], { dtype });
  const y = x.sum(1).add(eg.randn([30], { dtype }).mul(0.3));
  const model = linear(dtype, 3, 3, false);
  const levels = eg.tensor([0.1, 0.5, 0.9], { dtype });
  const lossOf = () => {
    const error = y.at(all, null).sub(model.call(x));
    record(eg.quantile(error.detach().abs(), 0.75));
    record(error.detach().median());
    const pinball = eg.maximum(levels.mul(error), levels.sub(1).mul(error)).mean();
    return pinball.add(model.weight.norm(1).mul(0.01));
  };
  return fit(model.parameters(), lossOf, record);
}

/** A conditional random field: the forward algorithm, and the best path by Viterbi. */
function crf(record, dtype) {
  const x = eg.randn([7, 5], { dtype });
  const tags = eg.randint(0, 3, [7]);
  const emit = linear(dtype, 5, 3);
  const moves = new nn.Parameter(eg.zeros([3, 3], { dtype }));
  const [before, after] = [tags.at(eg.slice(null, -1)), tags.at(eg.slice(1, null))];
  const lossOf = () => {
    const scores = emit.call(x);
    let alpha = scores.at(0);
    for (let t = 1; t < 7; t++) {
      const steps = alpha.at(all, null).add(moves).add(scores.at(t).at(null));
      alpha = eg.logsumexp(steps, { dim: 0 });
    }
    const right = scores.gather(1, tags.at(all, null)).sum();
    return alpha.logsumexp(0).sub(right.add(moves.at(before, after).sum()));
  };
  const params = fit([...emit.parameters(), moves], lossOf, record);
  let best = emit.call(x).at(0).detach();
  for (let t = 1; t < 7; t++) {
    const steps = best.at(all, null).add(moves.detach()).add(emit.call(x).at(t).detach());
    const [values] = steps.max({ dim: 0 });
    best = values;
  }
  record(best.max());
  return params;
}

export const programs = {
  GCN: gcn,
  GAT: gat,
  DQN: dqn,
  LoRA: lora,
  "Gaussian process": gaussianProcess,
  "matrix factorisation": factorised,
  CLIP: contrastive,
  "filter of frequencies": spectral,
  Sinkhorn: sinkhorn,
  "mixup and FGSM": mixedUp,
  "VQ-VAE": quantized,
  detection: detected,
  NeRF: rays,
  quantiles,
  CRF: crf,
};
