// Apart from the networks, which load the package: `npm run bench` says what it has before that may be built.

/** The names of the networks that are measured as ONNX files. */
export const kOnnxNames = {
  resnet: "ResNet18, 224 x 224",
  mobileNet: "MobileNetV3-small, 224 x 224",
  bert: "BERT, 6 layers, 128 tokens",
  unet: "U-Net, 128 x 128",
};
