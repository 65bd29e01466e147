// Language models that see images: in a text, each image is a run of one token, in whose place its vectors are read.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import { generateFrom } from "../generation/generate.js";
import { type GenerateOptions, kGenerateOptions } from "../generation/options.js";
import { checkOptions } from "../options.js";
import { CausalLanguageModel, type ReadDecoderOptions, TextDecoder } from "./causal.js";
import {
  type CausalOptions,
  checkIds,
  checkPixels,
  type DecoderOptions,
  kCausal,
  kDecoder,
  kTensor,
  readerOf,
} from "./inputs.js";

/** The images of texts: in the order in which the texts have them, text after text. */
export interface ImageInputs {
  /** The images as an image processor returns them: [images, channels, height, width]. */
  readonly pixelValues?: eg.Tensor | null | undefined;
  /** Instead of `pixelValues`, the vectors that `getImageFeatures` has returned for them: [images, tokens, size]. */
  readonly imageFeatures?: eg.Tensor | null | undefined;
}

/** Options of a language model that sees images. */
export interface ImageTextOptions extends CausalOptions, ImageInputs {}

/** Options of `generate` of a language model that sees images; with `pastKeyValues`, the images are those of the tokens that the cache lacks. */
export interface ImageTextGenerateOptions extends GenerateOptions, ImageInputs {}

const kImages = { pixelValues: kTensor, imageFeatures: kTensor };

const imageTextOptions = readerOf<ImageTextOptions>({ ...kCausal, ...kImages });
const decoderOptions = readerOf<DecoderOptions & ImageInputs>({ ...kDecoder, ...kImages });

/** Throws unless images are given once, with the right dimensions, and as many as a text has tokens for. */
function checkImages(
  where: string,
  { pixelValues, imageFeatures }: ImageInputs,
  { tokensPerImage }: ImageTextDecoder,
  tokens: number | null,
): void {
  if (pixelValues && imageFeatures) {
    fail("InvalidArgument", where, "expected pixelValues or imageFeatures, got both.");
  }
  if (pixelValues) checkPixels(where, pixelValues);
  if (imageFeatures && (imageFeatures.ndim !== 3 || imageFeatures.shape[1] !== tokensPerImage)) {
    const got = `[${imageFeatures.shape.join(", ")}]`;
    const message = `imageFeatures: expected [images, ${tokensPerImage}, size], got ${got}.`;
    fail("ShapeMismatch", where, message);
  }
  const images = (pixelValues ?? imageFeatures)?.shape[0] ?? 0;
  if (tokens === null || tokens === images * tokensPerImage) return;
  const [first, second] = [`${tokens} tokens of images`, `${images} images`];
  const message = `the texts have ${first}, and there are ${second} of ${tokensPerImage} each.`;
  fail("ShapeMismatch", where, message);
}

/** A language model without its head that sees images. */
export abstract class ImageTextDecoder extends TextDecoder {
  /** The token in whose place a vector of an image is read. */
  abstract readonly imageToken: number;
  /** The number of vectors of an image. */
  abstract readonly tokensPerImage: number;

  /** Returns the embeddings of words. */
  protected abstract embedWords(ids: eg.Tensor): eg.Tensor;

  /** Returns the vectors of images: [images, tokens, size]. */
  abstract getImageFeatures(pixels: eg.Tensor): eg.Tensor;

  // Tokens that follow a cache one by one are never images.
  protected override read(
    ids: eg.Tensor,
    given?: DecoderOptions,
  ): ReadDecoderOptions & ImageInputs {
    const where = this.constructor.name;
    const options = decoderOptions(where, ids, given);
    const hasImages = Boolean(options.pixelValues ?? options.imageFeatures);
    if (ids.shape[1] === 1 && !hasImages) return options;
    const isImage = ids.eq(this.imageToken);
    // What a GPU has is not known here.
    const tokens = ids.device === "cpu" ? Number(isImage.sum().item()) : null;
    checkImages(where, options, this, tokens);
    return { ...options, blockIds: tokens === 0 ? null : runsOf(isImage) };
  }

  protected override embed(ids: eg.Tensor, options: DecoderOptions & ImageInputs): eg.Tensor {
    const { pixelValues, imageFeatures } = options;
    const features = imageFeatures ?? (pixelValues && this.getImageFeatures(pixelValues));
    if (!features) return this.embedWords(ids);
    const isImage = ids.eq(this.imageToken);
    // The token of images may be none of the vocabulary.
    const words = this.embedWords(ids.maskedFill(isImage, 0));
    const size = words.shape[2] as number;
    const list = features.reshape([-1, size]).to(words.dtype);
    const places = isImage.flatten().to("int64").cumsum(0).sub(1);
    const seen = list.indexSelect(0, places.clamp(0, (list.shape[0] as number) - 1));
    return eg.where(isImage.unsqueeze(2), seen.reshape(words.shape), words);
  }
}

// The number of the run of true values that each token belongs to, and -1 for false ones.
function runsOf(isImage: eg.Tensor): eg.Tensor {
  return eg.noGrad(() => {
    const { device } = isImage;
    const [batch, tokens] = isImage.shape as [number, number];
    const none = eg.zeros([batch, 1], { dtype: "bool", device });
    const before = eg.cat([none, isImage.narrow(1, 0, tokens - 1)], 1);
    const begins = isImage.logicalAnd(before.logicalNot());
    return begins.to("int64").cumsum(1).sub(1).maskedFill(isImage.logicalNot(), -1);
  });
}

/** A language model that predicts the next token of texts with images. */
export abstract class ImageTextModel extends CausalLanguageModel {
  protected abstract override get decoder(): ImageTextDecoder;

  protected override read(ids: eg.Tensor, given?: ImageTextOptions): ImageTextOptions {
    return imageTextOptions(this.constructor.name, ids, given);
  }

  /** Computes the scores of each next token, and the loss if labels are given. Throws ShapeMismatch if there are more or fewer images than in the texts. */
  override forward(ids: eg.Tensor, given?: ImageTextOptions) {
    return super.forward(ids, given);
  }

  /** Returns the vectors of images, [images, tokens, size], which several calls can read as `imageFeatures`. */
  getImageFeatures(pixels: eg.Tensor): eg.Tensor {
    return this.decoder.getImageFeatures(pixels);
  }

  /** Continues texts with images: resolves to the given and the generated tokens, [batch, tokens]. Rows that end early are padded. */
  override async generate(
    ids: eg.Tensor,
    options: ImageTextGenerateOptions = {},
  ): Promise<eg.Tensor> {
    const { pixelValues, imageFeatures, ...rest } = options;
    const images = { pixelValues, imageFeatures };
    checkIds("generate", ids);
    checkOptions("generate", options, { ...kGenerateOptions, ...kImages });
    const past = rest.pastKeyValues?.length ?? 0;
    const counts = await this.countsIn(ids, past);
    const tokens = counts.reduce((sum, count) => sum + count, 0);
    checkImages("generate", images, this.decoder, tokens);
    let kept: eg.Tensor | null = null;
    try {
      return await generateFrom(this, ids, rest, (input, step) => {
        const isSeen = tokens > 0 && step.pastKeyValues.length === past;
        if (isSeen) kept ??= this.repeatedImages(images, counts, input.shape[0] as number);
        const given = { ...step, logitsToKeep: 1, ...(isSeen && { imageFeatures: kept }) };
        return this.call(input, given).logits;
      });
    } finally {
      (kept as eg.Tensor | null)?.dispose();
    }
  }

  // The number of tokens of images in each text, after those of a cache.
  private async countsIn(ids: eg.Tensor, past: number): Promise<number[]> {
    const { imageToken } = this.decoder;
    const rows = (await ids.array()) as (number | bigint)[][];
    return rows.map(
      (row) => row.slice(past).filter((token) => Number(token) === imageToken).length,
    );
  }

  // With several texts per input, the vectors of its images are repeated for each of them.
  private repeatedImages(
    { pixelValues, imageFeatures }: ImageInputs,
    counts: readonly number[],
    rows: number,
  ): eg.Tensor {
    const features = imageFeatures ?? this.getImageFeatures(pixelValues as eg.Tensor);
    const copies = rows / counts.length;
    const { tokensPerImage } = this.decoder;
    const own = features.split(counts.map((count) => count / tokensPerImage));
    return eg.keep(eg.cat(own.flatMap((tensor) => new Array<eg.Tensor>(copies).fill(tensor))));
  }
}
