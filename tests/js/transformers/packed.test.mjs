// Models that GPTQ, AWQ and bitsandbytes have quantized: their files are written here from the definitions of the formats, with the numbers that they stand for.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { getPeftModel, LoraConfig } from "edgegrad/peft";
import { AutoModelForCausalLM } from "edgegrad/transformers";
import { eg } from "../support/engine.mjs";
import { kNarrow, kNarrowShapes } from "../support/narrow_llama.mjs";
import { distance, drawWeights, filesOf, idsOf } from "../support/pretrained.mjs";

const range = (count) => Array.from({ length: count }, (_, i) => i);
const ids = eg.tensor([idsOf(9, 24)], { dtype: "int64" });
const isPacked = (name) => /proj/.test(name);

// A generator that is the same in each run.
let state = 1;
const random = (below) => {
  state = (state * 48271) % 2147483647;
  return state % below;
};

const ints = (values, shape) => eg.tensor(Int32Array.from(values), { shape, dtype: "int32" });
const halves = (values, shape) => eg.tensor(values, { shape }).to("float16");
const sum = (parts) => parts.reduce((all, one) => all | one, 0) | 0;

/** Codes, zeros and scales of a weight [rows, columns], and its numbers. */
function drawn(rows, columns, { bits = 4, group = 32, groupOfColumn }) {
  const groups = group === -1 ? 1 : columns / group;
  const top = 2 ** bits;
  const codes = range(rows).map(() => range(columns).map(() => random(top)));
  const zeros = range(groups).map(() => range(rows).map(() => top / 2 - 2 + random(4)));
  const scales = range(groups).map(() => range(rows).map(() => (1 + random(64)) / 2048));
  const of = groupOfColumn ?? ((column) => Math.floor((column * groups) / columns));
  const numbers = codes.map((row, r) =>
    row.map((code, c) => scales[of(c)][r] * (code - zeros[of(c)][r])),
  );
  return { codes, zeros, scales, numbers, groups };
}

/** The parts of GPTQ: codes of `32 / bits` inputs in a number, and zeros less one of as many outputs. */
function gptq(name, rows, columns, { bits = 4, group = 32, order, less = 1 } = {}) {
  const count = 32 / bits;
  const place = order && range(columns).map((column) => order.indexOf(column));
  const groupOfColumn = place && ((column) => Math.floor(place[column] / group));
  const { codes, zeros, scales, numbers, groups } = drawn(rows, columns, {
    bits,
    group,
    groupOfColumn,
  });
  const mask = 2 ** bits - 1;
  const layer = name.replace(/\.weight$/, "");
  const words = range(columns / count).flatMap((i) =>
    range(rows).map((r) => sum(range(count).map((k) => codes[r][i * count + k] << (bits * k)))),
  );
  const packed = zeros.flatMap((row) =>
    range(rows / count).map((i) =>
      sum(range(count).map((k) => ((row[i * count + k] - less) & mask) << (bits * k))),
    ),
  );
  const index = range(columns).map((c) =>
    groupOfColumn ? groupOfColumn(c) : Math.floor(c / (group === -1 ? columns : group)),
  );
  return {
    numbers,
    parts: {
      [`${layer}.qweight`]: ints(words, [columns / count, rows]),
      [`${layer}.qzeros`]: ints(packed, [groups, rows / count]),
      [`${layer}.scales`]: halves(scales, [groups, rows]),
      [`${layer}.g_idx`]: ints(index, [columns]),
    },
  };
}

/** The parts of AWQ: eight outputs in a number, in the order 0 2 4 6 1 3 5 7. */
function awq(name, rows, columns) {
  const { codes, zeros, scales, numbers, groups } = drawn(rows, columns, {});
  const layer = name.replace(/\.weight$/, "");
  const join = (at) => sum([0, 2, 4, 6, 1, 3, 5, 7].map((output, k) => at(output) << (4 * k)));
  const words = range(columns).flatMap((c) =>
    range(rows / 8).map((i) => join((output) => codes[8 * i + output][c])),
  );
  const packed = zeros.flatMap((row) =>
    range(rows / 8).map((i) => join((output) => row[8 * i + output])),
  );
  return {
    numbers,
    parts: {
      [`${layer}.qweight`]: ints(words, [columns, rows / 8]),
      [`${layer}.qzeros`]: ints(packed, [groups, rows / 8]),
      [`${layer}.scales`]: halves(scales, [groups, rows]),
    },
  };
}

/** Rows of int8 with their largest number. */
function eight(name, rows, columns) {
  const layer = name.replace(/\.weight$/, "");
  const codes = range(rows).map(() => range(columns).map(() => random(255) - 127));
  const largest = range(rows).map(() => (1 + random(64)) / 128);
  return {
    numbers: codes.map((row, r) => row.map((code) => (code * Math.fround(largest[r])) / 127)),
    parts: {
      [name]: eg.tensor(Int8Array.from(codes.flat()), { shape: [rows, columns], dtype: "int8" }),
      [`${layer}.SCB`]: eg.tensor(largest),
      [`${layer}.weight_format`]: eg.tensor(new Uint8Array([0]), { shape: [], dtype: "uint8" }),
    },
  };
}

// The sixteen numbers of NF4.
const kNormal = [
  -1, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635,
  -0.18477343022823334, -0.09105003625154495, 0, 0.07958029955625534, 0.16093020141124725,
  0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941,
  0.7229568362236023, 1,
];

/** Places in a table, the first in the high bits, and the largest number of each 64; with `nested` these are places in a table too. */
const four =
  (nested, blocksize = 64) =>
  (name, rows, columns) => {
    const count = rows * columns;
    const places = range(count).map(() => random(16));
    const blocks = count / 64;
    const table = range(256).map((i) => (i - 128) / 128);
    const own = range(blocks).map(() => 128 + random(120));
    const largest = nested
      ? own.map((place) => Math.fround(Math.fround(table[place] * 0.5) + 0.25))
      : own.map((one) => one / 512);
    const state = {
      quant_type: "nf4",
      blocksize,
      dtype: "float32",
      shape: [rows, columns],
      ...(nested && { nested_blocksize: 256, nested_dtype: "float32", nested_offset: 0.25 }),
    };
    const bytes = (list) => eg.tensor(Uint8Array.from(list), { dtype: "uint8" });
    const text = [...new TextEncoder().encode(JSON.stringify(state))];
    return {
      numbers: range(rows).map((r) =>
        range(columns).map((c) => {
          const i = r * columns + c;
          return Math.fround(kNormal[places[i]]) * largest[Math.floor(i / 64)];
        }),
      ),
      parts: {
        [name]: bytes(
          range(count / 2).map((i) => (places[2 * i] << 4) | places[2 * i + 1]),
        ).reshape([count / 2, 1]),
        [`${name}.absmax`]: nested ? bytes(own) : eg.tensor(largest),
        [`${name}.quant_map`]: eg.tensor(kNormal),
        ...(nested && {
          [`${name}.nested_absmax`]: eg.full([Math.ceil(blocks / 256)], 0.5),
          [`${name}.nested_quant_map`]: eg.tensor(table),
        }),
        [`${name}.quant_state.bitsandbytes__nf4`]: bytes(text),
      },
    };
  };

/** The files of a model, and those with the numbers as floats. */
function made(quantization_config, pack, config = kNarrow, shapes = kNarrowShapes) {
  const [packed, floats] = [{}, {}];
  const { tensors: plain } = drawWeights(shapes);
  for (const [name, [rows, columns]] of Object.entries(shapes)) {
    if (!isPacked(name)) {
      packed[name] = plain[name];
      floats[name] = packed[name];
      continue;
    }
    const { parts, numbers } = pack(name, rows, columns);
    Object.assign(packed, parts);
    floats[name] = eg.tensor(numbers);
  }
  return {
    files: filesOf({ ...config, quantization_config }, packed),
    floats: filesOf(config, floats),
  };
}

async function check({ files, floats }, most = 1e-4) {
  const wanted = await AutoModelForCausalLM.fromPretrained(floats);
  const scores = wanted.call(ids).logits.arraySync();
  const model = await AutoModelForCausalLM.fromPretrained(files);
  const apart = distance(model.call(ids).logits, scores);
  assert.ok(apart < most, String(apart));
  const codes = model.namedBuffers().filter(([, { dtype }]) => dtype === "uint8");
  assert.equal(codes.length, 7);
  const whole = await AutoModelForCausalLM.fromPretrained(files, {
    dequantize: true,
    dtype: "float32",
  });
  assert.ok(distance(whole.call(ids).logits, scores) < 1e-4);
  assert.equal(
    JSON.parse(new TextDecoder().decode((await whole.savePretrained())["config.json"]))
      .quantization_config,
    undefined,
  );
  return model;
}

const kGptq = { quant_method: "gptq", bits: 4, group_size: 32, desc_act: false, sym: false };

describe("GPTQ", () => {
  test("has groups of inputs with zeros", () => check(made(kGptq, gptq)));

  test("has rows without groups, and eight bits", async () => {
    await check(made({ ...kGptq, group_size: -1 }, (...given) => gptq(...given, { group: -1 })));
    await check(made({ ...kGptq, bits: 8 }, (...given) => gptq(...given, { bits: 8 })));
  });

  test("of version 2 has zeros as they are", () => {
    const config = { ...kGptq, checkpoint_format: "gptq_v2" };
    return check(made(config, (...given) => gptq(...given, { less: 0 })));
  });

  test("with desc_act has inputs of a group in other places", () => {
    const pack = (name, rows, columns) => {
      const order = range(columns).map((i) => (i * 5 + 3) % columns);
      // 5 and the sizes have no common factor, so this is an order.
      return gptq(name, rows, columns, { order });
    };
    return check(made({ ...kGptq, desc_act: true }, pack));
  });

  test("is what adapters are trained on", async () => {
    const { files } = made(kGptq, gptq);
    const base = await AutoModelForCausalLM.fromPretrained(files);
    const model = getPeftModel(base, new LoraConfig({ r: 2, targetModules: "all-linear" }));
    const learned = model.parameters().filter(({ requiresGrad }) => requiresGrad);
    const optimizer = new eg.optim.AdamW(learned, { lr: 0.05 });
    const losses = range(10).map(() => {
      optimizer.zeroGrad();
      const { loss } = model.call(ids, { labels: ids });
      loss.backward();
      optimizer.step();
      return loss.item();
    });
    assert.ok(losses.at(-1) < 0.8 * losses[0], String(losses));
  });
});

test("AWQ has eight outputs in a number", () =>
  check(
    made({ quant_method: "awq", bits: 4, group_size: 32, zero_point: true, version: "gemm" }, awq),
  ));

describe("bitsandbytes", () => {
  const config = { quant_method: "bitsandbytes", load_in_4bit: true };

  test("has rows of eight bits", async () => {
    await check(made({ quant_method: "bitsandbytes", load_in_8bit: true }, eight), 0.01);
  });

  // Rows of 64, which are whole blocks.
  const wide = { ...kNarrow, hidden_size: 64 };
  const shapes = Object.fromEntries(
    Object.entries(kNarrowShapes).map(([name, shape]) => [
      name,
      shape.map((one) => (one === 32 ? 64 : one === 16 ? 32 : one)),
    ]),
  );
  for (const nested of [false, true]) {
    test(`has numbers of a table${nested ? ", and a table of their scales" : ""}`, async () => {
      await check(made(config, four(nested), wide, shapes), 0.05);
    });
  }

  test("with rows of no whole blocks is refused", async () => {
    const { files } = made(config, four(false));
    await assert.rejects(
      AutoModelForCausalLM.fromPretrained(files),
      /expected blocks of 64 and rows of whole blocks/,
    );
  });
});

describe("refused with a reason are", () => {
  const refused = async (quantization, message, pack = gptq) => {
    const { files } = made(quantization, pack);
    await assert.rejects(AutoModelForCausalLM.fromPretrained(files), (error) => {
      assert.ok(["InvalidArgument", "ShapeMismatch"].includes(error.code), error.stack);
      assert.match(error.message, message);
      return true;
    });
  };

  test("other methods, bits and groups", async () => {
    await refused({ quant_method: "fp8" }, /quant_method is "fp8".*gptq, awq, bitsandbytes/);
    await refused({ ...kGptq, bits: 3 }, /bits is 3.*4, 8/);
    await refused({ ...kGptq, group_size: 16 }, /group_size is 16/);
    await refused({ quant_method: "awq", bits: 4, version: "gemv" }, /version is "gemv"/);
  });

  test("parts that are missing, or of other shapes", async () => {
    const without = (name, ...sizes) => {
      const { parts, numbers } = gptq(name, ...sizes);
      delete parts[name.replace("weight", "qzeros")];
      return { parts, numbers };
    };
    await refused(kGptq, /qzeros/, without);
    const short = (name, ...sizes) => {
      const { parts, numbers } = gptq(name, ...sizes);
      const key = name.replace("weight", "scales");
      return { parts: { ...parts, [key]: parts[key].narrow(1, 0, 8) }, numbers };
    };
    await refused(kGptq, /scales: expected the shape \[\d+, \d+\]/, short);
    const uneven = (name, rows, columns) => {
      const { parts, numbers } = gptq(name, rows, columns);
      const index = ints(
        range(columns).map((i) => (i === 0 ? 0 : 1)),
        [columns],
      );
      return { parts: { ...parts, [name.replace("weight", "g_idx")]: index }, numbers };
    };
    await refused(kGptq, /expected groups of 32 inputs/, uneven);
  });
});
