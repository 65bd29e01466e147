// npm run bench -- language: a language model of 135 million parameters beside onnxruntime-web and native PyTorch, on the same cores.
//
// Every task runs in a process of its own, ours and a peer's in turn. Processes report the most memory that they have taken.

import { execFile } from "node:child_process";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { median } from "../clock.mjs";
import { blasWarning, kPython, torchEnvironment } from "../torch/server.mjs";
import { kBatch, kLora, kPrompt, kTokens, modelFolder, tokens } from "./model.mjs";

const here = (name) => fileURLToPath(new URL(name, import.meta.url));

const kWide = { dtype: "float32" };
const kEight = { ...kWide, quantization: "int8" };
const kFour = { ...kWide, quantization: "int4" };
const nameOf = ({ dtype = "bfloat16", quantization = dtype }) => quantization;

/** The most megabytes of all tensors together. */
const kMostMegabytes = { int8: 260, int4: 150 };

/** Returns the lines of a table: what was measured, its value, that of a peer, and the aim. */
export async function languageLines({ quick, hasTorch, onProgress }) {
  const bench = new Bench(await modelFolder(), quick, onProgress);
  await bench.load();
  await bench.generate();
  await bench.compare(`read a prompt of ${kPrompt} tokens`, "prompt", { count: bench.rounds });
  const count = bench.tokens / 4;
  await bench.compare(`generate ${kBatch} texts`, "generate", { count, batch: kBatch });
  await bench.train(hasTorch);
  return bench.rows.map((cells) => `| ${cells.join(" | ")} |`);
}

class Bench {
  rows = [
    ["", "edgegrad", "peer", "aim"],
    ["---", "---:", "---", "---"],
  ];

  constructor(folder, quick, onProgress) {
    this.folder = folder;
    this.onProgress = onProgress;
    this.rounds = quick ? 1 : 3;
    this.tokens = quick ? 16 : 64;
    this.steps = quick ? 3 : 6;
    this.threads = Math.min(2, availableParallelism());
  }

  add(title, value, peer = "", aim = "") {
    this.rows.push([title, value, peer, aim]);
  }

  async measure(title, program, args, env = process.env) {
    this.onProgress(title);
    const { stdout } = await promisify(execFile)(program, args, { maxBuffer: 2 ** 26, env });
    return JSON.parse(stdout.trim().split("\n").at(-1));
  }

  ours(task, options) {
    const settings = JSON.stringify({ threads: this.threads, ...options });
    const title = `${task} ${nameOf(options)}`;
    const args = [here("edgegrad.mjs"), task, this.folder, settings];
    return this.measure(title, process.execPath, args);
  }

  onnxruntime(task, options) {
    const settings = JSON.stringify({ threads: this.threads, ...options });
    const args = [here("onnxruntime.mjs"), task, this.folder, settings];
    return this.measure(`${task} onnxruntime-web`, process.execPath, args);
  }

  /** Measures a task with both in turn; both must write the same. Returns the median of a function of both speeds. */
  async pairs(task, options) {
    const speeds = [];
    for (let i = 0; i < this.rounds; i++) {
      const own = await this.ours(task, { ...kWide, ...options });
      const other = await this.onnxruntime(task, options);
      if (String(own.ids) !== String(other.ids))
        throw new Error("onnxruntime-web writes another text");
      speeds.push([own.tokensPerSecond, other.tokensPerSecond]);
    }
    return (pick) => median(speeds.map((pair) => pick(...pair)));
  }

  /** Adds the rows of a task with float32; returns the speed of onnxruntime-web. */
  async compare(title, task, options, aim) {
    const of = await this.pairs(task, options);
    const theirs = of((_, b) => b);
    this.add(
      `${title} with float32`,
      perSecond(of((a) => a)),
      `${perSecond(theirs)} with onnxruntime-web`,
    );
    this.add(`${title} with float32, pairs`, times(of((a, b) => a / b)), "", aim);
    return theirs;
  }

  torch() {
    const { threads, steps: count } = this;
    const settings = { threads, count, lora: kLora, tokens: tokens(kTokens) };
    const args = [here("../torch/language.py"), this.folder, JSON.stringify(settings)];
    return this.measure("PyTorch", kPython, args, torchEnvironment());
  }

  async load() {
    for (const options of [{}, kWide, kEight, kFour]) {
      const count = 2 * this.rounds + 1;
      const { file, load, ratio } = await this.ours("load", { ...options, count });
      const aim = options.dtype ? "" : "<= 1.5";
      this.add(`load as ${nameOf(options)}`, ms(load), `${ms(file)} for reading the file`);
      this.add(`load as ${nameOf(options)}, pairs`, times(ratio), "", aim);
    }
  }

  async generate() {
    const count = this.tokens;
    const theirs = await this.compare("generate", "generate", { count }, ">= 1.5");
    for (const options of [{}, kEight, kFour]) {
      const { tokensPerSecond, tensorMegabytes } = await this.ours("generate", {
        ...options,
        count,
      });
      const ratio = `${times(tokensPerSecond / theirs)} of onnxruntime-web with float32`;
      this.add(`generate with ${nameOf(options)}`, perSecond(tokensPerSecond), ratio);
      this.add(`generate with ${nameOf(options)}, tensors`, mb(tensorMegabytes), "", most(options));
    }
  }

  async train(hasTorch) {
    const count = this.steps;
    const pairs = [];
    for (let i = 0; i < this.rounds; i++) {
      const native = hasTorch ? await this.torch() : null;
      pairs.push([await this.ours("train", { ...kWide, count }), native]);
    }
    const of = (pick) => median(pairs.map(([a, b]) => pick(a, b)));
    const step = ms(of((a) => a.msPerStep));
    this.add("LoRA step", step, hasTorch ? `${ms(of((_, b) => b.msPerStep))} with PyTorch` : "");
    if (hasTorch) {
      checkLosses(...pairs[0]);
      const own = of((a) => a.processMegabytes);
      const native = of((_, b) => b.processMegabytes);
      const { gflops } = await this.ours("product", kWide);
      const [[, { blas }]] = pairs;
      const warning = blasWarning(blas, gflops);
      const ratio = times(of((a, b) => a.msPerStep / b.msPerStep));
      this.add("LoRA step, pairs", warning || ratio, `products on ${blas.library}`, "<= 2.5");
      this.add("LoRA, process", mb(own), `${mb(native)} with PyTorch`);
      this.add("LoRA, process, ratio", times(own / native), "", "<= 1.2");
    }
    for (const options of [kEight, kFour]) {
      const checkpointed = { ...options, gradientCheckpointing: true, count };
      const figures = await this.ours("train", checkpointed);
      const title = `LoRA step with ${nameOf(options)}, checkpointed`;
      this.add(title, ms(figures.msPerStep), `${mb(figures.processMegabytes)} of the process`);
      this.add(`${title}, tensors`, mb(figures.tensorMegabytes), "", most(options));
    }
  }
}

function checkLosses({ losses }, native) {
  const apart = losses.map((loss, i) => Math.abs(loss - native.losses[i]));
  if (Math.max(...apart) > 2e-3) throw new Error(`other losses: ${losses}, ${native.losses}`);
}

const ms = (value) => `${value.toFixed(0)} ms`;
const mb = (value) => `${value.toFixed(0)} MB`;
const times = (value) => `${value.toFixed(2)} x`;
const perSecond = (value) => `${value.toFixed(1)} tokens/s`;
const most = ({ quantization }) => (quantization ? `<= ${kMostMegabytes[quantization]} MB` : "");
