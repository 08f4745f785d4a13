# SPDX-License-Identifier: Apache-2.0
"""Small networks for sound, motion, biosignals, time series, text and sets, as users of microcontrollers write them."""
import math

import torch
import torch.nn.functional as F
from rows import CLASSES, Row, channels_first, features, image, series, tokens, wave
from torch import nn


def keywords():
    return nn.Sequential(nn.Conv2d(1, 16, (10, 4), (2, 2), (5, 1)), nn.BatchNorm2d(16), nn.ReLU(), nn.Dropout(0.2),
                         nn.Conv2d(16, 16, 3, padding=1, groups=16), nn.Conv2d(16, 24, 1), nn.BatchNorm2d(24), nn.ReLU(), nn.AvgPool2d((25, 5)),
                         nn.Flatten(), nn.Linear(24, 12), nn.Softmax(-1))


class Temporal(nn.Module):
    """A TCN block: two dilated convolutions that see the past only."""

    def __init__(self, inside, outside, dilation):
        super().__init__()
        self.pad = 2 * dilation
        self.first = nn.utils.parametrizations.weight_norm(nn.Conv1d(inside, outside, 3, dilation=dilation))
        self.second = nn.Conv1d(outside, outside, 3, dilation=dilation)
        self.side = nn.Conv1d(inside, outside, 1) if inside != outside else nn.Identity()

    def forward(self, x):
        y = F.relu(self.first(F.pad(x, (self.pad, 0))))
        return F.relu(self.side(x) + F.relu(self.second(F.pad(y, (self.pad, 0)))))


class Last(nn.Module):
    """What a recurrent network says at the end."""

    def __init__(self, recurrent, width, outputs=CLASSES):
        super().__init__()
        self.recurrent, self.head = recurrent, nn.Linear(width, outputs)

    def forward(self, x):
        return self.head(self.recurrent(x)[0][:, -1])


class StreamingGru(nn.Module):
    """One step; the state is an input and an output."""

    def __init__(self):
        super().__init__()
        self.cell, self.head = nn.GRUCell(16, 32), nn.Linear(32, 4)

    def forward(self, x, state):
        state = self.cell(x, state)
        return self.head(state), state


class StreamingConvolution(nn.Module):
    """One step of a stream; the window is an input and an output."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.head = nn.Conv1d(10, 16, 5), nn.Conv1d(16, 16, 5, groups=16), nn.Linear(16, 12)

    def forward(self, frame, window):
        window = torch.cat([window[:, :, 1:], frame], 2)
        y = F.relu(self.second(F.relu(self.first(window))))
        return self.head(y.mean(-1)), window


class GatedSequence(nn.Module):
    """A GRU written out in Python."""

    def __init__(self):
        super().__init__()
        self.gates, self.new, self.head = nn.Linear(3 + 16, 32), nn.Linear(3 + 16, 16), nn.Linear(16, 6)

    def forward(self, x):
        h = x.new_zeros(x.shape[0], 16)
        for t in range(x.shape[1]):
            reset, update = torch.sigmoid(self.gates(torch.cat([x[:, t], h], 1))).chunk(2, 1)
            h = (1 - update) * torch.tanh(self.new(torch.cat([x[:, t], reset * h], 1))) + update * h
        return self.head(h)


class EegNet(nn.Module):
    def __init__(self, electrodes=8, length=128):
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(1, 8, (1, 32), padding="same", bias=False), nn.BatchNorm2d(8),
                                   nn.Conv2d(8, 16, (electrodes, 1), groups=8, bias=False), nn.BatchNorm2d(16), nn.ELU(),
                                   nn.AvgPool2d((1, 4)), nn.Dropout(0.25))
        self.second = nn.Sequential(nn.Conv2d(16, 16, (1, 16), padding="same", groups=16, bias=False), nn.Conv2d(16, 16, 1, bias=False),
                                    nn.BatchNorm2d(16), nn.ELU(), nn.AvgPool2d((1, 8)))
        self.head = nn.Linear(16 * (length // 32), 4)

    def forward(self, x):
        return self.head(self.second(self.first(x.unsqueeze(1))).flatten(1))


class Ecg(nn.Module):
    """1-D residual network."""

    def __init__(self):
        super().__init__()
        norm = lambda c: nn.BatchNorm1d(c)
        self.stem = nn.Sequential(nn.Conv1d(1, 16, 7, 2, 3), norm(16), nn.ReLU(), nn.MaxPool1d(3, 2, 1))
        self.body = nn.ModuleList([nn.Sequential(nn.Conv1d(16, 16, 5, padding=2), norm(16), nn.ReLU(), nn.Conv1d(16, 16, 5, padding=2), norm(16))
                                   for _ in range(3)])
        self.head = nn.Sequential(nn.AdaptiveMaxPool1d(1), nn.Flatten(), nn.Linear(16, 5))

    def forward(self, x):
        x = self.stem(x)
        for part in self.body:
            x = F.relu(x + part(x))
        return self.head(x)


def autoencoder():
    widths = [64, 32, 32, 8, 32, 32]
    layers = [nn.Sequential(nn.Linear(a, b), nn.BatchNorm1d(b), nn.ReLU()) for a, b in zip(widths, widths[1:])]
    return nn.Sequential(*layers, nn.Linear(32, 64))


def convolutional_autoencoder():
    return nn.Sequential(nn.Conv1d(3, 16, 5, 2, 2), nn.ReLU(), nn.Conv1d(16, 8, 5, 2, 2), nn.ReLU(), nn.ConvTranspose1d(8, 16, 4, 2, 1), nn.ReLU(),
                         nn.ConvTranspose1d(16, 3, 4, 2, 1))


class SpectrumListener(nn.Module):
    """A spectrogram in the network: framing, window, stft, mel filters, logarithm."""

    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(256))
        hertz = torch.linspace(0, 8000, 129)
        centres = 700 * (torch.pow(10, torch.linspace(0, 1.07, 22)) - 1)
        rise = lambda k: (hertz - centres[k]) / (centres[k + 1] - centres[k])
        slope = lambda k: torch.minimum(rise(k - 1), 1 - rise(k))
        self.register_buffer("mel", torch.stack([slope(k) for k in range(1, 21)]).clamp(min=0))
        self.body = nn.Sequential(nn.Conv1d(20, 24, 3, 2, 1), nn.BatchNorm1d(24), nn.ReLU(), nn.Conv1d(24, 24, 3, 2, 1), nn.ReLU(),
                                  nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(24, 6))

    def forward(self, x):
        power = torch.stft(x, 256, 128, window=self.window, return_complex=True).abs() ** 2
        return self.body(torch.log(self.mel @ power + 1e-3))


class FramedFourier(nn.Module):
    """The same by unfold and rfft, as for speech of one length."""

    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hamming_window(128))
        self.head = nn.Sequential(nn.Linear(65, 16), nn.ReLU(), nn.Linear(16, 4))

    def forward(self, x):
        frames = x.unfold(-1, 128, 64) * self.window
        spectrum = torch.fft.rfft(frames)
        return self.head(torch.log1p(spectrum.real**2 + spectrum.imag**2).mean(1))


class Denoiser(nn.Module):
    """A mask over a spectrum, and back to the wave by istft."""

    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(128))
        self.mask = nn.Sequential(nn.Conv1d(65, 32, 3, padding=1), nn.ReLU(), nn.Conv1d(32, 65, 1), nn.Sigmoid())

    def forward(self, x):
        spectrum = torch.stft(x, 128, 64, window=self.window, return_complex=True)
        return torch.istft(spectrum * self.mask(torch.log(spectrum.abs() + 1e-2)), 128, 64, window=self.window, length=x.shape[-1])


class RecurrentDenoiser(nn.Module):
    """RNNoise: gains of bands, and whether someone speaks."""

    def __init__(self):
        super().__init__()
        self.first, self.voice, self.noise = nn.Linear(42, 24), nn.GRU(24, 24, batch_first=True), nn.GRU(24 + 24 + 42, 48, batch_first=True)
        self.gains, self.speaks = nn.Linear(48, 22), nn.Linear(24, 1)

    def forward(self, x):
        first = torch.tanh(self.first(x))
        voice = self.voice(first)[0]
        noise = F.relu(self.noise(torch.cat([first, voice, x], -1))[0])
        return torch.sigmoid(self.gains(noise)), torch.sigmoid(self.speaks(voice))


class SelfAttention(nn.Module):
    """Attention over the past only: a mask from triu."""

    def __init__(self, length=24, width=32):
        super().__init__()
        self.qkv, self.out, self.head = nn.Linear(width, 3 * width), nn.Linear(width, width), nn.Linear(width, 5)
        self.register_buffer("mask", torch.triu(torch.ones(length, length), 1).bool())

    def forward(self, x):
        q, k, v = self.qkv(x).view(*x.shape[:2], 3, 4, 8).permute(2, 0, 3, 1, 4)
        scores = (q @ k.transpose(-1, -2) / math.sqrt(8)).masked_fill(self.mask, float("-inf"))
        x = x + self.out((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
        return self.head(x)


class PaddedText(nn.Module):
    """Tokens with padding, whose places attention leaves out."""

    def __init__(self):
        super().__init__()
        self.embed, self.place = nn.Embedding(200, 32, padding_idx=0), nn.Parameter(0.2 * torch.randn(1, 24, 32))
        self.layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, dropout=0.0)
        self.head = nn.Linear(32, 3)

    def forward(self, x):
        padding = x == 1
        y = self.layer(self.embed(x) + self.place, src_key_padding_mask=padding)
        keep = (~padding).unsqueeze(-1).float()
        return self.head((y * keep).sum(1) / keep.sum(1).clamp(min=1))


def encoder():
    layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, norm_first=True, activation="gelu", dropout=0.0)
    return nn.Sequential(nn.Linear(6, 16), nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), nn.Flatten(), nn.Linear(32 * 16, 6))


class Bags(nn.Module):
    def __init__(self):
        super().__init__()
        self.bag, self.head = nn.EmbeddingBag(300, 16, mode="mean"), nn.Linear(16, 4)

    def forward(self, x):
        return self.head(self.bag(x))


class TextConvolution(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(300, 24)
        self.convs = nn.ModuleList([nn.Conv1d(24, 16, k) for k in (2, 3, 4)])
        self.head = nn.Linear(48, 4)

    def forward(self, x):
        x = self.embed(x).transpose(1, 2)
        return self.head(torch.cat([F.relu(c(x)).max(-1).values for c in self.convs], 1))


class Recommender(nn.Module):
    """Tables of categories beside numbers; crossed by products."""

    def __init__(self):
        super().__init__()
        self.tables = nn.ModuleList([nn.Embedding(50, 8) for _ in range(3)])
        self.numbers, self.top = nn.Linear(5, 8), nn.Sequential(nn.Linear(8 + 6, 16), nn.ReLU(), nn.Linear(16, 1), nn.Sigmoid())

    def forward(self, numbers, kinds):
        first = F.relu(self.numbers(numbers))
        rows = torch.stack([first, *(table(kinds[:, k]) for k, table in enumerate(self.tables))], 1)
        products = torch.bmm(rows, rows.transpose(1, 2))
        i, j = torch.triu_indices(4, 4, 1)
        return self.top(torch.cat([first, products[:, i, j]], 1))


class Graph(nn.Module):
    """Messages along fixed edges, summed by index_add."""

    def __init__(self):
        super().__init__()
        edges = [(a, b) for a in range(12) for b in range(12) if a != b and (a * b + a) % 5 == 0]
        self.register_buffer("source", torch.tensor([a for a, _ in edges]))
        self.register_buffer("target", torch.tensor([b for _, b in edges]))
        self.message, self.update, self.head = nn.Linear(16, 16), nn.Linear(8 + 16, 16), nn.Linear(16, 3)

    def forward(self, x):
        x = x[0]
        messages = F.relu(self.message(torch.cat([x[self.source], x[self.target]], -1)))
        total = torch.zeros(12, 16).index_add(0, self.target, messages)
        return self.head(F.relu(self.update(torch.cat([x, total], -1))).mean(0, keepdim=True))


class GraphConvolution(nn.Module):
    """Skeletons: a fixed adjacency between 2-D convolutions."""

    def __init__(self):
        super().__init__()
        self.register_buffer("adjacency", torch.softmax(torch.randn(17, 17), -1))
        self.first, self.time, self.head = nn.Conv2d(3, 16, 1), nn.Conv2d(16, 16, (5, 1), padding=(2, 0)), nn.Linear(16, 6)

    def forward(self, x):
        y = F.relu(torch.einsum("nctv,vw->nctw", self.first(x), self.adjacency))
        return self.head(F.relu(self.time(y)).mean((2, 3)))


class PointNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.turn = nn.Sequential(nn.Conv1d(3, 16, 1), nn.BatchNorm1d(16), nn.ReLU())
        self.matrix = nn.Linear(16, 9)
        self.body = nn.Sequential(nn.Conv1d(3, 32, 1), nn.BatchNorm1d(32), nn.ReLU(), nn.Conv1d(32, 64, 1), nn.BatchNorm1d(64), nn.ReLU())
        self.head = nn.Linear(64, CLASSES)
        self.register_buffer("identity", torch.eye(3).flatten())

    def forward(self, x):
        matrix = (0.1 * self.matrix(self.turn(x).max(2)[0]) + self.identity).view(-1, 3, 3)
        x = torch.bmm(x.transpose(2, 1), matrix).transpose(2, 1)
        return F.log_softmax(self.head(torch.max(self.body(x), 2)[0]), -1)


class EchoState(nn.Module):
    """A reservoir that leaks; only what reads it out is trained."""

    def __init__(self):
        super().__init__()
        reservoir = torch.randn(48, 48)
        self.register_buffer("reservoir", 0.9 * reservoir / torch.linalg.eigvals(reservoir).abs().max())
        self.register_buffer("inward", torch.rand(48, 3) - 0.5)
        self.out = nn.Linear(48, 2)

    def forward(self, x):
        h = torch.zeros(x.shape[0], 48)
        for t in range(x.shape[1]):
            h = 0.7 * h + 0.3 * torch.tanh(x[:, t] @ self.inward.T + h @ self.reservoir.T)
        return self.out(h)


class SelectiveScan(nn.Module):
    """A Mamba block with its scan as a loop."""

    def __init__(self, width=16, states=4):
        super().__init__()
        self.inward, self.conv = nn.Linear(width, 2 * width), nn.Conv1d(width, width, 4, padding=3, groups=width)
        self.rest = nn.Linear(width, 1 + 2 * states)
        self.step, self.outward, self.states = nn.Linear(1, width), nn.Linear(width, width), states
        self.decay = nn.Parameter(torch.log(torch.arange(1, states + 1).float()).repeat(width, 1))
        self.skip = nn.Parameter(torch.linspace(0.5, 1.5, width))

    def forward(self, x):
        y, gate = self.inward(x).chunk(2, -1)
        y = F.silu(self.conv(y.transpose(1, 2))[..., :x.shape[1]].transpose(1, 2))
        step, b, c = self.rest(y).split([1, self.states, self.states], -1)
        step = F.softplus(self.step(step))
        keep = torch.exp(-step.unsqueeze(-1) * torch.exp(self.decay))
        h, out = torch.zeros(x.shape[0], x.shape[2], self.states), []
        for t in range(x.shape[1]):
            h = keep[:, t] * h + (step[:, t] * y[:, t]).unsqueeze(-1) * b[:, t].unsqueeze(1)
            out.append((h * c[:, t].unsqueeze(1)).sum(-1))
        return self.outward((torch.stack(out, 1) + y * self.skip) * F.silu(gate))


class LinearAttention(nn.Module):
    """Attention as a running sum: cumsum over time."""

    def __init__(self):
        super().__init__()
        self.qkv, self.head = nn.Linear(8, 24), nn.Linear(8, 4)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        q, k = F.elu(q) + 1, F.elu(k) + 1
        total = torch.cumsum(k.unsqueeze(-1) * v.unsqueeze(-2), 1)
        return self.head((q.unsqueeze(-1) * total).sum(-2) / (q * torch.cumsum(k, 1)).sum(-1, keepdim=True))


class NBeats(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Sequential(nn.Linear(32, 48), nn.ReLU(), nn.Linear(48, 32 + 8)) for _ in range(3)])

    def forward(self, x):
        out = 0
        for part in self.blocks:
            back, ahead = part(x).split([32, 8], -1)
            x, out = x - back, out + ahead
        return out


class WaveNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv1d(1, 16, 1)
        self.pairs = nn.ModuleList([nn.Conv1d(16, 32, 2, dilation=2**k) for k in range(5)])
        self.back, self.skip = (nn.ModuleList([nn.Conv1d(16, 16, 1) for _ in range(5)]) for _ in range(2))
        self.last = nn.Conv1d(16, 8, 1)

    def forward(self, x):
        x, total = self.first(x), 0
        for pair, back, skip in zip(self.pairs, self.back, self.skip):
            a, b = pair(F.pad(x, (pair.dilation[0], 0))).chunk(2, 1)
            y = torch.tanh(a) * torch.sigmoid(b)
            total, x = total + skip(y), x + back(y)
        return self.last(F.relu(total))


class Statistics(nn.Module):
    """x-vectors: mean and deviation over time."""

    def __init__(self):
        super().__init__()
        self.frames = nn.Sequential(nn.Conv1d(20, 32, 5), nn.ReLU(), nn.BatchNorm1d(32), nn.Conv1d(32, 32, 3, dilation=2), nn.ReLU(),
                                    nn.BatchNorm1d(32))
        self.head = nn.Linear(64, 16)

    def forward(self, x):
        y = self.frames(x)
        return F.normalize(self.head(torch.cat([y.mean(-1), y.std(-1)], 1)), dim=-1)


class DuelingAgent(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 64), nn.Mish(), nn.Linear(64, 64), nn.Mish())
        self.value, self.advantage = nn.Linear(64, 1), nn.Linear(64, 4)

    def forward(self, x):
        y = self.body(x)
        advantage = self.advantage(y)
        return self.value(y) + advantage - advantage.mean(1, keepdim=True)


class Prototypes(nn.Module):
    """Distances to stored examples; a softmax over them."""

    def __init__(self):
        super().__init__()
        self.embed, self.examples = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 8)), nn.Parameter(torch.randn(6, 8))

    def forward(self, x):
        return (-torch.cdist(self.embed(x), self.examples)).softmax(-1)


class Standardized(nn.Module):
    """Samples that the network itself brings to zero mean and unit deviation."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv1d(6, 16, 5, 2), nn.ReLU(), nn.Conv1d(16, 16, 5, 2), nn.ReLU(), nn.Flatten(), nn.Linear(16 * 29, 6))

    def forward(self, x):
        mean, deviation = x.mean(-1, keepdim=True), x.std(-1, keepdim=True)
        return self.body((x - mean) / (deviation + 1e-5))


def tcn():
    return nn.Sequential(Temporal(9, 16, 1), Temporal(16, 16, 2), Temporal(16, 16, 4), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(16, 6))


ROWS = [Row(name, "hand", make, inputs) for name, make, inputs in [
    ("keyword_cnn", keywords, (image(1, 49, 10),)),
    ("tcn", tcn, (channels_first(9, 64),)),
    ("gru_classifier", lambda: Last(nn.GRU(6, 32, batch_first=True), 32), (series(32, 6),)),
    ("lstm_two_layers", lambda: Last(nn.LSTM(6, 24, 2, batch_first=True), 24), (series(32, 6),)),
    ("lstm_bidirectional", lambda: Last(nn.LSTM(6, 16, batch_first=True, bidirectional=True), 32), (series(24, 6),)),
    ("rnn_classifier", lambda: Last(nn.RNN(6, 24, batch_first=True), 24), (series(24, 6),)),
    ("gru_step", StreamingGru, (features(16), features(32))),
    ("streaming_convolution", StreamingConvolution, (channels_first(10, 1), channels_first(10, 24))),
    ("gru_written_out", GatedSequence, (series(12, 3),)),
    ("eegnet", EegNet, (channels_first(8, 128),)),
    ("ecg_resnet", Ecg, (channels_first(1, 256),)),
    ("dense_autoencoder", autoencoder, (features(64),)),
    ("convolutional_autoencoder", convolutional_autoencoder, (channels_first(3, 64),)),
    ("stft_front_end", SpectrumListener, (wave(4000),)),
    ("framed_rfft", FramedFourier, (wave(1024),)),
    ("stft_mask_istft", Denoiser, (wave(1024),)),
    ("rnnoise", RecurrentDenoiser, (series(10, 42),)),
    ("causal_attention", SelfAttention, (series(24, 32),)),
    ("padded_text", PaddedText, (tokens(24, 200),)),
    ("transformer_encoder", encoder, (series(32, 6),)),
    ("embedding_bag", Bags, (tokens(12, 300),)),
    ("text_cnn", TextConvolution, (tokens(20, 300),)),
    ("dlrm", Recommender, (features(5), tokens(3, 50))),
    ("graph_index_add", Graph, (features(12, 8),)),
    ("skeleton_graph", GraphConvolution, (image(3, 20, 17),)),
    ("pointnet", PointNet, (features(3, 64),)),
    ("echo_state", EchoState, (series(16, 3),)),
    ("selective_scan", SelectiveScan, (series(12, 16),)),
    ("linear_attention", LinearAttention, (series(16, 8),)),
    ("nbeats", NBeats, (features(32),)),
    ("wavenet", WaveNet, (channels_first(1, 128),)),
    ("xvector", Statistics, (channels_first(20, 64),)),
    ("dueling_agent", DuelingAgent, (features(8),)),
    ("prototypes", Prototypes, (features(12),)),
    ("standardized_motion", Standardized, (channels_first(6, 128),)),
]]  # fmt: skip
