# Layers for images and signals: convolutions, pooling, norms, dropout of channels, sampling.

import torch
from torch import nn, optim
from torch.nn import functional as F


def classified(shape, make, steps=20, classes=3, lr=0.01):
    """A classifier of random images of this shape."""

    def program(record, dtype):
        x = torch.randn(12, *shape, dtype=dtype)
        y = torch.randint(0, classes, (12,))
        model = make().to(dtype)
        optimizer = optim.Adam(model.parameters(), lr=lr)
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            record(loss)
        model.eval()
        with torch.no_grad():
            record(F.cross_entropy(model(x), y))
        return list(model.parameters()) + [b for b in model.buffers() if b.is_floating_point()]

    return program


def copied(shape, make, steps=20, target=None):
    """A network that gives its input back, or what `target` makes of it."""

    def program(record, dtype):
        x = torch.randn(6, *shape, dtype=dtype)
        wanted = x if target is None else target(x)
        model = make().to(dtype)
        optimizer = optim.RMSprop(model.parameters(), lr=0.005)
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.l1_loss(model(x), wanted)
            loss.backward()
            optimizer.step()
            record(loss)
        return list(model.parameters()) + [b for b in model.buffers() if b.is_floating_point()]

    return program


class ChannelShuffle(nn.ChannelShuffle):
    """PyTorch 1.13 has no gradient of it."""

    def forward(self, x):
        return x.unflatten(1, (self.groups, -1)).transpose(1, 2).flatten(1, 2)


class Residual(nn.Module):
    def __init__(self, inside, outside, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(inside, outside, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outside)
        self.conv2 = nn.Conv2d(outside, outside, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outside)
        self.shortcut = nn.Sequential()
        if stride != 1 or inside != outside:
            self.shortcut = nn.Sequential(nn.Conv2d(inside, outside, 1, stride, bias=False), nn.BatchNorm2d(outside))

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)), inplace=True)
        out = self.bn2(self.conv2(out))
        out += self.shortcut(x)
        return F.relu(out)


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1 = nn.Sequential(nn.Conv2d(2, 8, 3, padding="same", bias=False), nn.InstanceNorm2d(8, affine=True), nn.LeakyReLU(0.1))
        self.down2 = nn.Sequential(nn.Conv2d(8, 16, 3, padding=1, padding_mode="reflect"), nn.GroupNorm(4, 16), nn.SiLU())
        self.up = nn.ConvTranspose2d(16, 8, 2, stride=2)
        self.out = nn.Conv2d(16, 2, 1)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(F.max_pool2d(a, 2))
        return self.out(torch.cat([a, self.up(b)], dim=1))


class Unpooled(nn.Module):
    def __init__(self):
        super().__init__()
        self.pool = nn.MaxPool2d(2, return_indices=True)
        self.unpool = nn.MaxUnpool2d(2)
        self.before = nn.Conv2d(2, 4, 3, padding=1)
        self.after = nn.Conv2d(4, 2, 3, padding=1)

    def forward(self, x):
        x, places = self.pool(self.before(x))
        return self.after(self.unpool(x, places))


class SpatialTransformer(nn.Module):
    def __init__(self, **options):
        super().__init__()
        self.options = options
        self.locate = nn.Sequential(nn.Conv2d(1, 4, 5), nn.ReLU(True), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(16, 6))
        nn.init.normal_(self.locate[-1].weight, std=0.02)
        with torch.no_grad():
            self.locate[-1].bias.copy_(torch.tensor([1, 0, 0, 0, 1, 0], dtype=torch.float))
        self.judge = nn.Linear(64, 3)

    def forward(self, x):
        theta = self.locate(x).view(-1, 2, 3)
        grid = F.affine_grid(theta, x.size(), align_corners=False)
        x = F.grid_sample(x, grid, align_corners=False, **self.options)
        return self.judge(x.flatten(1))


class Patches(nn.Module):
    def __init__(self):
        super().__init__()
        self.unfold = nn.Unfold(3, padding=1, stride=2)
        self.mix = nn.Conv1d(18, 18, 1)
        self.fold = nn.Fold((8, 8), 3, padding=1, stride=2)
        self.last = nn.Conv2d(2, 2, 3, padding=1, padding_mode="circular", groups=2)

    def forward(self, x):
        return self.last(self.fold(torch.tanh(self.mix(self.unfold(x)))))


def resnet():
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1, bias=False),
        nn.BatchNorm2d(8),
        nn.ReLU(inplace=True),
        Residual(8, 8),
        Residual(8, 16, 2),
        nn.AdaptiveAvgPool2d((1, 1)),
        nn.Flatten(),
        nn.Linear(16, 3),
    )


def alexnet():
    return nn.Sequential(
        nn.Conv2d(3, 8, 5, stride=2, padding=2),
        nn.ReLU(),
        nn.LocalResponseNorm(5, alpha=0.1, k=2.0),
        nn.MaxPool2d(3, stride=2),
        nn.Conv2d(8, 12, 3, padding=1, groups=4),
        nn.ReLU(),
        nn.Flatten(),
        nn.Dropout(0.5),
        nn.Linear(108, 10),
        nn.ReLU(),
        nn.Dropout(0.3),
        nn.Linear(10, 3),
    )


def mobile():
    return nn.Sequential(
        nn.Conv2d(3, 6, 3, stride=2, padding=1),
        nn.Hardswish(),
        nn.Conv2d(6, 6, 3, padding=2, dilation=2, groups=6, bias=False),
        nn.BatchNorm2d(6, momentum=None, eps=1e-3),
        nn.ReLU6(),
        nn.Dropout2d(0.3),
        nn.AvgPool2d(3, stride=2, padding=1, count_include_pad=False),
        nn.Hardsigmoid(),
        nn.LPPool2d(2, 2),
        nn.Flatten(),
        nn.Linear(24, 3),
    )


def wave():
    return nn.Sequential(
        nn.ConstantPad1d(2, 0.5),
        nn.Conv1d(2, 8, 5, stride=2, bias=False),
        nn.BatchNorm1d(8),
        nn.ELU(0.7),
        nn.MaxPool1d(2, ceil_mode=True),
        nn.Dropout1d(0.25),
        nn.Conv1d(8, 8, 3, dilation=2, padding=2, bias=False),
        nn.InstanceNorm1d(8, track_running_stats=True),
        nn.AvgPool1d(2),
        nn.LPPool1d(2, 2),
        nn.AdaptiveMaxPool1d(1),
        nn.Flatten(),
        nn.Linear(8, 3),
    )


def volume():
    return nn.Sequential(
        nn.Conv3d(2, 6, 3, padding=1, bias=False),
        nn.BatchNorm3d(6),
        nn.CELU(),
        nn.MaxPool3d(2),
        nn.Dropout3d(0.2),
        nn.Conv3d(6, 6, (1, 2, 2), groups=2, bias=False),
        nn.Softplus(beta=2),
        nn.InstanceNorm3d(6, affine=True),
        nn.AvgPool3d((2, 1, 1)),
        nn.AdaptiveAvgPool3d((1, 2, 2)),
        nn.AdaptiveMaxPool3d((1, 1, 2)),
        nn.Flatten(),
        nn.Linear(12, 3),
    )


def volume_back():
    return nn.Sequential(
        nn.Conv3d(1, 4, 2, stride=2),
        nn.GroupNorm(2, 4),
        nn.Mish(),
        nn.ConvTranspose3d(4, 4, 2, stride=2, groups=2),
        nn.GELU(),
        nn.Upsample(scale_factor=(1, 1, 2), mode="trilinear"),
        nn.Conv3d(4, 1, (1, 1, 2), stride=(1, 1, 2)),
    )


def signal_back():
    return nn.Sequential(
        nn.Conv1d(1, 6, 4, stride=2, padding=1),
        nn.PReLU(6),
        nn.ConvTranspose1d(6, 4, 3, stride=2, padding=1, output_padding=1, dilation=1),
        nn.Tanh(),
        nn.ReplicationPad1d(1),
        nn.Conv1d(4, 1, 3),
        nn.Upsample(scale_factor=2, mode="linear", align_corners=True),
        nn.AvgPool1d(2),
    )


def super_resolution():
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1),
        nn.Tanh(),
        ChannelShuffle(4),
        nn.Conv2d(8, 8, 3, padding=1, groups=2),
        nn.PReLU(),
        nn.Conv2d(8, 4, 3, padding=1),
        nn.PixelShuffle(2),
    )


def up_and_down():
    return nn.Sequential(
        nn.PixelUnshuffle(2),
        nn.Conv2d(4, 6, 3, padding=1),
        nn.Softsign(),
        nn.Upsample(scale_factor=2, mode="bilinear", align_corners=False),
        nn.ReflectionPad2d((1, 1, 1, 1)),
        nn.Conv2d(6, 4, 3),
        nn.Tanhshrink(),
        nn.Upsample(size=(8, 8), mode="bicubic", align_corners=True),
        nn.ZeroPad2d((0, 1, 1, 0)),
        nn.Conv2d(4, 1, 2),
        nn.UpsamplingNearest2d(scale_factor=2),
        nn.AvgPool2d(2),
    )


def norms():
    return nn.Sequential(
        nn.Conv2d(2, 8, 3, bias=False),
        nn.BatchNorm2d(8, affine=False),
        nn.Sigmoid(),
        nn.Conv2d(8, 8, 3, bias=False),
        nn.BatchNorm2d(8, track_running_stats=False),
        nn.Hardtanh(-1.5, 1.5),
        nn.LayerNorm([8, 4, 4]),
        nn.Flatten(2),
        nn.InstanceNorm1d(8, momentum=0.3, affine=True, track_running_stats=True),
        nn.AdaptiveAvgPool1d(5),
        nn.Flatten(),
        nn.Linear(40, 3, bias=False),
    )


def smaller(x):
    return F.interpolate(x, scale_factor=0.5, mode="area")


def larger(x):
    return F.interpolate(x, scale_factor=2, mode="bicubic", align_corners=False)


programs = {
    "residual network": classified((3, 8, 8), resnet, steps=15),
    "AlexNet": classified((3, 16, 16), alexnet),
    "depthwise convolutions": classified((3, 16, 16), mobile),
    "signals": classified((2, 30), wave),
    "volumes": classified((2, 6, 6, 6), volume),
    "norms": classified((2, 8, 8), norms),
    "spatial transformer": classified((1, 8, 8), SpatialTransformer),
    "spatial transformer, reflected": classified((1, 8, 8), lambda: SpatialTransformer(mode="bilinear", padding_mode="reflection")),
    "spatial transformer, bicubic": classified((1, 8, 8), lambda: SpatialTransformer(mode="bicubic", padding_mode="border")),
    "U-Net": copied((2, 8, 8), UNet),
    "volumes and back": copied((1, 4, 4, 4), volume_back),
    "signals and back": copied((1, 16), signal_back),
    "super-resolution": copied((1, 6, 6), super_resolution, target=larger),
    "up and down": copied((1, 8, 8), up_and_down),
    "unpooled": copied((2, 8, 8), Unpooled),
    "patches": copied((2, 8, 8), Patches),
    "averages of areas": copied((2, 8, 8), lambda: nn.Sequential(nn.Conv2d(2, 2, 3, 2, 1), nn.Softmax2d()), target=smaller),
}
