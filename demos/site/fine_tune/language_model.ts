// An opened language model with its adapter: how it learns a lesson, and what it writes.

import { Template } from "@huggingface/jinja";
import { Tokenizer } from "@huggingface/tokenizers";
import * as eg from "edgegrad";
import { getPeftModel, LoraConfig, PeftModel } from "edgegrad/peft";
import {
  AutoModelForCausalLM,
  AutoTokenizer,
  type CausalLanguageModel,
  DataCollatorForLanguageModeling,
  fit,
  type LanguageBatch,
  type PreTrainedTokenizer,
  TextStreamer,
} from "edgegrad/transformers";
import { Encoder } from "./examples.js";
import type {
  Lesson,
  LessonFacts,
  LessonSettings,
  OpenedModel,
  Prompt,
  WeightKind,
} from "./messages.js";

// The most tokens of an example, also for models that could read more: the time and the memory of a step grow with it.
const kMostContext = 256;
const kBatch = 8;
const kNewTokens = 48;
const kTextTemperature = 0.7;
const kDropout = 0.05;

type ModelFiles = Readonly<Record<string, Blob>>;

/** What a lesson calls after each step. */
export type StepListener = (step: { loss: number; tokens: number }) => Promise<void>;

/** A language model, its tokenizer, and the adapter that learns. */
export class LanguageModel {
  readonly #base: CausalLanguageModel;
  readonly #tokenizer: PreTrainedTokenizer;
  readonly #encoder: Encoder;
  readonly #device: eg.Device;
  readonly #hasTemplate: boolean;
  #adapted: PeftModel<CausalLanguageModel> | null = null;
  #optimizer: eg.optim.AdamW | null = null;

  private constructor(
    base: CausalLanguageModel,
    tokenizer: PreTrainedTokenizer,
    hasTemplate: boolean,
    device: eg.Device,
  ) {
    this.#base = base;
    this.#tokenizer = tokenizer;
    this.#device = device;
    this.#hasTemplate = hasTemplate;
    const trained = Number(base.config.max_position_embeddings ?? base.config.n_positions);
    const context = Math.min(kMostContext, trained || kMostContext);
    this.#encoder = new Encoder(tokenizer, hasTemplate, context);
  }

  /** Opens the files of a model; `watch` receives the share that has been read, and may throw to stop. */
  static async open(
    files: ModelFiles,
    device: eg.Device,
    weights: WeightKind,
    watch: (share: number) => void,
  ): Promise<LanguageModel> {
    const tokenizer = await AutoTokenizer.fromPretrained(files, { Tokenizer, Template });
    const loadedOf = new Map<string, number>();
    const weightFiles = Object.entries(files).filter(([name]) =>
      /\.(?:safetensors|gguf)$/i.test(name),
    );
    const all = sum(weightFiles.map(([, { size }]) => size));
    const base = await AutoModelForCausalLM.fromPretrained(files, {
      device,
      dtype: weights === "auto" ? "auto" : "float32",
      dequantize: weights === "float32",
      ...(weights === "int8" && { quantization: "int8" as const }),
      onProgress: ({ name, loaded }) => {
        loadedOf.set(name, loaded);
        watch(Math.min(1, sum([...loadedOf.values()]) / all));
      },
    });
    return new LanguageModel(base, tokenizer, hasTemplate(tokenizer), device);
  }

  get opened(): OpenedModel {
    return {
      type: String(this.#base.config.model_type),
      parameters: sum(this.#base.parameters().map(({ numel }) => numel)),
      hasTemplate: this.#hasTemplate,
    };
  }

  get hasAdapter(): boolean {
    return this.#adapted !== null;
  }

  /** Learns a lesson: resolves when its steps are done, rejects with the signal's reason if it is stopped. */
  async learn(
    lesson: Lesson,
    settings: LessonSettings,
    signal: AbortSignal,
    began: (facts: LessonFacts) => void,
    stepped: StepListener,
  ): Promise<void> {
    const { examples, cut } = this.#encoder.examplesOf(lesson);
    const adapted = this.#adapterFor(settings.rank);
    const optimizer = this.#optimizerFor(adapted, settings.rate);
    began({ trained: adapted.trainableParameters().trainable, cut });
    const { collate } = new DataCollatorForLanguageModeling({
      padTokenId: this.#tokenizer.padTokenId ?? 0,
      padToMultipleOf: 8,
    });
    const loader = new eg.data.DataLoader(examples, {
      batchSize: kBatch,
      shuffle: true,
      collateFn: collate,
    });
    let tokens = 0;
    const batches = this.#batches(loader, settings.steps, (count) => {
      tokens = count;
    });
    await fit(adapted, batches, {
      optimizer,
      clipNorm: 1,
      signal,
      onStep: ({ loss }) => stepped({ loss, tokens }),
    });
  }

  /** Continues a prompt; `write` receives the text piece by piece. */
  async write(
    prompt: Prompt,
    usesAdapter: boolean,
    signal: AbortSignal,
    write: (text: string) => void,
  ): Promise<void> {
    const tokens = this.#encoder.promptOf(prompt, kNewTokens);
    const ids = eg.tensor([tokens], { dtype: "int64" }).to(this.#device);
    const streamer = new TextStreamer(this.#tokenizer, write);
    const generate = (model: CausalLanguageModel | PeftModel<CausalLanguageModel>) =>
      model.generate(ids, {
        maxNewTokens: kNewTokens,
        streamer,
        signal,
        ...(prompt.kind === "text" && { doSample: true, temperature: kTextTemperature, topK: 40 }),
      });
    const adapted = this.#adapted;
    try {
      const written =
        adapted === null || usesAdapter
          ? await generate(adapted ?? this.#base)
          : await adapted.disableAdapter(() => generate(adapted));
      written.dispose();
    } finally {
      ids.dispose();
    }
  }

  /** The files of the adapter by name. */
  adapterFiles(): Promise<Record<string, Uint8Array>> {
    if (this.#adapted === null) throw new Error("there is no adapter yet");
    return this.#adapted.savePretrained();
  }

  /** Puts an adapter on the model that was saved before; returns its rank. */
  async openAdapter(files: ModelFiles): Promise<number> {
    this.removeAdapter();
    this.#adapted = await PeftModel.fromPretrained(this.#base, files, { isTrainable: true });
    if (this.#device !== "cpu") this.#adapted.to(this.#device);
    return this.#adapted.peftConfig.default?.r ?? 0;
  }

  removeAdapter(): void {
    this.#adapted?.unload();
    this.#adapted = null;
    this.#optimizer = null;
  }

  dispose(): void {
    for (const parameter of (this.#adapted ?? this.#base).parameters()) parameter.dispose();
  }

  #adapterFor(rank: number): PeftModel<CausalLanguageModel> {
    this.#adapted ??= getPeftModel(
      this.#base,
      new LoraConfig({
        r: rank,
        loraAlpha: 2 * rank,
        loraDropout: kDropout,
        targetModules: "all-linear",
        taskType: "CAUSAL_LM",
      }),
    );
    return this.#adapted;
  }

  #optimizerFor(adapted: eg.nn.Module, rate: number): eg.optim.AdamW {
    const learning = adapted.parameters().filter(({ requiresGrad }) => requiresGrad);
    this.#optimizer ??= new eg.optim.AdamW(learning, { lr: rate, weightDecay: 0 });
    for (const group of this.#optimizer.paramGroups) group.lr = rate;
    return this.#optimizer;
  }

  // Passes over the data until there are as many batches as steps.
  async *#batches(
    loader: AsyncIterable<LanguageBatch>,
    steps: number,
    watch: (tokens: number) => void,
  ): AsyncGenerator<LanguageBatch> {
    for (let left = steps; left > 0; ) {
      for await (const batch of loader) {
        if (left-- === 0) return;
        watch(batch.inputIds.numel);
        yield batch;
      }
    }
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, number) => all + number, 0);
}

// A template that asks for what this page does not have is as good as none.
function hasTemplate(tokenizer: PreTrainedTokenizer): boolean {
  try {
    tokenizer.chatExample([
      { role: "user", content: "a" },
      { role: "assistant", content: "b" },
    ]);
    return true;
  } catch {
    return false;
  }
}
