# SPDX-License-Identifier: Apache-2.0
"""Architectures of torchvision, timm, transformers and torchaudio: the packages' own code, random weights, sizes for a microcontroller."""
import operator_stubs  # noqa: F401  before torchvision

import timm
import torch
import torchaudio
import torchvision
import transformers
from rows import CLASSES, Row, channels_first, image, series, tokens, wave
from torch import nn

# Name, options, side of the square image.
TORCHVISION = [
    ("mobilenet_v2", {"width_mult": 0.35}, 96), ("mobilenet_v3_small", {}, 96), ("mobilenet_v3_large", {}, 64),
    ("shufflenet_v2_x0_5", {}, 96), ("shufflenet_v2_x1_0", {}, 64), ("squeezenet1_0", {}, 64), ("squeezenet1_1", {}, 96),
    ("mnasnet0_5", {}, 96), ("efficientnet_b0", {}, 64), ("regnet_x_400mf", {}, 64), ("regnet_y_400mf", {}, 64),
    ("densenet121", {}, 64), ("googlenet", {"aux_logits": False, "init_weights": True}, 96),
]  # fmt: skip
# Name, side.
TIMM = [
    ("test_vit", 64), ("test_resnet", 64), ("test_efficientnet", 64), ("test_byobnet", 64), ("test_convnext", 64), ("test_nfnet", 64),
    ("test_mambaout", 64), ("mobilenetv3_small_050", 96), ("mobilenetv4_conv_small_035", 96), ("lcnet_035", 96), ("ghostnetv3_050", 96),
    ("edgenext_xx_small", 64), ("mobilevit_xxs", 64), ("xcit_nano_12_p16_224", 64), ("starnet_s1", 64), ("efficientvit_b0", 64),
    ("ghostnet_050", 96), ("tinynet_e", 96), ("convnextv2_atto", 64), ("mobilevitv2_050", 64), ("pvt_v2_b0", 64),
]  # fmt: skip
IMPORTED_ONCE = transformers.BertModel  # before each row has a process of its own: what all of its models import takes seconds


class Output(nn.Module):
    """One tensor of what a transformers model answers."""

    def __init__(self, model, field, argument):
        super().__init__()
        self.model, self.field, self.argument = model, field, argument

    def forward(self, x):
        return self.model(**{self.argument: x})[self.field]


class Only(nn.Module):
    """A call with constants beside the input, and one part of the answer."""

    def __init__(self, model, call):
        super().__init__()
        self.model, self.call = model, call

    def forward(self, x):
        return self.call(self.model, x)


SMALL = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128}
TEXT = {**SMALL, "vocab_size": 500, "max_position_embeddings": 64}
IDS, PIXELS, STATE = "input_ids", "pixel_values", "last_hidden_state"
VIT = {**SMALL, "image_size": 32, "patch_size": 8, "num_labels": CLASSES}
SPEECH = {**SMALL, "conv_dim": (32, 32, 32), "conv_stride": (5, 4, 4), "conv_kernel": (10, 8, 4), "num_conv_pos_embeddings": 16,
          "num_conv_pos_embedding_groups": 4, "vocab_size": 32, "apply_spec_augment": False}  # fmt: skip
# Model, configuration, its options, the argument, the field of the answer, input.
TRANSFORMERS = [
    ("BertModel", "BertConfig", TEXT, IDS, STATE, tokens(32, 500)),
    ("DistilBertForSequenceClassification", "DistilBertConfig",
     {"vocab_size": 500, "dim": 64, "n_layers": 2, "n_heads": 4, "hidden_dim": 128, "max_position_embeddings": 64}, IDS, "logits", tokens(32, 500)),
    ("AlbertModel", "AlbertConfig", {**TEXT, "embedding_size": 32}, IDS, STATE, tokens(32, 500)),
    ("ElectraModel", "ElectraConfig", {**TEXT, "embedding_size": 32}, IDS, STATE, tokens(32, 500)),
    ("RobertaModel", "RobertaConfig", TEXT, IDS, STATE, tokens(32, 500)),
    ("MobileBertModel", "MobileBertConfig",
     {**TEXT, "embedding_size": 32, "intra_bottleneck_size": 32, "num_feedforward_networks": 2}, IDS, STATE, tokens(32, 500)),
    ("SqueezeBertModel", "SqueezeBertConfig", {**TEXT, "embedding_size": 64}, IDS, STATE, tokens(32, 500)),
    ("FNetModel", "FNetConfig", {**TEXT, "tpu_short_seq_length": 32}, IDS, STATE, tokens(32, 500)),
    ("MPNetModel", "MPNetConfig", TEXT, IDS, STATE, tokens(32, 500)),
    ("DebertaV2Model", "DebertaV2Config", {**TEXT, "relative_attention": True, "position_buckets": 16, "pos_att_type": ["p2c", "c2p"]},
     IDS, STATE, tokens(32, 500)),
    ("GPT2LMHeadModel", "GPT2Config",
     {"vocab_size": 500, "n_embd": 64, "n_layer": 2, "n_head": 4, "n_positions": 64, "use_cache": False}, IDS, "logits", tokens(32, 500)),
    ("LlamaForCausalLM", "LlamaConfig", {**TEXT, "num_key_value_heads": 2, "use_cache": False}, IDS, "logits", tokens(32, 500)),
    ("Qwen2Model", "Qwen2Config", {**TEXT, "num_key_value_heads": 2, "use_cache": False}, IDS, STATE, tokens(32, 500)),
    ("OPTModel", "OPTConfig", {"vocab_size": 500, "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "ffn_dim": 128,
                               "max_position_embeddings": 64, "word_embed_proj_dim": 64, "use_cache": False}, IDS, STATE, tokens(32, 500)),
    ("T5EncoderModel", "T5Config", {"vocab_size": 500, "d_model": 64, "d_kv": 16, "d_ff": 128, "num_layers": 2, "num_heads": 4}, IDS, STATE,
     tokens(32, 500)),
    ("MambaModel", "MambaConfig", {"vocab_size": 500, "hidden_size": 32, "num_hidden_layers": 2, "state_size": 8, "use_cache": False}, IDS, STATE,
     tokens(16, 500)),
    ("ViTForImageClassification", "ViTConfig", VIT, PIXELS, "logits", image(3, 32)),
    ("DeiTForImageClassification", "DeiTConfig", VIT, PIXELS, "logits", image(3, 32)),
    ("Dinov2ForImageClassification", "Dinov2Config", VIT, PIXELS, "logits", image(3, 32)),
    ("YolosModel", "YolosConfig", {**SMALL, "image_size": [32, 48], "patch_size": 8, "num_detection_tokens": 10}, PIXELS, STATE, image(3, 32, 48)),
    ("SegformerForSemanticSegmentation", "SegformerConfig",
     {"depths": [1, 1, 1, 1], "hidden_sizes": [16, 32, 48, 64], "decoder_hidden_size": 32, "num_labels": 5}, PIXELS, "logits", image(3, 64)),
    ("PoolFormerForImageClassification", "PoolFormerConfig",
     {"depths": [1, 1, 1, 1], "hidden_sizes": [16, 32, 48, 64], "num_labels": CLASSES}, PIXELS, "logits", image(3, 64)),
    ("ResNetForImageClassification", "ResNetConfig",
     {"embedding_size": 16, "hidden_sizes": [16, 32, 48, 64], "depths": [1, 1, 1, 1], "layer_type": "basic", "num_labels": CLASSES},
     PIXELS, "logits", image(3, 64)),
    ("SwiftFormerForImageClassification", "SwiftFormerConfig",
     {"depths": [1, 1, 1, 1], "embed_dims": [16, 24, 32, 48], "num_labels": CLASSES}, PIXELS, "logits", image(3, 64)),
    ("SwinModel", "SwinConfig", {"image_size": 32, "patch_size": 2, "embed_dim": 16, "depths": [2, 2], "num_heads": [2, 4], "window_size": 4},
     PIXELS, STATE, image(3, 32)),
    ("Wav2Vec2ForCTC", "Wav2Vec2Config", SPEECH, "input_values", "logits", wave(4000)),
    ("HubertModel", "HubertConfig", SPEECH, "input_values", STATE, wave(4000)),
    ("ASTForAudioClassification", "ASTConfig",
     {**SMALL, "max_length": 64, "num_mel_bins": 40, "patch_size": 8, "frequency_stride": 8, "time_stride": 8, "num_labels": CLASSES},
     "input_values", "logits", series(64, 40)),
    ("PatchTSTForClassification", "PatchTSTConfig",
     {"num_input_channels": 3, "context_length": 64, "patch_length": 8, "patch_stride": 8, "d_model": 32, "num_hidden_layers": 2,
      "num_attention_heads": 4, "ffn_dim": 64, "num_targets": CLASSES, "use_cls_token": True}, "past_values", "prediction_logits", series(64, 3)),
    ("PatchTSMixerForPrediction", "PatchTSMixerConfig",
     {"num_input_channels": 3, "context_length": 64, "patch_length": 8, "patch_stride": 8, "d_model": 16, "num_layers": 2, "prediction_length": 8},
     "past_values", "prediction_outputs", series(64, 3)),
]  # fmt: skip


def of_transformers(model, config, options, argument, field, given):
    def make():
        network = getattr(transformers, model)(getattr(transformers, config)(**options))
        return Output(network, field, argument)
    return Row(f"{model}", "transformers", make, (given,))


def of_timm(name, side):
    def make():
        try:
            return timm.create_model(name, num_classes=CLASSES, img_size=side)
        except TypeError:  # a network without a size of its own
            return timm.create_model(name, num_classes=CLASSES)
    return Row(name, "timm", make, (image(3, side),))


def of_torchvision(name, options, side):
    make = lambda: torchvision.models.get_model(name, weights=None, num_classes=CLASSES, **options)
    return Row(name, "torchvision", make, (image(3, side),))


def vision_transformer():
    return torchvision.models.VisionTransformer(32, 4, 3, 4, 64, 128, num_classes=CLASSES)


def swin():
    return torchvision.models.SwinTransformer([2, 2], 32, [2, 2], [2, 4], [4, 4], num_classes=CLASSES)


def convnext():
    setting = torchvision.models.convnext.CNBlockConfig
    return torchvision.models.ConvNeXt([setting(16, 32, 1), setting(32, 64, 1), setting(64, None, 1)], num_classes=CLASSES)


def maxvit():
    return torchvision.models.MaxVit((64, 64), 16, 4, [16, 32], [1, 1], 8, 0.0, num_classes=CLASSES)


def segmentation(name):
    make = getattr(torchvision.models.segmentation, name)
    return Only(make(weights=None, weights_backbone=None, num_classes=4), lambda m, x: m(x)["out"])


def ssdlite():
    model = torchvision.models.detection.ssdlite320_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=4)

    def call(m, x):
        out = m.head(list(m.backbone(x).values()))
        return out["bbox_regression"], out["cls_logits"]
    return Only(model, call)


class Listener(nn.Module):
    """A front end of torchaudio and a small network behind it."""

    def __init__(self, front, bins):
        super().__init__()
        self.front = front
        self.body = nn.Sequential(nn.Conv2d(1, 16, 3, 2, 1), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 32, 3, 2, 1), nn.BatchNorm2d(32),
                                  nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, CLASSES))

    def forward(self, x):
        return self.body(torch.log(self.front(x) + 1e-5).unsqueeze(1))


def wav2vec2():
    layers = [(32, 10, 5), (32, 8, 4), (32, 4, 4)]
    model = torchaudio.models.wav2vec2_model("group_norm", layers, False, 64, 0.0, 16, 4, 2, 4, 0.0, 128, 0.0, 0.0, False, 0.0, 32)
    return Only(model, lambda m, x: m(x)[0])


AUDIO = torchaudio.transforms
SPECIAL = [
    Row("vision_transformer_32", "torchvision", vision_transformer, (image(3, 32),)),
    Row("swin_32", "torchvision", swin, (image(3, 32),)),
    Row("convnext_64", "torchvision", convnext, (image(3, 64),)),
    Row("maxvit_64", "torchvision", maxvit, (image(3, 64),)),
    Row("lraspp_mobilenet_v3_large", "torchvision", lambda: segmentation("lraspp_mobilenet_v3_large"), (image(3, 64),)),
    Row("ssdlite320_backbone_and_head", "torchvision", ssdlite, (image(3, 128),)),
    Row("deepspeech", "torchaudio", lambda: torchaudio.models.DeepSpeech(40, 128, CLASSES), (series(1, 50, 40),)),
    Row("conv_tasnet", "torchaudio", lambda: torchaudio.models.ConvTasNet(2, 16, 64, 3, 32, 64, 3, 2), (wave(2000, 1),)),
    Row("wav2vec2_small", "torchaudio", wav2vec2, (wave(4000),)),
    Row("spectrogram_cnn", "torchaudio", lambda: Listener(AUDIO.Spectrogram(256, hop_length=128), 129), (wave(4000),)),
    Row("mel_spectrogram_cnn", "torchaudio", lambda: Listener(AUDIO.MelSpectrogram(16000, 400, n_mels=40), 40), (wave(4000),)),
    Row("mfcc_front_end", "torchaudio", lambda: AUDIO.MFCC(16000, 13, melkwargs={"n_fft": 400, "n_mels": 40}), (wave(4000),)),
]
ROWS = [*(of_transformers(*r) for r in TRANSFORMERS), *SPECIAL, *(of_timm(*r) for r in TIMM), *(of_torchvision(*r) for r in TORCHVISION)]
