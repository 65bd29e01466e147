// Recurrent networks, cells, packed sequences, embeddings, CTC.

import * as eg from "edgegrad";

const { nn, optim } = eg;
const F = nn.functional;
const { packPaddedSequence, packSequence, padPackedSequence, padSequence } = nn.utils.rnn;

class Tagger extends nn.Module {
  constructor(kind, options) {
    super();
    this.embed = new nn.Embedding(11, 6, { paddingIdx: 0 });
    nn.init.uniform_(this.embed.weight, -0.5, 0.5);
    this.rnn = new nn[kind](6, 8, options);
    const width = options.projSize ?? 8;
    this.head = new nn.Linear(width * (options.bidirectional ? 2 : 1), 4);
  }

  forward(tokens) {
    const [out] = this.rnn.call(this.embed.call(tokens));
    return this.head.call(out);
  }
}

function tagged(kind, options = {}) {
  return (record, dtype) => {
    const tokens = eg.randint(0, 11, [7, 5]);
    const tags = tokens.add(tokens.roll(1, 0)).remainder(4);
    const model = new Tagger(kind, options).to(dtype);
    const optimizer = new optim.Adam(model.parameters(), { lr: 0.02 });
    for (let step = 0; step < 20; step++) {
      const loss = F.crossEntropy(model.call(tokens).flatten(0, 1), tags.flatten());
      optimizer.zeroGrad();
      loss.backward();
      nn.utils.clipGradNorm_(model.parameters(), 1);
      optimizer.step();
      record(loss);
    }
    return model.parameters();
  };
}

/** Predicts a sine wave, one step at a time. */
function celled(kind, options = {}) {
  return (record, dtype) => {
    const sizes = eg.tensor([[1], [0.7], [-0.5]], { dtype });
    const wave = eg.arange(25, { dtype }).mul(0.4).sin().repeat([3, 1]).mul(sizes);
    const cell = new nn[kind](1, 10, options).to(dtype);
    const head = new nn.Linear(10, 1).to(dtype);
    const params = [...cell.parameters(), ...head.parameters()];
    const optimizer = new optim.RMSprop(params, { lr: 0.01 });
    for (let step = 0; step < 15; step++) {
      let state = null;
      let total = eg.zeros([], { dtype });
      for (let t = 0; t < 24; t++) {
        state = cell.call(wave.at(eg.slice(), eg.slice(t, t + 1)), state);
        const hidden = kind === "LSTMCell" ? state[0] : state;
        const wanted = wave.at(eg.slice(), t + 1);
        total = total.add(F.mseLoss(head.call(hidden).squeeze(1), wanted));
      }
      const loss = total.div(24);
      optimizer.zeroGrad();
      loss.backward();
      optimizer.step();
      record(loss);
    }
    return params;
  };
}

function packed(record, dtype) {
  const lengths = eg.tensor([3n, 7n, 5n, 1n]);
  const x = eg.randn([4, 7, 3], { dtype });
  const y = eg.randn([4], { dtype });
  const settings = { numLayers: 2, batchFirst: true, bidirectional: true, dropout: 0.3 };
  const rnn = new nn.LSTM(3, 5, settings).to(dtype);
  const head = new nn.Linear(20, 1).to(dtype);
  const params = [...rnn.parameters(), ...head.parameters()];
  const optimizer = new optim.AdamW(params, { lr: 0.02 });
  for (let step = 0; step < 20; step++) {
    const batch = packPaddedSequence(x, lengths, { batchFirst: true, enforceSorted: false });
    const [out, [h, c]] = rnn.call(batch);
    const [unpacked, sizes] = padPackedSequence(out, { batchFirst: true });
    const means = unpacked.sum(1).div(sizes.to(dtype).unsqueeze(1));
    const features = eg.cat([means, h.at(-1), c.at(0)], { dim: 1 });
    const loss = F.mseLoss(head.call(features).squeeze(1), y);
    optimizer.zeroGrad();
    loss.backward();
    optimizer.step();
    record(loss);
  }
  return params;
}

function packedList(record, dtype) {
  const sequences = [6, 4, 2].map((length) => eg.randn([length, 3], { dtype }));
  const sums = sequences.map((one) => one.cumsum(0).at(eg.slice(), eg.slice(0, 1)));
  const wanted = padSequence(sums);
  const rnn = new nn.GRU(3, 6).to(dtype);
  const head = new nn.Linear(6, 1).to(dtype);
  const params = [...rnn.parameters(), ...head.parameters()];
  const optimizer = new optim.SGD(params, { lr: 0.1, momentum: 0.9 });
  const h0 = eg.zeros([1, 3, 6], { dtype });
  for (let step = 0; step < 25; step++) {
    const [out] = rnn.call(packSequence(sequences), h0);
    const [padded, sizes] = padPackedSequence(out, { paddingValue: 0 });
    const mask = eg.arange(6).at(eg.slice(), null).lt(sizes.at(null, eg.slice()));
    const loss = head.call(padded).sub(wanted).squeeze(2).pow(2).at(mask).mean();
    optimizer.zeroGrad();
    loss.backward();
    optimizer.step();
    record(loss);
  }
  return params;
}

function bag(mode, options = {}) {
  return (record, dtype) => {
    const words = eg.randint(0, 12, [30]);
    const offsets = eg.tensor([0n, 4n, 4n, 11n, 20n]);
    const labels = eg.tensor([0n, 1n, 2n, 1n, 0n]);
    const embed = new nn.EmbeddingBag(12, 6, { mode, ...options }).to(dtype);
    nn.init.uniform_(embed.weight, -1, 1);
    const head = new nn.Linear(6, 3).to(dtype);
    const params = [...embed.parameters(), ...head.parameters()];
    const optimizer = new optim.Adagrad(params, { lr: 0.1 });
    const weights = mode === "sum" ? eg.rand([30], { dtype }) : null;
    for (let step = 0; step < 25; step++) {
      const loss = F.crossEntropy(head.call(embed.call(words, offsets, weights)), labels);
      optimizer.zeroGrad();
      loss.backward();
      optimizer.step();
      record(loss);
    }
    return params;
  };
}

function limited(record, dtype) {
  const words = eg.randint(0, 12, [8, 5]);
  const labels = words.sum(1).remainder(3);
  const embed = new nn.Embedding(12, 6, { paddingIdx: 3, maxNorm: 0.8, normType: 1.5 });
  nn.init.uniform_(embed.weight, -1, 1);
  const model = new nn.Sequential(embed, new nn.Flatten(), new nn.Linear(30, 3)).to(dtype);
  const optimizer = new optim.SGD(model.parameters(), { lr: 0.5 });
  for (let step = 0; step < 25; step++) {
    const loss = F.crossEntropy(model.call(words), labels);
    optimizer.zeroGrad();
    loss.backward();
    optimizer.step();
    record(loss);
  }
  return model.parameters();
}

function ctc(record, dtype) {
  const x = eg.randn([12, 3, 4], { dtype });
  const targets = eg.randint(1, 6, [3, 5]);
  const inputLengths = eg.tensor([12n, 10n, 11n]);
  const targetLengths = eg.tensor([5n, 3n, 4n]);
  const rnn = new nn.GRU(4, 8, { bidirectional: true }).to(dtype);
  const head = new nn.Linear(16, 6).to(dtype);
  const params = [...rnn.parameters(), ...head.parameters()];
  const optimizer = new optim.Adam(params, { lr: 0.02 });
  const criterion = new nn.CTCLoss({ zeroInfinity: true });
  for (let step = 0; step < 20; step++) {
    const [out] = rnn.call(x);
    const logProbs = head.call(out).logSoftmax(2);
    const loss = criterion.call(logProbs, targets, inputLengths, targetLengths);
    optimizer.zeroGrad();
    loss.backward();
    optimizer.step();
    record(loss);
  }
  return params;
}

/** A language model, trained by truncated backpropagation through time, then used to generate text. */
function characters(record, dtype) {
  const codes = [..."thequickbrownfoxjumpsoverthelazydog".repeat(3)].map((c) => c.charCodeAt(0));
  const text = eg.tensor(codes, { dtype: "int64" }).sub(97);
  const embed = new nn.Embedding(26, 8);
  const rnn = new nn.LSTM(8, 16, 2, { dropout: 0.2 });
  const head = new nn.Linear(16, 26);
  nn.init.xavierUniform_(embed.weight);
  const model = new nn.ModuleList([embed, rnn, head]).to(dtype);
  const optimizer = new optim.Adamax(model.parameters(), { lr: 0.01 });
  let state = [eg.zeros([2, 1, 16], { dtype }), eg.zeros([2, 1, 16], { dtype })];
  for (let i = 0; i < 20; i++) {
    const window = text.at(eg.slice(i * 5, i * 5 + 6));
    const carried = state.map((s) => s.detach());
    const [out, next] = rnn.call(embed.call(window.at(eg.slice(0, -1)).unsqueeze(1)), carried);
    state = next;
    const logProbs = F.logSoftmax(head.call(out.squeeze(1)), -1);
    const loss = F.nllLoss(logProbs, window.at(eg.slice(1)));
    optimizer.zeroGrad();
    loss.backward();
    optimizer.step();
    record(loss);
  }
  model.eval();
  let token = text.at(eg.slice(0, 1));
  eg.noGrad(() => {
    for (let i = 0; i < 10; i++) {
      const [out, next] = rnn.call(embed.call(token.unsqueeze(1)), state);
      state = next;
      const probs = head.call(out.squeeze(1)).div(0.8).softmax(-1);
      token = eg.multinomial(probs, 1).squeeze(1);
      record(Number(token.item()));
    }
  });
  return model.parameters();
}

/** Sequence to sequence with attention and random teacher forcing. */
function translated(record, dtype) {
  const source = eg.randint(0, 8, [6, 4]);
  const target = source.flip(0);
  const table = eg.linspace(-1, 1, 9 * 5, { dtype }).view([9, 5]);
  const embed = nn.Embedding.fromPretrained(table, { freeze: false });
  const encoder = new nn.GRU(5, 7);
  const decoder = new nn.GRUCell(5 + 7, 7);
  const score = new nn.Bilinear(7, 7, 1, { bias: false });
  const head = new nn.Linear(14, 8);
  const model = new nn.ModuleDict({ embed, encoder, decoder, score, head }).to(dtype);
  const optimizer = new optim.RAdam(model.parameters(), { lr: 0.03 });
  for (let step = 0; step < 15; step++) {
    const [memory, last] = encoder.call(embed.call(source));
    let h = last.at(0);
    let token = eg.full([4], 8, { dtype: "int64" });
    let loss = eg.zeros([], { dtype });
    for (let t = 0; t < 6; t++) {
      const weights = score.call(h.expandAs(memory).contiguous(), memory).softmax(0);
      const context = weights.mul(memory).sum(0);
      h = decoder.call(eg.cat([embed.call(token), context], 1), h);
      const logits = head.call(eg.cat([h, context], 1));
      loss = loss.add(F.crossEntropy(logits, target.at(t)));
      token = eg.rand([1]).item() < 0.5 ? target.at(t) : logits.argmax(1);
    }
    optimizer.zeroGrad();
    loss.backward();
    nn.utils.clipGradNorm_(model.parameters(), 2, { normType: Infinity });
    optimizer.step();
    record(loss);
  }
  return model.parameters();
}

const kDeep = { numLayers: 3, dropout: 0.3, bidirectional: true };
const kRelu = { numLayers: 3, nonlinearity: "relu", dropout: 0.4 };

export const programs = {
  RNN: tagged("RNN"),
  "RNN of relu, three layers with dropout": tagged("RNN", kRelu),
  "LSTM, both ways": tagged("LSTM", { bidirectional: true }),
  "LSTM, deep, both ways, with dropout": tagged("LSTM", kDeep),
  "LSTM with projections": tagged("LSTM", { numLayers: 2, projSize: 3, dropout: 0.1 }),
  "GRU, deep, both ways, with dropout": tagged("GRU", {
    numLayers: 2,
    dropout: 0.5,
    bidirectional: true,
  }),
  "GRU without biases": tagged("GRU", { numLayers: 2, bias: false }),
  RNNCell: celled("RNNCell"),
  "RNNCell of relu": celled("RNNCell", { nonlinearity: "relu" }),
  LSTMCell: celled("LSTMCell"),
  GRUCell: celled("GRUCell", { bias: false }),
  "packed sequences": packed,
  "a packed list": packedList,
  "EmbeddingBag, sum": bag("sum"),
  "EmbeddingBag, mean": bag("mean", { paddingIdx: 2 }),
  "EmbeddingBag, max": bag("max"),
  "EmbeddingBag, mean with a largest norm": bag("mean", { maxNorm: 1 }),
  "Embedding with a largest norm": limited,
  CTC: ctc,
  "language model": characters,
  translation: translated,
};
