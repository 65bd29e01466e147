// Caches of pipelines and bind groups.

import type { Block } from "./blocks";
import { type ErrorCollector, type PlayerError, TooLarge } from "./errors";
import {
  mergedKey,
  mergedMemory,
  mergedText,
  mergedUniforms,
  mergedWorkgroups,
} from "./merge/merged_shader";
import type { Dispatch, PreparedDispatch, WrittenDispatch } from "./recorder";
import { Memory, shaderText } from "./shader";
import type { Window } from "./stream";

/** More bind groups than a program uses at a time; the cache is cleared when it reaches this size. */
const kMaxBindGroups = 8192;

/** The size of the uniform binding, in bytes, which starts at the uniforms of the dispatch. */
export const kUniformBytes = 4096;

const kShaderErrors = ["validation", "internal"] as const;

/** The label of dispatches that belong to several ops. */
const kMerged = "merged";

/** A pipeline; `gpu` is set once it has been compiled. */
export interface Pipeline {
  gpu: GPUComputePipeline | undefined;
}

/** Returns the GPU's pipeline of a dispatch that is recorded. */
export function compiled({ gpu }: Pipeline): GPUComputePipeline {
  if (gpu === undefined) throw new Error("the shader has not been compiled");
  return gpu;
}

interface Compiling extends Pipeline {
  /** Resolves to the error of a pipeline that could not be compiled. */
  readonly failure: Promise<PlayerError | undefined>;
}

interface Layout {
  readonly bindings: GPUBindGroupLayout;
  readonly pipeline: GPUPipelineLayout;
}

export class Pipelines {
  created = 0;
  bindGroupsCreated = 0;
  readonly uniformLayout: GPUBindGroupLayout;
  readonly #device: GPUDevice;
  readonly #errors: ErrorCollector;
  readonly #layouts = new Map<string, Layout>();
  readonly #pipelines = new Map<string, Compiling>();
  readonly #compiling = new Set<Promise<unknown>>();
  readonly #bindGroups = new Map<string, GPUBindGroup>();
  // The keys of the bind groups of each block, by block id.
  readonly #groupsOf = new Map<number, string[]>();

  constructor(device: GPUDevice, errors: ErrorCollector) {
    this.#device = device;
    this.#errors = errors;
    this.uniformLayout = device.createBindGroupLayout({
      entries: [
        {
          binding: 0,
          visibility: kCompute,
          buffer: { type: "uniform", hasDynamicOffset: true },
        },
      ],
    });
  }

  /** Whether pipelines are being compiled, which a device can do for several at once. */
  get isCompiling(): boolean {
    return this.#compiling.size > 0;
  }

  /** Resolves when no pipeline is being compiled. */
  async settled(): Promise<void> {
    while (this.isCompiling) await Promise.all(this.#compiling);
  }

  /**
   * Returns the pipeline for a key; `text` is called only if it does not exist yet. `layout` is that of Memory. Its error, and the
   * end of its compilation, are those of `attempted`.
   */
  pipeline(key: string, layout: string, op: string, text: () => string): Pipeline {
    const pipeline = this.compile(key, layout, op, text);
    if (pipeline.gpu === undefined) this.#errors.need(pipeline.failure);
    return pipeline;
  }

  /** Returns a pipeline that is used at once; its error is the only one of `attempted`. */
  pipelineNow(key: string, layout: string, op: string, text: () => string): Pipeline {
    const known = this.#pipelines.get(key);
    if (known?.gpu !== undefined) return known;
    this.#checkBindings(layout.length);
    const code = text();
    const { result: gpu, failure } = this.#errors.create(kShaderErrors, op, () =>
      this.#device.createComputePipeline(this.#descriptor(op, layout, code)),
    );
    return this.#add(key, { gpu, failure });
  }

  /** Begins to compile a pipeline that will be needed, unless it exists. */
  compile(key: string, layout: string, op: string, text: () => string): Compiling {
    const known = this.#pipelines.get(key);
    if (known !== undefined) return known;
    this.#checkBindings(layout.length);
    const code = text();
    const { result, failure } = this.#compile(op, layout, code);
    const compiling: Compiling = { gpu: undefined, failure };
    result.then(
      (gpu) => {
        compiling.gpu = gpu;
      },
      () => undefined, // `failure` has the error.
    );
    return this.#add(key, compiling);
  }

  #add(key: string, pipeline: Compiling): Compiling {
    this.created++;
    this.#pipelines.set(key, pipeline);
    void pipeline.failure.then((error) => {
      if (error !== undefined && this.#pipelines.get(key) === pipeline) this.#pipelines.delete(key);
    });
    return pipeline;
  }

  #compile(op: string, layout: string, code: string) {
    const { result, failure } = this.#errors.createLater(kShaderErrors, op, () =>
      this.#device.createComputePipelineAsync(this.#descriptor(op, layout, code)),
    );
    this.#compiling.add(failure);
    void failure.then(() => this.#compiling.delete(failure));
    return { result, failure };
  }

  /** Creates one dispatch for several; resolves to undefined if the device does not accept it. */
  async merge(parts: readonly WrittenDispatch[]): Promise<PreparedDispatch | undefined> {
    const [first] = parts as [WrittenDispatch];
    const isAlone = parts.length === 1;
    const { memory, key, text } = wholeOf(parts);
    const { layout, blocks } = memory;
    const { failure, result: bindGroup } = this.#errors.attempt(kShaderErrors, kMerged, () =>
      this.#makeBindGroup(memory),
    );
    const pipeline = this.compile(key, layout, kMerged, text);
    const failures = await Promise.all([failure, pipeline.failure]);
    if (failures.some((error) => error !== undefined)) return undefined;
    this.bindGroupsCreated++;
    const own = { pipeline, bindGroup, blocks };
    if (isAlone) return { ...first, ...own };
    return {
      ...own,
      source: first.source,
      parts,
      uniforms: mergedUniforms(parts),
      slotAt: undefined,
      workgroups: mergedWorkgroups(parts),
    };
  }

  /** Returns a dispatch with the same uniforms that binds its blocks where they are now. */
  rebound(dispatch: PreparedDispatch): PreparedDispatch {
    const { memory, key, text } = wholeOf(dispatch.parts ?? [dispatch]);
    const pipeline = this.pipelineNow(key, memory.layout, kMerged, text);
    return { ...dispatch, pipeline, bindGroup: this.bindGroup(memory, kMerged) };
  }

  bindGroup(memory: Memory, op: string): GPUBindGroup {
    const { layout, blocks, windows } = memory;
    let key = layout;
    for (const [i, { id }] of blocks.entries()) {
      const { offset, bytes } = windows[i] as Window;
      key += `,${id} ${offset} ${bytes}`;
    }
    const known = this.#bindGroups.get(key);
    if (known !== undefined) return known;
    if (this.#bindGroups.size >= kMaxBindGroups) {
      this.#bindGroups.clear();
      this.#groupsOf.clear();
    }
    this.#checkWindows(windows);
    const { result: made, failure } = this.#errors.create(["validation"], op, () =>
      this.#makeBindGroup(memory),
    );
    this.bindGroupsCreated++;
    this.#bindGroups.set(key, made);
    void failure.then((error) => {
      if (error !== undefined) this.#bindGroups.delete(key);
    });
    for (const { id } of blocks) {
      const groups = this.#groupsOf.get(id) ?? [];
      groups.push(key);
      this.#groupsOf.set(id, groups);
    }
    return made;
  }

  /** Removes the bind groups of a destroyed buffer. */
  forget({ id }: Block): void {
    for (const key of this.#groupsOf.get(id) ?? []) this.#bindGroups.delete(key);
    this.#groupsOf.delete(id);
  }

  // Everything else that a shader needs beyond the default limits fails when its pipeline is created.
  #checkBindings(count: number): void {
    const most = this.#device.limits.maxStorageBuffersPerShaderStage;
    if (count > most)
      throw new Error(
        `${count} buffers are needed at once, and this GPU binds ${most}: use tensors on the CPU`,
      );
  }

  #checkWindows(windows: readonly Window[]): void {
    const most = this.#device.limits.maxStorageBufferBindingSize;
    const needed = Math.max(0, ...windows.map(({ bytes }) => bytes));
    if (needed > most)
      throw new TooLarge(
        `${needed} bytes of a tensor are needed at once, and this GPU binds ${most}: use smaller tensors, or tensors on the CPU.`,
      );
  }

  #descriptor(label: string, layout: string, code: string): GPUComputePipelineDescriptor {
    const module = this.#device.createShaderModule({ label, code });
    return {
      label,
      layout: this.#layout(layout).pipeline,
      compute: { module, entryPoint: "main" },
    };
  }

  #makeBindGroup({ layout, blocks, windows }: Memory): GPUBindGroup {
    return this.#device.createBindGroup({
      layout: this.#layout(layout).bindings,
      entries: blocks.map(({ buffer, offset }, binding) => {
        const window = windows[binding] as Window;
        const resource = { buffer, offset: offset + window.offset, size: window.bytes };
        return { binding, resource };
      }),
    });
  }

  #layout(key: string): Layout {
    const known = this.#layouts.get(key);
    if (known !== undefined) return known;
    const bindings = this.#device.createBindGroupLayout({
      entries: [...key].map((mode, binding) => ({
        binding,
        visibility: kCompute,
        buffer: { type: mode === "w" ? "storage" : "read-only-storage" },
      })),
    });
    const pipeline = this.#device.createPipelineLayout({
      bindGroupLayouts: [bindings, this.uniformLayout],
    });
    const layout = { bindings, pipeline };
    this.#layouts.set(key, layout);
    return layout;
  }
}

/** Returns the complete WGSL of a dispatch. */
export function ownText({ uniforms, body }: Dispatch, memory: Memory): string {
  return shaderText({ memory, uniforms, body: body() });
}

// GPUShaderStage.COMPUTE
const kCompute = 4;

// The memory, the key and the text of a shader for all these dispatches.
function wholeOf(parts: readonly WrittenDispatch[]) {
  if (parts.length > 1) {
    const memory = mergedMemory(parts);
    return { memory, key: mergedKey(parts, memory), text: () => mergedText(parts, memory) };
  }
  const [{ source }] = parts as [WrittenDispatch];
  const memory = new Memory(source.memory);
  return { memory, key: `${source.key};${memory.key}`, text: () => ownText(source, memory) };
}
