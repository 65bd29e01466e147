// The values of GPUBufferUsage and GPUMapMode, which Node.js does not define.

export const Usage = {
  MapRead: 0x1,
  CopySource: 0x4,
  CopyTarget: 0x8,
  Uniform: 0x40,
  Storage: 0x80,
  QueryResolve: 0x200,
} as const;

export const kMapRead = 0x1;
