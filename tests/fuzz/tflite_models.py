# SPDX-License-Identifier: Apache-2.0
"""Small TFLite models for the fuzz target `tflite`: one for each operator that is imported, in float32 and int8, and in forms that differ. In the
text of tests/tflite_made.py."""
import tflite_made

FUNCTIONS = ("ABS CEIL COS ELU EXP FLOOR GELU HARD_SWISH LEAKY_RELU LOG LOGISTIC LOG_SOFTMAX NEG RELU RELU6 RELU_0_TO_1 RELU_N1_TO_1 ROUND RSQRT SIGN SIN "
             "SOFTMAX SQRT SQUARE TANH").split()
FUNCTION_OPTIONS = {"LEAKY_RELU": "LeakyReluOptions alpha=0.25", "SOFTMAX": "SoftmaxOptions beta=1.0", "GELU": "GeluOptions approximate=1"}
COMPARISONS = "EQUAL NOT_EQUAL LESS LESS_EQUAL GREATER GREATER_EQUAL".split()
REDUCTIONS = "MEAN SUM REDUCE_MAX REDUCE_MIN".split()
ACTIVATIONS = "NONE RELU RELU_N1_TO_1 RELU6 TANH".split()
IMAGE = "1,4,6,2"

# (operator, operands, options, results): x an input, w and v weights, b a bias; :SHAPE; @KIND a tensor that is no number of the kind asked for.
CASES = [(f, f"x:{IMAGE}", FUNCTION_OPTIONS.get(f, ""), f"y:{IMAGE}") for f in FUNCTIONS]
CASES += [("GELU", "x:2,3", "GeluOptions", "y:2,3"), ("LOGICAL_NOT", "p:2,3@BOOL", "", "y:2,3@BOOL")]
CASES += [(f, f"x:{IMAGE} z:{IMAGE}", "", f"y:{IMAGE}") for f in ("MAXIMUM", "MINIMUM", "POW", "SQUARED_DIFFERENCE", "FLOOR_MOD")]
CASES += [(f, "x:2,3 z:2,3", "", "y:2,3@BOOL") for f in COMPARISONS]
CASES += [(f, "p:2,3@BOOL q:2,3@BOOL", "", "y:2,3@BOOL") for f in ("LOGICAL_AND", "LOGICAL_OR")]
CASES += [(f.upper(), f"x:{IMAGE} {other}", f"{f}Options fused_activation_function={a}", f"y:{IMAGE}")
          for f in ("Add", "Sub", "Mul", "Div") for a in ACTIVATIONS for other in (f"z:{IMAGE}", "w:2", "w:1", "z:1,1,6,2")]
CASES += [("ADD", "w:2 x:3,2", "AddOptions", "y:3,2"), ("ADD_N", "x:2,3 z:2,3 u:2,3", "", "y:2,3"), ("PRELU", f"x:{IMAGE} w:1,1,2", "", f"y:{IMAGE}")]
CASES += [(f, "p:2,3@BOOL x:2,3 z:2,3", "", "y:2,3") for f in ("SELECT", "SELECT_V2")]
CASES += [(f, f"x:{IMAGE} i:{axes}", f"ReducerOptions keep_dims={keep}", f"y:{shape}")
          for f in REDUCTIONS for axes, keep, shape in (("1,2", 1, "1,1,1,2"), ("1,2", 0, "1,2"), ("-1", 0, "1,4,6"), ("0,1,2,3", 0, ""))]
CASES += [(f, f"x:{IMAGE} i:{axis}", f"{'ArgMax' if f == 'ARG_MAX' else 'ArgMin'}Options output_type={kind}", f"y:1,4,6@{kind}")
          for f in ("ARG_MAX", "ARG_MIN") for axis in ("3", "-1") for kind in ("INT32", "INT64")]
CASES += [("CUMSUM", "x:2,3,4 i:1", f"CumsumOptions {o}", "y:2,3,4") for o in ("exclusive=0", "exclusive=1", "reverse=1")]
CASES += [
    ("RESHAPE", "x:2,6 i:3,4", "ReshapeOptions", "y:3,4"), ("RESHAPE", "x:2,6", "", "y:3,4"), ("SQUEEZE", "x:1,2,1,3", "SqueezeOptions", "y:2,3"),
    ("EXPAND_DIMS", "x:2,3 i:1", "ExpandDimsOptions", "y:2,1,3"), ("TRANSPOSE", "x:2,3,4 i:2,0,1", "", "y:4,2,3"),
    ("TILE", "x:2,3 i:2,3", "", "y:4,9"), ("SLICE", "x:4,6 i:1,2 i:2,-1", "", "y:2,4"), ("REVERSE_V2", "x:4,6 i:1", "", "y:4,6"),
    ("REVERSE_V2", "x:4,6 i:0,1", "", "y:4,6"), ("BROADCAST_TO", "x:3 i:2,3", "", "y:2,3"), ("BROADCAST_TO", "x:2,1,3 i:4,2,5,3", "", "y:4,2,5,3"),
    ("SPLIT", "i:1 x:4,6", "SplitOptions num_splits=3", "y:4,2 z:4,2 u:4,2"), ("SPLIT_V", "x:4,6 i:1,5 i:1", "", "y:4,1 z:4,5"),
    ("UNPACK", "x:2,3", "UnpackOptions num=2 axis=0", "y:3 z:3"), ("PACK", "x:2,3 z:2,3", "PackOptions values_count=2 axis=1", "y:2,2,3"),
    ("CONCATENATION", "x:2,3 z:2,4", "ConcatenationOptions axis=1", "y:2,7"), ("CONCATENATION", "x:2,3 w:2,4", "ConcatenationOptions axis=-1", "y:2,7"),
    ("GATHER", "x:2,5 i:1,3,1", "GatherOptions axis=1", "y:2,3"), ("GATHER", "x:5,2 i:3", "GatherOptions axis=0", "y:1,2"),
    ("PAD", "x:1,4,6,2 m:0,0,1,2,3,0,0,0", "", "y:1,7,9,2"), ("PADV2", "x:2,3 m:0,1,2,0 n:", "", "y:3,5"),
    ("MIRROR_PAD", "x:4,6 m:1,2,0,3", "MirrorPadOptions mode=REFLECT", "y:7,9"), ("MIRROR_PAD", "x:4,6 m:1,2,0,3", "MirrorPadOptions mode=SYMMETRIC", "y:7,9"),
    ("SPACE_TO_DEPTH", "x:1,4,6,2", "SpaceToDepthOptions block_size=2", "y:1,2,3,8"), ("DEPTH_TO_SPACE", "x:1,2,3,8", "DepthToSpaceOptions block_size=2", "y:1,4,6,2"),
    ("STRIDED_SLICE", "x:4,6 i:1,0 i:4,6 i:2,1", "StridedSliceOptions", "y:2,6"), ("STRIDED_SLICE", "x:4,6 i:3,5 i:-5,-7 i:-1,-2", "StridedSliceOptions", "y:4,3"),
    ("STRIDED_SLICE", "x:4,6 i:1,2 i:2,5 i:1,1", "StridedSliceOptions shrink_axis_mask=1", "y:3"),
    ("STRIDED_SLICE", "x:4,6 i:1,2 i:2,5 i:1,1", "StridedSliceOptions begin_mask=1 end_mask=2", "y:2,4"),
    ("FULLY_CONNECTED", "x:2,6 w:3,6 b:3", "FullyConnectedOptions fused_activation_function=RELU", "y:2,3"),
    ("FULLY_CONNECTED", "x:2,2,6 w:3,6 -", "FullyConnectedOptions keep_num_dims=1", "y:2,2,3"), ("FULLY_CONNECTED", "x:2,3,2 w:3,6", "FullyConnectedOptions", "y:2,3"),
    ("BATCH_MATMUL", "x:2,3,4 z:2,4,5", "BatchMatMulOptions", "y:2,3,5"), ("BATCH_MATMUL", "x:2,4,3 z:2,5,4", "BatchMatMulOptions adj_x=1 adj_y=1", "y:2,3,5"),
    ("BATCH_MATMUL", "x:3,4 w:4,5", "BatchMatMulOptions", "y:3,5"),
    ("QUANTIZE", "f:2,3@FLOAT32", "", "y:2,3@INT8"), ("DEQUANTIZE", "e:2,3@INT8", "", "y:2,3@FLOAT32"), ("QUANTIZE", "e:2,3@INT8", "", "y:2,3@INT16"),
]
CASES += [(f, "x:1,4,6,2 i:8,9", f"{o}Options {more}", "y:1,8,9,2")
          for f, o in (("RESIZE_BILINEAR", "ResizeBilinear"), ("RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighbor"))
          for more in ("", "align_corners=1", "half_pixel_centers=1")]
for padding, stride, activation in (("SAME", 1, "NONE"), ("VALID", 1, "RELU"), ("SAME", 2, "RELU6"), ("VALID", 3, "TANH"), ("SAME", 3, "RELU_N1_TO_1")):
    STEP = f"padding={padding} stride_w={stride} stride_h={stride} fused_activation_function={activation}"

    def result(extent, window):
        return -(-extent // stride) if padding == "SAME" else (extent - window) // stride + 1

    H, W = result(4, 3), result(6, 3)
    CASES += [("CONV_2D", f"x:{IMAGE} w:5,3,3,2 {bias}", f"Conv2DOptions {STEP}", f"y:1,{H},{W},5") for bias in ("b:5", "-", "")]
    CASES += [("DEPTHWISE_CONV_2D", f"x:{IMAGE} v:1,3,3,4 b:4", f"DepthwiseConv2DOptions {STEP} depth_multiplier=2", f"y:1,{H},{W},4"),
              ("AVERAGE_POOL_2D", f"x:{IMAGE}", f"Pool2DOptions {STEP} filter_width=3 filter_height=3", f"y:1,{H},{W},2"),
              ("MAX_POOL_2D", f"x:{IMAGE}", f"Pool2DOptions {STEP} filter_width=3 filter_height=3", f"y:1,{H},{W},2")]
    TH, TW = ((4 - 1) * stride + 3, (6 - 1) * stride + 3) if padding == "VALID" else (4 * stride, 6 * stride)
    CASES += [("TRANSPOSE_CONV", f"i:1,{TH},{TW},5 w:5,3,3,2 x:{IMAGE} {bias}", f"TransposeConvOptions {STEP}", f"y:1,{TH},{TW},5") for bias in ("b:5", "")]
CASES += [("CONV_2D", "x:1,9,9,2 w:5,3,3,2 b:5", "Conv2DOptions padding=VALID stride_w=1 stride_h=1 dilation_w_factor=2 dilation_h_factor=3", "y:1,3,5,5"),
          ("CONV_2D", "x:1,4,6,4 w:6,3,3,2 b:6", "Conv2DOptions padding=SAME stride_w=1 stride_h=1", "y:1,4,6,6")]

QUANT = {"FLOAT32": "", "INT8": " q(0.5;3)", "INT16": " q(0.5;0)", "UINT8": " q(0.5;128)"}


def typed(kind, shape):
    return f"{kind}[{shape}]{QUANT.get(kind, '')}"


class Text:
    def __init__(self, kind):
        self.kind, self.lines, self.count = kind, [], 0

    def operand(self, word):
        """Its name; the line of the tensor is written."""
        if word == "-":
            return word
        letter, _, rest = word.partition(":")
        shape, _, kind = rest.partition("@")
        kind, self.count = kind or self.kind, self.count + 1
        name = f"{letter}{self.count}"
        scales = shape.split(",")[0] if letter == "w" else shape.split(",")[-1]
        many = int(scales or 1) if kind in ("INT8", "INT16") and letter in "wvb" and shape.count(",") == 3 - 3 * (letter == "b") else 0
        quant = f" q({' '.join(['0.1'] * many)};{' '.join(['0'] * many)};{3 if letter == 'v' else 0})" if many else ""
        extent = len(shape.split(",")) if shape else 1
        self.lines.append({
            "i": f"{name} : INT32[{extent}] = {shape}", "m": f"{name} : INT32[{extent // 2},2] = {shape}", "n": f"{name} : {typed(kind, '1')} = 1",
            "b": f"{name} : {'FLOAT32' if kind == 'FLOAT32' else 'INT64' if kind == 'INT16' else 'INT32'}[{shape}]{quant} = 1",
            "w": f"{name} : {'INT8' if kind == 'INT16' else kind}[{shape}]{quant or QUANT.get('INT8' if kind == 'INT16' else kind, '')} = 1",
            "v": f"{name} : {'INT8' if kind == 'INT16' else kind}[{shape}]{quant} = 1",
        }.get(letter, f"{name} : {typed(kind, shape)}"))
        if letter in "xzupqfe":
            self.lines.append(f"input {name}")
        return name


def models():
    for number, (operator, operands, options, results) in enumerate(CASES):
        for kind in ("FLOAT32", "INT8", "UINT8"):
            text = Text(kind)
            named = [text.operand(w) for w in operands.split()]
            inputs = [line for line in text.lines if line.startswith("input")]
            made = []
            for word in results.split():
                letter, _, rest = word.partition(":")
                shape, _, result_kind = rest.partition("@")
                made.append(letter + "_result")
                text.lines.append(f"{made[-1]} : {typed(result_kind or kind, shape)}")
            lines = [line for line in text.lines if line not in inputs] + [f"{operator}({', '.join(named)}) -> {', '.join(made)} {options}".rstrip()]
            yield f"{operator}_{number}_{kind}", tflite_made.model("\n".join(lines + inputs + [f"output {n}" for n in made]))
