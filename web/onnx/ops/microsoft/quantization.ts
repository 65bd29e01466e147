// The ops on quantized weights and activations that ONNX Runtime's tools write.

import * as eg from "edgegrad";
import { fail } from "../../../errors/errors.js";
import { elementType, tensor, tensorOrNull, type Value } from "../../values/value.js";
import { flag, ignored, int, type Ops, op } from "../op.js";
import {
  dequantize,
  dynamicQuantize,
  kQuantization,
  productOf,
  quantize,
} from "../quantization.js";

// Each byte packs several numbers, the first in its lowest bits.
function unpack(bytes: eg.Tensor, bits: number): eg.Tensor {
  if (bits === 8) return bytes;
  const whole = bytes.to("int32");
  const parts = Array.from({ length: 8 / bits }, (_, i) =>
    eg.bitwiseAnd(eg.bitwiseRightShift(whole, i * bits), 2 ** bits - 1),
  );
  return eg.stack(parts, -1).reshape([...bytes.shape.slice(0, -1), -1]);
}

interface Blocks {
  readonly K: number;
  readonly N: number;
  readonly bits: number;
  readonly block_size: number;
}

/** Dequantizes a weight matrix [N, K], whose blocks have a scale and a zero point each. */
function blockWeights(
  packed: Value,
  scales: Value,
  zeros: Value,
  { K, N, bits, block_size: size }: Blocks,
): eg.Tensor {
  if (![2, 4, 8].includes(bits))
    fail("InvalidArgument", "OnnxModule", `weights of ${bits} bits are not supported.`);
  const count = Math.ceil(K / size);
  const scale = tensor(scales).reshape([N, count, 1]);
  const numbers = unpack(tensor(packed).reshape([N, count, -1]), bits).to(scale.dtype);
  const zero = zeroPoints(zeros, N, count, bits, scale.dtype);
  const weights = numbers
    .sub(zero)
    .mul(scale)
    .reshape([N, count * size]);
  return count * size === K ? weights : eg.narrow(weights, 1, 0, K);
}

function zeroPoints(
  zeros: Value,
  rows: number,
  count: number,
  bits: number,
  dtype: eg.DType,
): eg.Tensor | number {
  if (zeros === undefined) return 2 ** (bits - 1);
  const given = tensor(zeros);
  if (given.isFloatingPoint()) return given.reshape([rows, count, 1]);
  const all = unpack(given.reshape([rows, -1]), bits);
  return eg.narrow(all, 1, 0, count).to(dtype).unsqueeze(2);
}

/** The bytes of weights that are dequantized at a time. */
const kPartBytes = 2 ** 22;

const matMulNBits = op({
  attributes: { K: int(0), N: int(0), bits: int(4), block_size: int(32), accuracy_level: ignored },
  weights: [5],
  run: ([a, packed, scales, zeros, order, bias], given) => {
    if (order !== undefined)
      fail("InvalidArgument", "OnnxModule", "an order of the blocks (g_idx) is not supported.");
    const x = tensor(a);
    const rows = Math.max(1, Math.floor(kPartBytes / (4 * given.K)));
    const part = (value: Value, start: number, size: number) =>
      value === undefined
        ? undefined
        : eg.narrow(tensor(value).reshape([given.N, -1]), 0, start, size);
    const parts = Array.from({ length: Math.ceil(given.N / rows) }, (_, i) =>
      eg.scope(() => {
        const [start, size] = [i * rows, Math.min(rows, given.N - i * rows)];
        const [own, factors] = [part(packed, start, size), part(scales, start, size)];
        const offsets = part(zeros, start, size);
        const weights = blockWeights(own, factors, offsets, { ...given, N: size });
        return eg.linear(x, weights.to(x.dtype));
      }),
    );
    const product = parts.length === 1 ? (parts[0] as eg.Tensor) : eg.cat(parts, -1);
    return bias === undefined ? product : product.add(tensor(bias));
  },
});

// A binary op on dequantized operands, whose result is quantized again.
const binary = (run: (a: eg.Tensor, b: eg.Tensor) => eg.Tensor) =>
  op({
    ownTypes: true,
    run: ([a, aScale, aZero, b, bScale, bZero, scale, zero]) => {
      const result = run(real(a, aScale, aZero), real(b, bScale, bZero));
      return quantized(result, scale, zero, a);
    },
  });

const real = (x: Value, scale: Value, zero: Value) =>
  dequantize(tensor(x), tensor(scale), tensorOrNull(zero));

const quantized = (x: eg.Tensor, scale: Value, zero: Value, like: Value) =>
  quantize(x, tensor(scale), tensorOrNull(zero), elementType(zero === undefined ? like : zero));

export const kMicrosoftQuantization: Ops = {
  DequantizeLinear: kQuantization.DequantizeLinear as (typeof kQuantization)[string],
  QuantizeLinear: kQuantization.QuantizeLinear as (typeof kQuantization)[string],
  DynamicQuantizeMatMul: op({
    ownTypes: true,
    weights: [4],
    run: ([a, b, bScale, bZero, bias]) => {
      const [whole, scale, zero] = dynamicQuantize(tensor(a));
      const product = productOf(whole, b, zero, bZero)
        .to(scale.dtype)
        .mul(scale.mul(tensor(bScale)));
      return bias === undefined ? product : product.add(tensor(bias));
    },
  }),
  MatMulIntegerToFloat: op({
    ownTypes: true,
    weights: [6],
    run: ([a, b, aScale, bScale, aZero, bZero, bias]) => {
      const scale = tensor(aScale).mul(tensor(bScale));
      const product = productOf(a, b, aZero, bZero).to(scale.dtype).mul(scale);
      return bias === undefined ? product : product.add(tensor(bias));
    },
  }),
  MatMulNBits: matMulNBits,
  QLinearAdd: binary((a, b) => a.add(b)),
  QLinearMul: binary((a, b) => a.mul(b)),
  QLinearConcat: op({
    attributes: { axis: int(0) },
    ownTypes: true,
    run: ([scale, zero, ...parts], { axis }) => {
      const list = Array.from({ length: parts.length / 3 }, (_, i) =>
        real(parts[3 * i], parts[3 * i + 1], parts[3 * i + 2]),
      );
      return quantized(eg.cat(list, axis), scale, zero, parts[0]);
    },
  }),
  QLinearGlobalAveragePool: op({
    attributes: { channels_last: flag(false) },
    ownTypes: true,
    run: ([x, xScale, xZero, scale, zero], { channels_last }) => {
      const values = real(x, xScale, xZero);
      const dims = values.shape
        .map((_, i) => i)
        .slice(channels_last ? 1 : 2, channels_last ? -1 : undefined);
      return quantized(eg.mean(values, dims, { keepdim: true }), scale, zero, x);
    },
  }),
  QLinearSigmoid: op({
    ownTypes: true,
    run: ([x, xScale, xZero, scale, zero]) =>
      quantized(eg.sigmoid(real(x, xScale, xZero)), scale, zero, x),
  }),
};
