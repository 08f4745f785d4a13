# SPDX-License-Identifier: Apache-2.0
"""Programs that ExecuTorch's users make around DeuteronBackend, in the stock runtime of its package: by recipes for
the Cortex-M and the i.MX RT700, as delegates and in ExecuTorch's own dialect, from models that other quantizers have
quantized, and beside other partitioners. Wherever one part holds the model, its bits are those of `deuteron run`.

    delegate_recipes.py DEUTERON STOCK_RUNNER CONVERTER SHARED PACKAGE [--all] [--zoo FOLDER]

CONVERTER plays NXP's closed one. --all: eleven models instead of three. --zoo: also the networks there, which
`bench/zoo.py --cache FOLDER` has exported.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest.mock
import warnings
from typing import NamedTuple, Optional

warnings.filterwarnings("ignore")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, sys.argv[5])
sys.modules.setdefault("tosa_serializer", unittest.mock.MagicMock())  # imported, and not called
sdk = sys.modules["eiq_neutron_sdk"] = types.ModuleType("eiq_neutron_sdk")
sdk.neutron_library_utils = types.SimpleNamespace(isNeutronTarget=lambda name: True)
sdk.neutron_converter = types.SimpleNamespace()
import numpy as np
import torch
from executorch.export import ExportRecipe, export
from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower

import checks
from checks import check
from delegated import (
    KERNELS,
    LIBRARIES,
    TARGET,
    backends_of,
    bits_of,
    quantize,
    run_stock,
    same_bits,
    written,
)
from deuteron.executorch import DeuteronPartitioner, DeuteronRecipeType

SOME = ["digits_cnn", "hello_sine", "mnist_lstm"]
ALL = [*SOME, "resnet8", "autoencoder_ad", "cifarnet", "digits_bmm", "dscnn_kws", "mobilenet_v1_025_vww",
       "mobilenet_v2", "mobilenet_v3_small"]  # fmt: skip
IN_DIALECT = ["digits_cnn", "hello_sine"]
RECIPES = {
    "cortex-m55": DeuteronRecipeType.CORTEX_M55_INT8,
    "imxrt700cm": DeuteronRecipeType.IMXRT700CM_INT8,
}


class Wrapped(torch.nn.Module):
    """ExecuTorch takes every GraphModule for a quantized one."""

    def __init__(self, graph):
        super().__init__()
        self.inner = graph

    def forward(self, x):
        return self.inner(x)


def fixture(folder):
    """(the float model, samples)"""
    program = torch.export.load(
        folder / ("model.pt2" if (folder / "model.pt2").exists() else "float.pt2")
    )
    (given,) = program.graph_signature.user_inputs
    shape = next(n.meta["val"].shape for n in program.graph.nodes if n.name == given)
    if (folder / "calibrate0.npy").exists():
        rows = list(np.load(folder / "calibrate0.npy")[:4])
    else:
        rows = [np.fromfile(f, "<f4") for f in sorted((folder / "inputs").glob("*.bin"))[:4]]
    return Wrapped(program.module(check_guards=False)), [
        torch.from_numpy(r.reshape(shape)) for r in rows
    ]


def check_recipe(name, folder, target, where):
    model, samples = fixture(folder)
    recipe = ExportRecipe.get_recipe(
        RECIPES[target], calibration_inputs_fn=lambda: [(s,) for s in samples]
    )
    session = export(model, [(samples[0],)], recipe)
    file = where / "recipe.pte"
    file.write_bytes(session.get_pte_buffer())
    left = recipe.lowering_recipe.partitioners[0].report
    backends = backends_of(session.get_edge_program_manager())
    check(set(backends) == {"DeuteronBackend"}, f"{name} for {target}: delegates {backends}")
    given = [s.numpy() for s in samples[:2]]
    expected = bits_of(tool, session.get_exported_program(), given, where, target)
    same_bits(
        runner, f"{name} for {target}", file, given, expected, where, *([KERNELS] if left else [])
    )
    print(
        f"{name} for {target}: {len(backends)} parts, {len(left)} operators left, {file.stat().st_size} bytes",
        flush=True,
    )


def check_dialect(name, folder, where):
    """The other form: ExecuTorch's own operators, images in the order of their names, the bits of --dialect stock."""
    model, samples = fixture(folder)
    calibration = lambda: [(s,) for s in samples]
    recipe = ExportRecipe.get_recipe(
        RECIPES[TARGET], calibration_inputs_fn=calibration, dialect="stock"
    )
    session = export(model, [(samples[0],)], recipe)
    file = where / "dialect.pte"
    file.write_bytes(session.get_pte_buffer())
    module = session.get_edge_program_manager().exported_program().graph_module
    called = {str(n.target) for n in module.graph.nodes if n.op == "call_function"}
    check(not any("call_delegate" in c for c in called), f"{name}: delegates in the dialect form")
    given = [s.numpy() for s in samples[:2]]
    expected = bits_of(tool, session.get_exported_program(), given, where, TARGET, dialect="stock")
    same_bits(
        runner, f"{name} in the dialect", file, given, expected, where, "--stock-dialects", KERNELS
    )
    images = sum("_nhwc" in c for c in called)
    print(f"{name} in the dialect: {len(called)} kinds of calls, {images} on images", flush=True)
    return images


class Images(torch.nn.Module):
    """What all three quantizers know, and an angle that none does."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(3)
        self.first, self.second = torch.nn.Conv2d(8, 16, 3, padding=1), torch.nn.Conv2d(16, 8, 1)
        self.scores, self.last = torch.nn.Linear(128, 16), torch.nn.Linear(16, 8)

    def forward(self, x):
        y = torch.relu(self.second(torch.relu(self.first(x))))
        y = self.scores(torch.nn.functional.max_pool2d(y, 2).flatten(1))
        return self.last(torch.atan2(y, y.abs() + 1))


def quantizers():
    from executorch.backends.cortex_m.quantizer.quantizer import CortexMQuantizer
    from executorch.backends.nxp.backend.neutron_target_spec import NeutronTargetSpec
    from executorch.backends.nxp.quantizer.neutron_quantizer import NeutronQuantizer
    from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
        XNNPACKQuantizer,
        get_symmetric_quantization_config,
    )

    per_channel = get_symmetric_quantization_config(is_per_channel=True)
    return {
        "CortexMQuantizer": CortexMQuantizer(),
        "NeutronQuantizer": NeutronQuantizer(NeutronTargetSpec("imxrt700")),
        "XNNPACKQuantizer": XNNPACKQuantizer().set_global(per_channel),
    }


def partitioner_of(name):
    """A partitioner, and what its users lower with."""
    if name == "Deuteron":
        return DeuteronPartitioner(TARGET), {}
    if name == "XNNPACK":
        from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner

        return XnnpackPartitioner(), {}
    from executorch.backends.nxp.backend.neutron_target_spec import NeutronTargetSpec
    from executorch.backends.nxp.edge_passes.neutron_edge_pass_manager import NeutronEdgePassManager
    from executorch.backends.nxp.neutron_partitioner import NeutronPartitioner
    from executorch.backends.nxp.nxp_backend import generate_neutron_compile_spec

    spec = generate_neutron_compile_spec("imxrt700", use_neutron_for_format_conversion=False)
    config = EdgeCompileConfig(_check_ir_validity=False)
    lowering = {"transform_passes": NeutronEdgePassManager(), "compile_config": config}
    return NeutronPartitioner(spec, NeutronTargetSpec("imxrt700")), lowering


class Ran(NamedTuple):
    output: Optional[np.ndarray]
    fault: str  #: where there is no output
    backends: list[str]
    layers: list[str]  #: in parts or between them
    left: set[str]  #: what ours leaves, but for what another part has


def layers_of(module):
    """Convolutions and dense layers, those inside of parts too."""
    found = []
    for node in module.graph.nodes:
        if "call_delegate" in str(node.target):
            part = getattr(module, node.args[0].target)
            found += layers_of(part.original_module.graph_module)
        found += [
            k
            for k in ("conv", "linear", "addmm")
            if node.op == "call_function" and k in str(node.target)
        ][:1]
    return found


def lowered_by(names, program, stored, where):
    partitioners, more = [], {}
    for name in names:
        one, lowering = partitioner_of(name)
        partitioners.append(one)
        more |= lowering
    try:
        manager = to_edge_transform_and_lower(program, partitioner=partitioners, **more)
    except Exception as e:
        return Ran(None, f"{type(e).__name__}: {e}", [], [], set())
    file = written(manager, where / "foreign.pte")
    reports = [one for p in partitioners for one in getattr(p, "report", [])]
    left = {one.operator.partition(" ")[0] for one in reports if one.rule != "executorch.taken"}
    done = run_stock(runner, file, [stored], where, KERNELS, XNNPACK)
    output = None if done.returncode else np.fromfile(where / "out0.bin", "<f4")
    layers = layers_of(manager.exported_program().graph_module)
    return Ran(output, done.stderr[-300:], backends_of(manager), layers, left)


def check_composed(what, names, program, expected, stored, where):
    ran = lowered_by(names, program, stored, where)
    if ran.output is None:  # with another one in our place?
        others = [n for n in names if n != "Deuteron"]
        without = lowered_by(
            ["XNNPACK", *others] if names[0] == "Deuteron" else others, program, stored, where
        )
        check(len(others) > 0 and without.output is None, f"{what}: {ran.fault}")
        print(f"{what}: fails without ours too: {without.fault.strip().splitlines()[0][:90]}")
        return
    check(len(ran.layers) == 4, f"{what}: of four layers there are {ran.layers}")
    check("DeuteronBackend" in ran.backends or names[0] == "XNNPACK", f"{what}: {ran.backends}")
    if names[0] == "Deuteron":
        check(
            not any("conv" in n or "addmm" in n or "linear" in n for n in ran.left),
            f"{what}: left are {ran.left}",
        )
    gap = float(np.abs(ran.output - expected).max())
    # XNNPACK rounds its products in its own way, and the NPU rounds twice: a step of a result, as far as
    # the next layers carry it.
    most = 0 if names[0] == "Deuteron" else 4 * step_of(program)
    check(gap <= most, f"{what}: {gap} from deuteron run, at most {most}")
    print(
        f"{what}: {' '.join(ran.backends)}; left {' '.join(sorted(ran.left))}; gap {gap:.3g}",
        flush=True,
    )


def step_of(program):
    return [n.args[1] for n in program.graph.nodes if n.name.startswith("quantize_per_tensor")][-1]


def check_foreign(where):
    """Every quantizer with ours alone, and with each other partitioner before and behind it."""
    x = torch.rand(1, 8, 8, 8).contiguous(memory_format=torch.channels_last)
    stored = x.permute(0, 2, 3, 1).contiguous().numpy()  # the program's input lies channels last
    for by, quantizer in quantizers().items():
        # NXP's looks for the sources of operators, which only a strict export notes.
        program = quantize(Images(), (x,), quantizer, strict=True)
        expected = np.frombuffer(bits_of(tool, program, [x.numpy()], where)[0], "<f4")
        pairs = [
            [a, b] for o in ("XNNPACK", "Neutron") for a, b in (("Deuteron", o), (o, "Deuteron"))
        ]
        for names in (["Deuteron"], *pairs):
            check_composed(f"{by}, {' then '.join(names)}", names, program, expected, stored, where)


parser = argparse.ArgumentParser()
for argument in ("deuteron", "runner", "converter", "shared", "package"):
    parser.add_argument(argument)
parser.add_argument("--all", action="store_true")
parser.add_argument("--zoo", type=pathlib.Path)
options = parser.parse_args()
tool, runner = options.deuteron, options.runner


class Context:
    def __init__(self):
        self.targetOpts, self.compilationOpts = None, types.SimpleNamespace()


def convert(model, context):
    """The stand-in, for the machine that we know."""
    with tempfile.TemporaryDirectory() as folder:
        given, made = pathlib.Path(folder) / "in.tflite", pathlib.Path(folder) / "out.tflite"
        given.write_bytes(bytes(model))
        words = [options.converter, "--input", given, "--output", made, "--target", "imxrt700"]
        done = subprocess.run(
            words,
            capture_output=True,
            text=True,
            env={**os.environ, "NEUTRON_STAND_IN": "open-machine"},
        )
        if done.returncode:
            raise RuntimeError(done.stdout[-500:] + done.stderr[-500:])
        return list(made.read_bytes())


sdk.neutron_converter.CompilationContext = Context
sdk.neutron_converter.convertModel = convert
sdk.neutron_converter.getNeutronTarget = lambda name: types.SimpleNamespace(
    name=name, npu=types.SimpleNamespace(subsystem=False, hwVersion=2, numMacs=8)
)
XNNPACK = f"--library={LIBRARIES / 'libexecutorch_backend_xnnpack.so'}"
models = pathlib.Path(options.shared) / "fixtures" / "models"
if not models.is_dir():
    print(f"left out: there is no {models}")
    sys.exit(77)
folders = [models / name for name in checks.those_there(models, ALL if options.all else SOME)]
folders += sorted(p.parent for p in options.zoo.glob("*/model.pt2")) if options.zoo else []
images = 0
with tempfile.TemporaryDirectory() as scratch:
    for one in folders:
        for target in RECIPES:
            check_recipe(one.name, one, target, pathlib.Path(scratch))
        if one.name in IN_DIALECT:
            images += check_dialect(one.name, one, pathlib.Path(scratch))
    check_foreign(pathlib.Path(scratch))
check(images > 0, "no image in the dialect form")
print(f"delegate recipes: {checks.verdict()}")
sys.exit(checks.failed != 0)
