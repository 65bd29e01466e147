// Writes adapters as GGUF files, which llama.cpp reads.

import * as eg from "edgegrad";
import { describe, fail } from "../errors/errors.js";
import { architectureOf, type HeadSizes, layerName, rowOrder } from "../gguf/names.js";
import { type WrittenTensor, writeGguf } from "../gguf/write.js";
import type { LoraConfig } from "./config.js";
import { onCpu } from "./files.js";
import { LoraLinear } from "./layers/linear.js";
import { adaptedIn } from "./targets.js";

const kWhere = "saveGguf";

/** Returns the file of an adapter; throws InvalidArgument for an adapter that llama.cpp cannot read. */
export async function ggufOf(
  model: eg.nn.Module,
  name: string,
  config: LoraConfig,
): Promise<eg.Bytes> {
  const { config: values } = model as eg.nn.Module & { config?: Readonly<Record<string, unknown>> };
  const found = architectureOf(String(values?.model_type));
  if (!values || found === null) {
    const got = describe(values?.model_type);
    return fail("InvalidArgument", kWhere, `models of the type ${got} have no form in GGUF files.`);
  }
  refuseOthers(config);
  const [architecture, layout] = found;
  const heads = Number(values.num_attention_heads ?? values.n_head);
  const sizes: HeadSizes = { heads, groups: Number(values.num_key_value_heads ?? heads) };
  const tensors: Record<string, WrittenTensor> = {};
  for (const { path, layer } of adaptedIn(model)) {
    const settings = layer.settings[name];
    if (settings === undefined) continue;
    const own = layerName(layout, path);
    if (own === null || !(layer instanceof LoraLinear)) {
      const message = `the adapter of "${path}" has no form in files of the architecture ${architecture}`;
      return fail("InvalidArgument", kWhere, `${message}.`);
    }
    const { "lora_A.weight": a, "lora_B.weight": b } = layer.storedTensors(name);
    // Files have one alpha, by which a reader scales each layer with its own rank.
    const factor = (settings.scaling * settings.r) / config.loraAlpha;
    const order = rowOrder(own.storage, layer.base_layer.outFeatures, sizes);
    tensors[`${own.name}.weight.lora_a`] = await writtenTensor(a as eg.Tensor, 1, null);
    tensors[`${own.name}.weight.lora_b`] = await writtenTensor(b as eg.Tensor, factor, order);
  }
  return writeGguf(
    {
      "general.architecture": ["string", architecture],
      "general.type": ["string", "adapter"],
      "adapter.type": ["string", "lora"],
      "adapter.lora.alpha": ["float32", config.loraAlpha],
    },
    tensors,
  );
}

function refuseOthers({ useDora, bias, modulesToSave }: LoraConfig): void {
  const other = useDora
    ? "useDora"
    : bias !== "none"
      ? "trained biases"
      : (modulesToSave?.length ?? 0) > 0
        ? "modulesToSave"
        : null;
  if (other === null) return;
  fail("InvalidArgument", kWhere, `GGUF files have no form of adapters with ${other}.`);
}

async function writtenTensor(
  tensor: eg.Tensor,
  factor: number,
  order: readonly number[] | null,
): Promise<WrittenTensor> {
  const onHost = await onCpu(tensor);
  try {
    const values = eg.noGrad(() =>
      eg.scope(() => {
        const scaled = onHost.float().mul(factor);
        const index = order && eg.tensor([...order], { dtype: "int64" });
        const placed = index === null ? scaled : eg.indexSelect(scaled, 0, index);
        return placed.contiguous().dataSync() as Float32Array;
      }),
    );
    return { shape: tensor.shape, values };
  } finally {
    onHost.dispose();
  }
}
