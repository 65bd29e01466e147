// The values of GPUBufferUsage and GPUMapMode, which Node.js does not define.

export const Usage = {
  MapRead: 0x1,
  CopySource: 0x4,
  CopyTarget: 0x8,
  Index: 0x10,
  Vertex: 0x20,
  Uniform: 0x40,
  Storage: 0x80,
  Indirect: 0x100,
  QueryResolve: 0x200,
} as const;

/** GPUTextureUsage of COPY_SRC, COPY_DST and RENDER_ATTACHMENT. */
export const kPictureUsage = 0x13;

export const kMapRead = 0x1;
