// The code that is loaded for models whose config.json says that other tools have quantized them.

import * as eg from "edgegrad";
import { describe, fail } from "../../../errors/errors.js";
import type { CodeFormat } from "../../blocks/code_format.js";
import { QuantizedMatrix, rowsFrom } from "../../blocks/quantized.js";
import { Config } from "../../config/config.js";
import { type CodedFile, sliceOfWhole, type WeightFile } from "../weight_file.js";
import { awq } from "./awq.js";
import { bitsandbytes } from "./bitsandbytes.js";
import { gptq } from "./gptq.js";
import type { PackedMatrix, PackedMethod } from "./method.js";

const kWhere = "fromPretrained";

const kMethods: Readonly<Record<string, PackedMethod>> = { gptq, awq, bitsandbytes };

/** Returns a file whose packed matrices are weights of few bits; throws InvalidArgument for what is not implemented. */
export function packedFile(file: WeightFile, values: unknown): CodedFile {
  const settings = new Config({ quantization_config: values }).part("quantization_config");
  const name = settings.text("quant_method");
  const read = Object.hasOwn(kMethods, name) ? kMethods[name] : undefined;
  if (read === undefined) {
    const known = Object.keys(kMethods).join(", ");
    const advice =
      "Save the model without quantization, and open that with the option quantization";
    return fail(
      "InvalidArgument",
      kWhere,
      `config.json: quant_method is ${describe(name)}, which is not implemented; it may be ${known}. ${advice}.`,
    );
  }
  const matrices = read(file, settings);
  if (matrices.size === 0) {
    const message = `config.json says that ${name} has quantized the model, and the file has no such matrices`;
    fail("InvalidArgument", kWhere, `${message}. Take quantization_config out of config.json.`);
  }
  return new PackedFile(file, matrices);
}

class PackedFile implements CodedFile {
  readonly keys: readonly string[];

  constructor(
    private readonly file: WeightFile,
    private readonly matrices: ReadonlyMap<string, PackedMatrix>,
  ) {
    const parts = new Set([...matrices.values()].flatMap((matrix) => matrix.parts));
    this.keys = [...file.keys.filter((key) => !parts.has(key)), ...matrices.keys()];
  }

  get metadata(): Readonly<Record<string, string>> {
    return this.file.metadata;
  }

  async info(key: string): Promise<eg.io.StoredTensorInfo> {
    const matrix = this.matrices.get(key);
    if (matrix === undefined) return this.file.info(key);
    const { rows, columns, dtype } = await matrix.sizes();
    return { dtype, shape: [rows, columns], bytes: matrix.format.bits * rows * (columns / 8) };
  }

  format(key: string): CodeFormat | null {
    return this.matrices.get(key)?.format ?? null;
  }

  async readCodes(key: string, matrix: QuantizedMatrix): Promise<void> {
    const own = this.matrices.get(key) as PackedMatrix;
    const { rows, columns } = await own.sizes();
    if (rows !== matrix.rows || columns !== matrix.columns) {
      const sizes = `expected [${matrix.rows}, ${matrix.columns}], got [${rows}, ${columns}]`;
      fail("ShapeMismatch", kWhere, `${key}: ${sizes}.`);
    }
    const { order, ...codes } = await own.codes();
    matrix.putCodes(rowsFrom(0, rows), codes);
    if (codes.offsets?.every((offset) => offset === 0)) matrix.dropOffset();
    if (order !== null) matrix.setOrder(order);
  }

  async tensor(key: string, options: eg.io.ReadTensorOptions = {}): Promise<eg.Tensor> {
    const own = this.matrices.get(key);
    if (own === undefined) return this.file.tensor(key, options);
    const { rows, columns, dtype } = await own.sizes();
    const { device = "cpu", dtype: wanted = dtype } = options;
    const numbers = await own.numbers?.();
    const shape = [rows, columns];
    if (numbers) {
      return eg.scope(() => eg.keep(eg.tensor(numbers, { shape }).to(wanted).to(device)));
    }
    const matrix = new QuantizedMatrix(rows, columns, own.format);
    await this.readCodes(key, matrix);
    return eg.scope(() => eg.keep(matrix.numbers().to(wanted).to(device)));
  }

  async slice(key: string, range: readonly [start: number, end: number]): Promise<eg.Tensor> {
    return this.matrices.has(key) ? sliceOfWhole(this, key, range) : this.file.slice(key, range);
  }

  close(): Promise<void> {
    return this.file.close();
  }
}
