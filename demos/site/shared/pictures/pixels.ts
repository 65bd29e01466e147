// Pictures of any size as the pixels that a model takes.

/** The pixels of a picture in another size; of one that is longer, the middle. */
export function pixelsOf(
  picture: ImageBitmap | HTMLVideoElement,
  width: number,
  height: number,
): Uint8ClampedArray<ArrayBuffer> {
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext("2d") as OffscreenCanvasRenderingContext2D;
  const [ownWidth, ownHeight] =
    picture instanceof ImageBitmap
      ? [picture.width, picture.height]
      : [picture.videoWidth, picture.videoHeight];
  const scale = Math.max(width / ownWidth, height / ownHeight);
  const [wide, high] = [ownWidth * scale, ownHeight * scale];
  context.imageSmoothingQuality = "high";
  context.drawImage(picture, (width - wide) / 2, (height - high) / 2, wide, high);
  return context.getImageData(0, 0, width, height).data;
}
