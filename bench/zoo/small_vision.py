# SPDX-License-Identifier: Apache-2.0
"""Small networks for images, as users of microcontrollers write them."""
import torch
import torch.nn.functional as F
from rows import CLASSES, Row, camera, image
from torch import nn


def block(inside, outside, kernel=3, stride=1, groups=1, act=nn.ReLU):
    return nn.Sequential(nn.Conv2d(inside, outside, kernel, stride, kernel // 2, groups=groups, bias=False), nn.BatchNorm2d(outside), act())


def separable(inside, outside, stride=1, act=nn.ReLU6):
    return nn.Sequential(block(inside, inside, 3, stride, inside, act), block(inside, outside, 1, act=act))


def head(channels, outputs=CLASSES):
    return nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, outputs))


def lenet():
    return nn.Sequential(nn.Conv2d(1, 6, 5, padding=2), nn.Tanh(), nn.AvgPool2d(2), nn.Conv2d(6, 16, 5), nn.Tanh(), nn.AvgPool2d(2), nn.Flatten(),
                         nn.Linear(400, 120), nn.Tanh(), nn.Linear(120, 84), nn.Tanh(), nn.Linear(84, 10), nn.LogSoftmax(1))


def person_detection():
    return nn.Sequential(block(1, 8, 3, 2), *(separable(c, o, s) for c, o, s in [(8, 16, 1), (16, 32, 2), (32, 32, 1), (32, 64, 2), (64, 64, 1)]),
                         head(64, 2), nn.Softmax(-1))


class UNet(nn.Module):
    def __init__(self, is_transposed):
        super().__init__()
        self.down = nn.ModuleList([block(3, 8), block(8, 16), block(16, 32)])
        self.up = nn.ModuleList([nn.ConvTranspose2d(32, 16, 2, 2), nn.ConvTranspose2d(16, 8, 2, 2)]) if is_transposed else nn.ModuleList(
            [nn.Sequential(nn.Upsample(scale_factor=2, mode="bilinear", align_corners=False), nn.Conv2d(c, c // 2, 1)) for c in (32, 16)])
        self.join = nn.ModuleList([block(32, 16), block(16, 8)])
        self.last = nn.Conv2d(8, 2, 1)

    def forward(self, x):
        a = self.down[0](x)
        b = self.down[1](F.max_pool2d(a, 2))
        c = self.down[2](F.max_pool2d(b, 2))
        y = self.join[0](torch.cat([self.up[0](c), b], 1))
        return torch.sigmoid(self.last(self.join[1](torch.cat([self.up[1](y), a], 1))))


class Yolo(nn.Module):
    """One scale; boxes are decoded in the graph."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(block(3, 16, 3, 2, act=nn.SiLU), block(16, 32, 3, 2, act=nn.SiLU), block(32, 64, 3, 2, act=nn.SiLU))
        self.head = nn.Conv2d(64, 3 * 9, 1)
        y, x = torch.meshgrid(torch.arange(12.0), torch.arange(12.0), indexing="ij")
        self.register_buffer("grid", torch.stack([x, y], -1).view(1, 1, 12, 12, 2))
        self.register_buffer("anchors", torch.tensor([[10.0, 13], [16, 30], [33, 23]]).view(1, 3, 1, 1, 2))

    def forward(self, x):
        n = x.shape[0]
        y = self.head(self.body(x)).view(n, 3, 9, 12, 12).permute(0, 1, 3, 4, 2).sigmoid()
        xy = (y[..., 0:2] * 2 - 0.5 + self.grid) * 8 / 96
        wh = (y[..., 2:4] * 2) ** 2 * self.anchors / 96
        return torch.cat([xy, wh, y[..., 4:]], -1).view(n, -1, 9)


class CenterNet(nn.Module):
    """A heat map whose peaks are found by max pooling."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(block(3, 16, 3, 2), block(16, 32, 3, 2), block(32, 32))
        self.heat, self.size = nn.Conv2d(32, 4, 1), nn.Conv2d(32, 2, 1)

    def forward(self, x):
        y = self.body(x)
        heat = self.heat(y).sigmoid()
        peaks = heat * (F.max_pool2d(heat, 3, 1, 1) == heat).float()
        scores, places = peaks.flatten(1).topk(8)
        return scores, places, self.size(y)


class SqueezeExcite(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.fc = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(channels, channels // 4, 1), nn.ReLU(), nn.Conv2d(channels // 4, channels, 1),
                                nn.Hardsigmoid())

    def forward(self, x):
        return x * self.fc(x)


def squeeze_excite_net():
    return nn.Sequential(block(3, 16, 3, 2), SqueezeExcite(16), separable(16, 32, 2), SqueezeExcite(32), head(32))


class Attended(nn.Module):
    """CBAM: attention over channels, then over space."""

    def __init__(self, channels):
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(channels, channels // 4), nn.ReLU(), nn.Linear(channels // 4, channels))
        self.conv = nn.Conv2d(2, 1, 7, padding=3)

    def forward(self, x):
        weight = torch.sigmoid(self.mlp(x.mean((2, 3))) + self.mlp(x.amax((2, 3))))
        x = x * weight[:, :, None, None]
        return x * torch.sigmoid(self.conv(torch.cat([x.mean(1, keepdim=True), x.max(1, keepdim=True)[0]], 1)))


def super_resolution():
    return nn.Sequential(nn.Conv2d(1, 16, 5, padding=2), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 9, 3, padding=1),
                         nn.PixelShuffle(3))


class ResidualSuperResolution(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.PReLU(16), nn.Conv2d(16, 12, 3, padding=1), nn.PixelShuffle(2))

    def forward(self, x):
        return self.body(x) + F.interpolate(x, scale_factor=2, mode="bicubic", align_corners=False)


class Siamese(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(block(1, 8, 3, 2), block(8, 16, 3, 2), block(16, 32, 3, 2), head(32, 16))

    def forward(self, a, b):
        a, b = F.normalize(self.body(a)), F.normalize(self.body(b))
        return F.pairwise_distance(a, b), (a * b).sum(1)


class SpatialTransformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.locate = nn.Sequential(nn.Conv2d(1, 8, 7, 2), nn.ReLU(), nn.Conv2d(8, 10, 5, 2), nn.ReLU(), nn.Flatten(), nn.Linear(160, 6))
        self.body = nn.Sequential(block(1, 8, 3, 2), block(8, 16, 3, 2), head(16))
        self.register_buffer("still", torch.tensor([1.0, 0, 0, 0, 1, 0]))

    def forward(self, x):
        theta = (0.1 * self.locate(x) + self.still).view(-1, 2, 3)
        return self.body(F.grid_sample(x, F.affine_grid(theta, x.size(), align_corners=False), align_corners=False))


class Capsules(nn.Module):
    """Dynamic routing, two rounds."""

    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(1, 16, 9), nn.ReLU(), nn.Conv2d(16, 32, 9, 2))
        self.weight = nn.Parameter(0.1 * torch.randn(1, 288, 10, 8, 4))

    @staticmethod
    def squash(x):
        power = (x**2).sum(-1, keepdim=True)
        return power / (1 + power) * x / torch.sqrt(power + 1e-7)

    def forward(self, x):
        u = self.squash(self.first(x).view(x.shape[0], 4, 8, 6, 6).permute(0, 1, 3, 4, 2).reshape(x.shape[0], 144, 8))
        u = torch.cat([u, u.flip(1)], 1)
        votes = (self.weight.transpose(-1, -2) @ u[:, :, None, :, None]).squeeze(-1)
        logits = torch.zeros(votes.shape[:3], device=x.device)
        for k in range(2):
            out = self.squash((logits.softmax(2)[..., None] * votes).sum(1))
            if k == 0:
                logits = logits + (votes * out[:, None]).sum(-1)
        return out.norm(dim=-1)


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(block(3, 16, 3, 4), nn.AdaptiveAvgPool2d(4), nn.Flatten())
        self.gate = nn.Linear(256, 4)
        self.experts = nn.ModuleList([nn.Sequential(nn.Linear(256, 32), nn.ReLU(), nn.Linear(32, CLASSES)) for _ in range(4)])

    def forward(self, x):
        y = self.stem(x)
        scores, chosen = self.gate(y).softmax(-1).topk(2, dim=-1)
        weight = torch.zeros(y.shape[0], 4).scatter(1, chosen, scores)
        return (torch.stack([e(y) for e in self.experts], 1) * weight[..., None]).sum(1)


class Kan(nn.Module):
    """Sums of learnt radial functions instead of weights."""

    def __init__(self, inside, outside, centres=6):
        super().__init__()
        self.register_buffer("centres", torch.linspace(-2, 2, centres))
        self.base, self.spline = nn.Linear(inside, outside), nn.Linear(inside * centres, outside, bias=False)

    def forward(self, x):
        bumps = torch.exp(-(((x[..., None] - self.centres) * 1.5) ** 2))
        return self.base(F.silu(x)) + self.spline(bumps.flatten(-2))


def kan_digits():
    return nn.Sequential(nn.AvgPool2d(2), nn.Flatten(), Kan(64, 16), nn.LayerNorm(16), Kan(16, CLASSES))


class Mixer(nn.Module):
    def __init__(self, count=16, width=32):
        super().__init__()
        self.embed = nn.Conv2d(3, width, 8, 8)
        self.norms = nn.ModuleList([nn.LayerNorm(width) for _ in range(5)])
        self.across = nn.ModuleList([nn.Sequential(nn.Linear(count, 32), nn.GELU(), nn.Linear(32, count)) for _ in range(2)])
        self.along = nn.ModuleList([nn.Sequential(nn.Linear(width, 64), nn.GELU(), nn.Linear(64, width)) for _ in range(2)])
        self.head = nn.Linear(width, CLASSES)

    def forward(self, x):
        x = self.embed(x).flatten(2).transpose(1, 2)
        for k in range(2):
            x = x + self.across[k](self.norms[2 * k](x).transpose(1, 2)).transpose(1, 2)
            x = x + self.along[k](self.norms[2 * k + 1](x))
        return self.head(self.norms[4](x).mean(1))


class ChannelShuffle(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.left = block(3, 24, 3, 2), nn.Sequential(block(12, 12, 1), block(12, 12, 3, groups=12), block(12, 12, 1))
        self.head = head(24)

    def forward(self, x):
        a, b = self.stem(x).chunk(2, 1)
        y = torch.cat([a, self.left(b)], 1)
        n, c, h, w = y.shape
        return self.head(y.view(n, 2, c // 2, h, w).transpose(1, 2).reshape(n, c, h, w))


class Fpn(nn.Module):
    def __init__(self):
        super().__init__()
        self.stages = nn.ModuleList([block(3, 16, 3, 2), block(16, 32, 3, 2), block(32, 48, 3, 2)])
        self.sides = nn.ModuleList([nn.Conv2d(c, 16, 1) for c in (16, 32, 48)])
        self.heads = nn.Conv2d(16, 6, 3, padding=1)

    def forward(self, x):
        found = []
        for stage in self.stages:
            x = stage(x)
            found.append(x)
        top = self.sides[2](found[2])
        out = [top]
        for k in (1, 0):
            top = self.sides[k](found[k]) + F.interpolate(top, size=found[k].shape[-2:], mode="nearest")
            out.append(top)
        return [self.heads(y) for y in out]


class VariationalAutoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Sequential(block(1, 8, 3, 2), block(8, 16, 3, 2), nn.Flatten(), nn.Linear(784, 16))
        self.decode = nn.Sequential(nn.Linear(8, 784), nn.ReLU(), nn.Unflatten(1, (16, 7, 7)), nn.ConvTranspose2d(16, 8, 3, 2, 1, 1), nn.ReLU(),
                                    nn.ConvTranspose2d(8, 1, 3, 2, 1, 1), nn.Sigmoid())

    def forward(self, x):
        mean, spread = self.encode(x).chunk(2, -1)
        return self.decode(mean), mean, spread.exp()


class Camera(nn.Module):
    """Bytes as a camera gives them, channels last."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(block(3, 8, 3, 2), separable(8, 16, 2), separable(16, 32, 2), head(32))

    def forward(self, x):
        return self.body((x.permute(0, 3, 1, 2).float() - 127.5) / 127.5)


class GroupNormed(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.GroupNorm(4, 16), nn.SiLU(), nn.Conv2d(16, 32, 3, 2, 1), nn.InstanceNorm2d(32),
                                  nn.LeakyReLU(0.1), nn.ZeroPad2d((0, 1, 0, 1)), nn.Conv2d(32, 32, 2), nn.LocalResponseNorm(3), nn.Hardswish())
        self.head = head(32)

    def forward(self, x):
        return self.head(self.body(x))


class Neighbourhoods(nn.Module):
    """Involution: a kernel for each pixel, by unfold."""

    def __init__(self):
        super().__init__()
        self.stem, self.kernels, self.head = block(3, 8, 3, 4), nn.Conv2d(8, 9, 1), head(8)

    def forward(self, x):
        x = self.stem(x)
        n, c, h, w = x.shape
        windows = F.unfold(x, 3, padding=1).view(n, c, 9, h, w)
        return self.head((windows * self.kernels(x).softmax(1)[:, None]).sum(2))


class SegNet(nn.Module):
    """Upsamples by the places of the maxima."""

    def __init__(self):
        super().__init__()
        self.down, self.up, self.last = block(3, 8), block(8, 8), nn.Conv2d(8, 3, 1)

    def forward(self, x):
        y, places = F.max_pool2d(self.down(x), 2, return_indices=True)
        return self.last(self.up(F.max_unpool2d(y, places, 2)))


class Gestures3d(nn.Module):
    """Eight frames, 3-D convolution."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv3d(1, 8, 3, padding=1), nn.BatchNorm3d(8), nn.ReLU(), nn.MaxPool3d(2),
                                  nn.Conv3d(8, 16, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool3d(1), nn.Flatten(), nn.Linear(16, 5))

    def forward(self, x):
        return self.body(x[:, None])


class Bottleneck(nn.Module):
    """MCUNet's inverted residuals."""

    def __init__(self, inside, outside, stride, grow, kernel=3):
        super().__init__()
        wide = inside * grow
        self.body = nn.Sequential(block(inside, wide, 1, act=nn.ReLU6), block(wide, wide, kernel, stride, wide, nn.ReLU6),
                                  nn.Conv2d(wide, outside, 1, bias=False), nn.BatchNorm2d(outside))
        self.is_residual = stride == 1 and inside == outside

    def forward(self, x):
        return x + self.body(x) if self.is_residual else self.body(x)


def mcunet():
    return nn.Sequential(block(3, 16, 3, 2), Bottleneck(16, 8, 1, 1), Bottleneck(8, 16, 2, 3, 7), Bottleneck(16, 16, 1, 4, 5),
                         Bottleneck(16, 24, 2, 4), Bottleneck(24, 24, 1, 5, 5), head(24))


class Landmarks(nn.Module):
    """Positions as the mean of a heat map (soft-argmax)."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(block(1, 8, 3, 2), block(8, 16, 3, 2), nn.Conv2d(16, 5, 1))
        self.register_buffer("line", torch.linspace(-1, 1, 16))

    def forward(self, x):
        heat = self.body(x).flatten(2).softmax(-1).view(-1, 5, 16, 16)
        return torch.stack([(heat.sum(2) * self.line).sum(-1), (heat.sum(3) * self.line).sum(-1)], -1)


class AnchorFree(nn.Module):
    """YOLOv8's head: boxes as a distribution over distances."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(block(3, 16, 3, 2, act=nn.SiLU), block(16, 32, 3, 2, act=nn.SiLU), block(32, 48, 3, 2, act=nn.SiLU))
        self.box, self.label = nn.Conv2d(48, 4 * 8, 1), nn.Conv2d(48, 5, 1)
        self.register_buffer("steps", torch.arange(8.0))
        y, x = torch.meshgrid(torch.arange(8) + 0.5, torch.arange(8) + 0.5, indexing="ij")
        self.register_buffer("points", torch.stack([x, y]).view(1, 2, 64))

    def forward(self, x):
        y = self.body(x)
        sides = (self.box(y).view(-1, 4, 8, 64).softmax(2) * self.steps[None, None, :, None]).sum(2)
        low, high = sides.chunk(2, 1)
        low, high = self.points - low, self.points + high
        return torch.cat([(low + high) / 2 * 8, (high - low) * 8, self.label(y).flatten(2).sigmoid()], 1)


ROWS = [Row(name, "hand", make, inputs) for name, make, inputs in [
    ("lenet", lenet, (image(1, 28),)),
    ("person_detection", person_detection, (image(1, 96),)),
    ("unet_transposed", lambda: UNet(True), (image(3, 32),)),
    ("unet_bilinear", lambda: UNet(False), (image(3, 32),)),
    ("yolo_decoded", Yolo, (image(3, 96),)),
    ("yolo_anchor_free", AnchorFree, (image(3, 64),)),
    ("centernet_topk", CenterNet, (image(3, 64),)),
    ("squeeze_excite", squeeze_excite_net, (image(3, 32),)),
    ("cbam", lambda: nn.Sequential(block(3, 16, 3, 2), Attended(16), block(16, 32, 3, 2), head(32)), (image(3, 32),)),
    ("espcn_super_resolution", super_resolution, (image(1, 32),)),
    ("super_resolution_bicubic", ResidualSuperResolution, (image(3, 24),)),
    ("siamese", Siamese, (image(1, 32), image(1, 32))),
    ("spatial_transformer", SpatialTransformer, (image(1, 28),)),
    ("capsules", Capsules, (image(1, 28),)),
    ("mixture_of_experts", Experts, (image(3, 32),)),
    ("kan", kan_digits, (image(1, 16),)),
    ("mlp_mixer", Mixer, (image(3, 32),)),
    ("channel_shuffle", ChannelShuffle, (image(3, 32),)),
    ("feature_pyramid", Fpn, (image(3, 48),)),
    ("variational_autoencoder", VariationalAutoencoder, (image(1, 28),)),
    ("camera_bytes", Camera, (camera(48, 48, 3),)),
    ("norms_and_activations", GroupNormed, (image(3, 32),)),
    ("involution", Neighbourhoods, (image(3, 32),)),
    ("segnet_unpool", SegNet, (image(3, 32),)),
    ("gestures_3d", Gestures3d, (image(8, 16),)),
    ("mcunet", mcunet, (image(3, 64),)),
    ("landmarks", Landmarks, (image(1, 64),)),
]]  # fmt: skip
