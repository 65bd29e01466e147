// Attention: transformers and their parts.

import * as eg from "edgegrad";

const { nn, optim } = eg;
const F = nn.functional;

function adamSteps(params, lossOf, record) {
  const optimizer = new optim.Adam(params, { lr: 1e-2, betas: [0.9, 0.98], eps: 1e-6 });
  for (let step = 0; step < 15; step++) {
    optimizer.zeroGrad();
    const loss = lossOf();
    loss.backward();
    optimizer.step();
    record(loss);
  }
  return params;
}

function encoder(options = {}) {
  return (record, dtype) => {
    let x = eg.randn([5, 3, 8], { dtype });
    const y = eg.randint(0, 2, [3]);
    const srcKeyPaddingMask = eg.tensor([
      [false, false, false, false, false],
      [false, false, false, true, true],
      [false, false, false, false, true],
    ]);
    const layer = new nn.TransformerEncoderLayer(8, 2, 16, options);
    const model = new nn.TransformerEncoder(layer, 2, { norm: new nn.LayerNorm(8) }).to(dtype);
    const head = new nn.Linear(8, 2).to(dtype);
    if (options.batchFirst) x = x.transpose(0, 1);
    const lossOf = () => {
      const out = model.call(x, { srcKeyPaddingMask });
      const first = options.batchFirst ? out.at(eg.slice(), 0) : out.at(0);
      return F.crossEntropy(head.call(first), y);
    };
    const params = adamSteps([...model.parameters(), ...head.parameters()], lossOf, record);
    model.eval();
    record(lossOf());
    return params;
  };
}

function decoder(record, dtype) {
  const memory = eg.randn([4, 2, 8], { dtype });
  const target = eg.randn([6, 2, 8], { dtype });
  const layer = new nn.TransformerDecoderLayer(8, 4, 12, { dropout: 0.2, activation: "gelu" });
  const model = new nn.TransformerDecoder(layer, 2).to(dtype);
  const causal = nn.Transformer.generateSquareSubsequentMask(6).to(dtype);
  const lossOf = () => {
    const tgtMask = causal.at(eg.slice(0, 5), eg.slice(0, 5));
    const out = model.call(target.at(eg.slice(0, -1)), memory, { tgtMask });
    return F.mseLoss(out, target.at(eg.slice(1)));
  };
  return adamSteps(model.parameters(), lossOf, record);
}

function whole(record, dtype) {
  const source = eg.randint(0, 9, [5, 3]);
  const target = eg.cat([eg.zeros([1, 3], { dtype: "int64" }), source.flip(0)]);
  const embed = new nn.Embedding(9, 8);
  const head = new nn.Linear(8, 9);
  nn.init.kaimingUniform_(embed.weight, { a: Math.sqrt(5) });
  const transformer = new nn.Transformer(8, 2, 2, 2, 16, { dropout: 0.1, normFirst: true });
  const model = new nn.ModuleList([embed, transformer, head]).to(dtype);
  const places = eg.arange(6, { dtype }).at(eg.slice(), null, null);
  const position = places.mul(eg.pow(0.7, eg.arange(8, { dtype }))).sin();
  const tgtMask = nn.Transformer.generateSquareSubsequentMask(5).to(dtype);
  const placed = (tokens) => {
    return embed
      .call(tokens)
      .mul(Math.sqrt(8))
      .add(position.at(eg.slice(0, 5)));
  };
  const lossOf = () => {
    const out = transformer.call(placed(source), placed(target.at(eg.slice(0, -1))), { tgtMask });
    const wanted = target.at(eg.slice(1)).reshape([-1]);
    return F.crossEntropy(head.call(out).reshape([-1, 9]), wanted, { ignoreIndex: 3 });
  };
  return adamSteps(model.parameters(), lossOf, record);
}

function crossAttention(record, dtype) {
  const q = eg.randn([2, 3, 8], { dtype });
  const k = eg.randn([2, 5, 6], { dtype });
  const v = eg.randn([2, 5, 4], { dtype });
  const attention = new nn.MultiheadAttention(8, 2, {
    dropout: 0.3,
    bias: true,
    kdim: 6,
    vdim: 4,
    batchFirst: true,
    addBiasKv: true,
  });
  nn.init.zeros_(attention.bias_k);
  nn.init.ones_(attention.bias_v);
  attention.to(dtype);
  const attnMask = eg.rand([3, 5]).lt(0.3);
  const lossOf = () => {
    const [out, weights] = attention.call(q, k, v, { attnMask });
    return out.pow(2).sum().sub(weights.square().sum());
  };
  return adamSteps(attention.parameters(), lossOf, record);
}

function selfAttention(record, dtype) {
  const x = eg.randn([6, 2, 8], { dtype });
  const settings = { dropout: 0.1, bias: false, addZeroAttn: true };
  const attention = new nn.MultiheadAttention(8, 4, settings).to(dtype);
  const attnMask = eg.randn([6, 6], { dtype });
  const lossOf = () => {
    const [out, weights] = attention.call(x, x, x, { attnMask, averageAttnWeights: false });
    return F.mseLoss(out, x.flip(0)).add(weights.std());
  };
  return adamSteps(attention.parameters(), lossOf, record);
}

class Block extends nn.Module {
  constructor(width, heads) {
    super();
    this.heads = heads;
    this.ln1 = new nn.LayerNorm(width);
    this.ln2 = new nn.LayerNorm(width, { eps: 1e-6 });
    this.qkv = new nn.Linear(width, 3 * width);
    this.proj = new nn.Linear(width, width);
    this.mlp = new nn.Sequential(
      new nn.Linear(width, 4 * width),
      new nn.GELU("tanh"),
      new nn.Linear(4 * width, width),
      new nn.Dropout(0.1),
    );
    this.mask = new nn.Buffer(eg.tril(eg.ones([8, 8])).view([1, 1, 8, 8]));
  }

  forward(x) {
    const [B, T, C] = x.shape;
    const [q, k, v] = this.qkv
      .call(this.ln1.call(x))
      .split(C, { dim: 2 })
      .map((t) => t.view([B, T, this.heads, C / this.heads]).transpose(1, 2));
    let att = q.matmul(k.transpose(-2, -1)).mul(1 / Math.sqrt(k.size(-1)));
    const seen = this.mask.at(eg.slice(), eg.slice(), eg.slice(0, T), eg.slice(0, T));
    att = att.maskedFill(seen.eq(0), -Infinity);
    att = F.dropout(F.softmax(att, { dim: -1 }), 0.1, this.training);
    const y = att.matmul(v).transpose(1, 2).contiguous().view([B, T, C]);
    const mixed = x.add(this.proj.call(y));
    return mixed.add(this.mlp.call(this.ln2.call(mixed)));
  }
}

/** nanoGPT: tied weights, weight decay only for matrices, warm-up, gradient clipping, then top-k sampling. */
function gpt(record, dtype) {
  const tokens = eg.randint(0, 12, [6, 9]);
  const wte = new nn.Embedding(12, 8);
  const wpe = new nn.Embedding(8, 8);
  const blocks = new nn.ModuleList([new Block(8, 2), new Block(8, 2)]);
  const head = new nn.Linear(8, 12, { bias: false });
  wte.weight = head.weight;
  const model = new nn.ModuleDict({ wte, wpe, blocks, head });
  for (const [name, p] of model.namedParameters()) {
    if (name.endsWith("proj.weight")) nn.init.uniform_(p, -0.02, 0.02);
    else if (p.dim() === 2) nn.init.uniform_(p, -0.1, 0.1);
  }
  model.to(dtype);

  const logitsOf = (idx) => {
    let x = wte.call(idx).add(wpe.call(eg.arange(idx.size(1))));
    for (const block of blocks) x = block.call(x);
    return head.call(x);
  };

  const decay = model.parameters().filter((p) => p.dim() >= 2);
  const rest = model.parameters().filter((p) => p.dim() < 2);
  const groups = [
    { params: decay, weightDecay: 0.1 },
    { params: rest, weightDecay: 0 },
  ];
  const optimizer = new optim.AdamW(groups, { lr: 1e-2, betas: [0.9, 0.95] });
  const scheduler = new optim.lrScheduler.LambdaLR(optimizer, (it) =>
    it < 5 ? (it + 1) / 5 : 0.1 + 0.45 * (1 + Math.cos((Math.PI * (it - 5)) / 15)),
  );
  for (let step = 0; step < 20; step++) {
    const logits = logitsOf(tokens.at(eg.slice(), eg.slice(0, -1)));
    const following = tokens.at(eg.slice(), eg.slice(1)).reshape([-1]);
    const loss = F.crossEntropy(logits.view([-1, logits.size(-1)]), following);
    optimizer.zeroGrad();
    loss.backward();
    record(nn.utils.clipGradNorm_(model.parameters(), 1));
    optimizer.step();
    scheduler.step();
    record(loss);
  }
  model.eval();
  let idx = eg.zeros([1, 1], { dtype: "int64" });
  eg.noGrad(() => {
    for (let step = 0; step < 7; step++) {
      const logits = logitsOf(idx).at(eg.slice(), -1, eg.slice()).div(0.9);
      const [v] = eg.topk(logits, 5);
      logits.set_([logits.lt(v.at(eg.slice(), [-1]))], -Infinity);
      const next = eg.multinomial(F.softmax(logits, { dim: -1 }), { numSamples: 1 });
      idx = eg.cat([idx, next], { dim: 1 });
      record(Number(idx.at(0, -1).item()));
    }
  });
  return model.parameters();
}

class ViT extends nn.Module {
  constructor() {
    super();
    this.patch = new nn.Conv2d(3, 8, 4, { stride: 4 });
    this.cls = new nn.Parameter(eg.zeros([1, 1, 8]));
    this.pos = new nn.Parameter(eg.rand([1, 5, 8]).mul(0.02));
    const layer = new nn.TransformerEncoderLayer(8, 2, 16, 0.1, "gelu", {
      batchFirst: true,
      normFirst: true,
    });
    this.encoder = new nn.TransformerEncoder(layer, 2);
    this.head = new nn.Linear(8, 3);
  }

  forward(images) {
    const patches = this.patch.call(images).flatten(2).transpose(1, 2);
    const first = this.cls.expand([images.shape[0], -1, -1]);
    const x = eg.cat([first, patches], { dim: 1 }).add(this.pos);
    return this.head.call(this.encoder.call(x).at(eg.slice(), 0));
  }
}

/** A vision transformer with a class token. */
function vit(record, dtype) {
  const images = eg.randn([6, 3, 8, 8], { dtype });
  const labels = eg.randint(0, 3, [6]);
  const model = new ViT().to(dtype);
  const lossOf = () => F.crossEntropy(model.call(images), labels, { labelSmoothing: 0.1 });
  return adamSteps(model.parameters(), lossOf, record);
}

export const programs = {
  encoder: encoder(),
  "encoder, norm first": encoder({ dropout: 0.2, normFirst: true, activation: "gelu" }),
  "encoder, batch first": encoder({ dropout: 0, batchFirst: true, layerNormEps: 1e-3 }),
  decoder,
  transformer: whole,
  "cross-attention": crossAttention,
  "self-attention": selfAttention,
  GPT: gpt,
  ViT: vit,
};
