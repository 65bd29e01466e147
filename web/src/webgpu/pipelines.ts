// Caches of pipelines and bind groups.

import type { Block } from "./blocks";
import type { ErrorCollector } from "./errors";
import {
  mergedKey,
  mergedMemory,
  mergedText,
  mergedUniforms,
  mergedWorkgroups,
} from "./merge/merged_shader";
import type { Group } from "./merge/plan";
import type { PreparedDispatch } from "./recorder";

/** More bind groups than a program uses at a time; the cache is cleared when it reaches this size. */
const kMaxBindGroups = 8192;

/** The size of the uniform binding, in bytes, which starts at the uniforms of the dispatch. */
export const kUniformBytes = 4096;

/** The label of dispatches that belong to several ops. */
const kMerged = "merged";

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
  readonly #pipelines = new Map<string, GPUComputePipeline>();
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

  /** Returns the pipeline for a key; `text` is called only if it does not exist yet. `layout` is that of Memory. */
  pipeline(key: string, layout: string, op: string, text: () => string): GPUComputePipeline {
    const known = this.#pipelines.get(key);
    if (known !== undefined) return known;
    this.#checkBindings(layout.length);
    const code = text();
    const { result: made, failure } = this.#errors.create(["validation", "internal"], op, () =>
      this.#create(op, layout, code),
    );
    this.created++;
    this.#pipelines.set(key, made);
    void failure.then((error) => {
      if (error !== undefined) this.#pipelines.delete(key);
    });
    return made;
  }

  /** Creates one dispatch for a group of them; resolves to undefined if the device does not accept it. */
  async merge(group: Group): Promise<PreparedDispatch | undefined> {
    const memory = mergedMemory(group);
    const { layout, blocks } = memory;
    const key = mergedKey(group, memory);
    const known = this.#pipelines.get(key);
    const { result, failure } = this.#errors.attempt(["validation", "internal"], kMerged, () => ({
      pipeline: known ?? this.#create(kMerged, layout, mergedText(group, memory)),
      bindGroup: this.#makeBindGroup(layout, blocks),
    }));
    if ((await failure) !== undefined) return undefined;
    if (known === undefined) this.created++;
    this.bindGroupsCreated++;
    this.#pipelines.set(key, result.pipeline);
    const [first] = group as [PreparedDispatch];
    return {
      ...result,
      source: first.source,
      uniforms: mergedUniforms(group),
      slotAt: undefined,
      workgroups: mergedWorkgroups(group),
      blocks,
    };
  }

  bindGroup(layout: string, blocks: readonly Block[], op: string): GPUBindGroup {
    let key = layout;
    for (const { id } of blocks) key += `,${id}`;
    const known = this.#bindGroups.get(key);
    if (known !== undefined) return known;
    if (this.#bindGroups.size >= kMaxBindGroups) {
      this.#bindGroups.clear();
      this.#groupsOf.clear();
    }
    const { result: made, failure } = this.#errors.create(["validation"], op, () =>
      this.#makeBindGroup(layout, blocks),
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

  #create(label: string, layout: string, code: string): GPUComputePipeline {
    const module = this.#device.createShaderModule({ label, code });
    return this.#device.createComputePipeline({
      label,
      layout: this.#layout(layout).pipeline,
      compute: { module, entryPoint: "main" },
    });
  }

  #makeBindGroup(layout: string, blocks: readonly Block[]): GPUBindGroup {
    return this.#device.createBindGroup({
      layout: this.#layout(layout).bindings,
      entries: blocks.map(({ buffer, offset, size }, binding) => ({
        binding,
        resource: { buffer, offset, size },
      })),
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

// GPUShaderStage.COMPUTE
const kCompute = 4;
