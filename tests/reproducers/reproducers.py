# SPDX-License-Identifier: Apache-2.0
"""Inputs that once crashed, hung or fooled the program: each ends at once with one diagnostic and exit code 1, or works.

    reproducers.py DEUTERON [--slow]

A case is a command, the rule of the one error that it must give (None: it works), and what else its standard error must say. After an error all
files are as they were. It may take a second and 200 MB; --slow is for builds with sanitizers, whose time and memory are not the program's. Large
inputs are made here."""
import gzip
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import onnx_made  # noqa: E402
import pt2_text  # noqa: E402

TOOL, SLOW = os.path.abspath(sys.argv[1]), "--slow" in sys.argv
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SECONDS, MEGABYTES = (90, None) if SLOW else (1, 200)
CASES = []


def case(name, command, rule, *says):
    """`command` is a list, or a function that makes inputs in a folder and gives the list."""
    CASES.append((name, command, rule, says))


def run(where, command):
    """Exit code, standard error, seconds, megabytes."""
    start = time.monotonic()
    with subprocess.Popen([TOOL, *map(str, command)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, cwd=where) as process:
        error = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, error.decode(errors="replace"), time.monotonic() - start, usage.ru_maxrss / 1024


def contents(where):
    return {p: p.read_bytes() for p in where.rglob("*") if p.is_file()}


def faults_of(where, command, rule, says):
    made = command(where) if callable(command) else command
    before = contents(where)
    code, error, seconds, megabytes = run(where, made)
    if rule and contents(where) != before:
        yield "refused, and a file has changed or was left"
    found = re.findall(r"(?m)error: .*\[([a-z0-9_.]+)\]$", error)
    if code != (1 if rule else 0):
        yield f"exit code {code}"
    if found != ([rule] if rule else []):
        yield f"errors {found}, not {rule}"
    for text in says:
        if text not in error:
            yield f"does not say `{text}`"
    if seconds > SECONDS:
        yield f"{seconds:.2f} s"
    if MEGABYTES and megabytes > MEGABYTES:
        yield f"{megabytes:.0f} MB"
    if code not in (0, 1) or not set(found) <= {rule}:
        yield error[:400]


# A model whose operator has a number where torch's schema has a tensor, or nothing: the host's kernels read whatever lay there.
for name in ("self_is_an_int", "self_is_missing"):
    case(name, ["analyze", HERE / "pt2_type_confusion" / f"{name}.pt2", "--target", "cortex-m33"],
         *(("pt2.argument.kind", "expected a tensor") if name == "self_is_missing" else ("pt2.leftover.call", "argument 0 must be a tensor")))

# An output that is none has no elements.
NONE = [HERE / "null_output" / "null_output.pte", "--input", HERE / "null_output" / "x.bin"]
case("null_output run", ["run", *NONE, "--output-dir", "o"], None)
case("null_output profile", ["profile", *NONE, "-o", "t.etdp"], None)
case("null_output evaluate", ["evaluate", NONE[0], "--inputs", NONE[2], "--labels", NONE[2]], "evaluate.outputs")


def toml_chain(count, times):
    """Target files that each extend the next so many times."""
    def make(where):
        for i in range(count):
            following = f"c{i + 1}.toml" if i + 1 < count else "cortex-m33"
            (where / f"c{i}.toml").write_text(f'format = 1\nname = "x"\nextends = {[following] * times}\n')
        return ["targets", "--show", "c0.toml"]
    return make


case("toml_chain", toml_chain(20000, 1), "target.extends", "65, limit 64")
case("toml_diamond", toml_chain(24, 3), None)


# Compiled, and then no driver took it.
DIGITS = ["compile", ROOT / "models/digits_cnn/float.pt2", "--calibrate", ROOT / "models/digits_cnn/calibrate.npy", "-o", "p.pte"]
case("odd_machine", [*DIGITS, "--target", HERE / "odd_machine" / "t.toml"], "target.npu", "setup_cycles", "2147483647, limit 1048576")

# Finite numbers, but so large or small that no float32 holds the scales that follow from them, or no multiplier their ratio.
FAULTS = {
    "344a2bc0": ("deuteron.gru.scale", "gru `g`"),  # a search for ranges widened one beyond float32
    "419ff50d": ("quantize.scale", "`linear`", "inf, limit"),  # of a bias: the product of the scales of its operands
    "51edf224": ("quantize.scale", "linear `b`", "0, limit"),  # the same: a weight of a quantized model has the scale 1e-45
    "d655f1a0": (None,),  # an average needs a multiplier for the scale of its input; it stays in float where there is none
}
for name, (rule, *says) in FAULTS.items():
    model = HERE / "internal_faults" / name
    for target in ("cortex-m33", "cortex-m55", "imxrt700cm"):
        command = ["compile", f"{model}.pt2", "--target", target, "--calibrate", f"{model}.bin", "-o", "o.pte"]
        case(f"internal_faults {name} {target}", command, rule, *says)
VIEW = HERE / "internal_faults" / "view_beside_int16"  # of an input that goes through a view into a layer on int16
case("internal_faults view_beside_int16", ["compile", f"{VIEW}.onnx", "--target", "cortex-m55", "--calibrate", f"{VIEW}.npy",
                                           "--layer", "Div=int16", "-o", "o.pte"], None)


def in_shared(name):
    """The two largest, 440 KB: their weights span all of float32, and so do the samples. They lie beside the checkout, or nowhere."""
    def make(where):
        folder = SHARED / name
        samples = b"".join((folder / f"c{k}.bin").read_bytes() for k in range(3))
        (where / "samples.bin").write_bytes((samples * 21)[:SAMPLE_BYTES[name]])
        return ["compile", folder / "m.pt2", "--target", "cortex-m55", "--calibrate", "samples.bin", "-o", "o.pte"]
    return make


SHARED, SAMPLE_BYTES = ROOT.parent / "shared" / "redteam" / "internal_faults", {"0df4138c": 3 * 1960, "635565c3": 3 * 256}
for name in SAMPLE_BYTES:
    if (SHARED / name).is_dir():
        case(f"internal_faults {name}", in_shared(name), "quantize.scale")


def alpha(where):
    (where / "x.bin").write_bytes(struct.pack("<i", 1))
    return ["run", HERE / "alpha" / "alpha.pte", "--input", "x.bin", "--output-dir", "o"]


# A factor of 2^63 - 1 was made a float and then an integer that cannot hold it.
case("alpha", alpha, None)


def wide_steps(program):
    def make(where):
        (where / "x.bin").write_bytes(bytes(112))
        return ["run", HERE / "wide_steps" / f"{program}.pte", "--input", "x.bin", "--output-dir", "o"]
    return make


# A stride of 2^28 + 1 behind a padding of 2^28: the step from window to window left int32, and the MVE kernel of packed weights then wrote
# 2^28 columns to a scratch of 96 bytes. Both were compiled before from wide_steps.txt, which the compiler gives to another kernel now.
for program in ("packed", "int16"):
    case(f"wide_steps {program}", wide_steps(program), "pte.bad_argument", "a step from window to window, or from tap to tap, that is too large")


def wide_steps_compile(where):
    (where / "x.bin").write_bytes(struct.pack("<28f", *(k / 7 for k in range(28))))
    return ["compile", HERE / "wide_steps" / "wide_steps.txt", "--target", "cortex-m55", "--calibrate", "x.bin", "-o", "o.pte"]


case("wide_steps compile", wide_steps_compile, None)


def png_bomb(where):
    """16384 x 16384 grey zeros in a few KB."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    packer, data = zlib.compressobj(9), b""
    for _ in range(16384):
        data += packer.compress(bytes(16385))
    head = struct.pack(">IIBBBBB", 16384, 16384, 8, 0, 0, 0, 0)
    (where / "bomb.png").write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data + packer.flush()) + chunk(b"IEND", b""))
    return [*IMAGE, "bomb.png"]


# Images of the wrong size were decoded before anybody looked at it; images without their pixels, or with wrong checksums, were taken. A JPEG
# of the first two made the decoder write past its tables.
IMAGE = ["compile", HERE / "images" / "image.txt", "--target", "cortex-m33", "-o", "o.pte", "--calibrate"]
case("images png_bomb", png_bomb, "image.extent", "16384 x 16384, limit 32 x 32")
for name, rule, says in (("bad.jpg", "image.format", "extraneous bytes"), ("max.jpg", "image.format", "Huffman table"),
                         ("bomb_310_bytes.bmp", "image.extent", "16384 x 16384, limit 32 x 32"), ("corrupt_crc.png", "image.format", "incorrect data check"),
                         ("cut_no_pixels.bmp", "image.format", "ends within its pixels"), ("good.png", None, "")):
    case(f"images {name}", [*IMAGE, HERE / "images" / name], rule, says)


def npz_bomb(shape):
    """Zeros, packed to a thousandth."""
    def make(where):
        head = ("{'descr': '<f4', 'fortran_order': False, 'shape': %s, }" % (shape,)).ljust(117) + "\n"
        with zipfile.ZipFile(where / "bomb.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive, archive.open("input0.npy", "w") as entry:
            entry.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
            for _ in range(256):
                entry.write(bytes(1 << 20))
        return [*IMAGE, "bomb.npz"]
    return make


# An archive was unpacked before anybody looked at what it holds.
case("npz_bomb wrong shape", npz_bomb((805306368,)), "input.shape", "[805306368], limit")
case("npz_bomb right shape", npz_bomb((262144, 3, 32, 32)), "npz.size")


def load_hang(name, *options):
    def make(where):
        (where / "f.pte").write_bytes(gzip.decompress((HERE / "load_hang" / f"{name}.pte.gz").read_bytes()))
        return ["inspect", "f.pte", *options]
    return make


# A hundred KB kept the loader busy for minutes: nobody paid for finding where tensors lie that the file gives no memory. `inspect` shows both
# programs, whose values are right, and warns that they do not load: they take more than two steps for each byte of the file.
case("load_hang h1", load_hang("h1_144KB"), None, "too large to be checked")
case("load_hang h3", load_hang("h3"), None, "too large to be checked")
# A list that every call shares costs each of them all of it, in a view.
case("load_hang h1 view", load_hang("h1_144KB", "--stock-view", "v.tflite"), "pte.unsupported", "too large to be checked")


def pt2(text, *options):
    """A model of the text form of tests/pt2_text.py."""
    def make(where):
        (where / "m.pt2").write_bytes(pt2_text.archive(text))
        return ["analyze", "m.pt2", "--target", "cortex-m33", *options]
    return make


# Tensors of any declared size were filled before anybody compared the size; and again for every value that a known one is computed from.
case("pt2_huge_zeros", ["analyze", HERE / "pt2_huge_zeros" / "zeros_2G.pt2", "--target", "cortex-m33"], "pt2.graph.shape", "1,1,2147483648, limit 1,1,4")
def repeated(rows):
    return pt2(f"""input x : f32[1,4]
a = aten.ones.default(size=[1,4]) : f32[1,4]
b = aten.expand.default(self=a, size=[{rows},4]) : f32[{rows},4]
y = aten.add.Tensor(self=x, other=b) : f32[{rows},4]
output y
""")


case("pt2_huge_zeros repeated", repeated(10000000), "pt2.constant.total")
case("pt2_huge_zeros claimed", repeated(200000000), "pt2.tensor.size")
case("known_diamond", pt2("\n".join(["input x : f32[4]", "parameter p : f32[1]", "a0 = aten.relu.default(self=p) : f32[1]",
                                    *(f"a{k + 1} = aten.add.Tensor(self=a{k}, other=a{k}) : f32[1]" for k in range(40)),
                                    "v = aten.sum.default(self=a40) : f32[]", "y = aten.fill.Tensor(self=x, value=v) : f32[4]", "output y", ""])),
     None)


def onnx(text):
    """A model of the text form of tests/onnx_made.py."""
    def make(where):
        (where / "m.onnx").write_bytes(onnx_made.model(text))
        return ["analyze", "m.onnx", "--target", "cortex-m33"]
    return make


def doubled(count):
    """A constant of four integers, doubled so many times."""
    lines = [f"Concat(k{k}, k{k}) -> k{k + 1} axis=0" for k in range(count)]
    return onnx("\n".join(["input x : FLOAT[1,4]", "k0 : INT64[4] = 1", *lines, f"Cast(k{count}) -> f to=1", "Add(x, f) -> y", "output y", ""]))


# Constants that grow as they are folded were made before anybody counted them, and a tensor that an operator reads twice counted twice.
for count in (24, 60):
    case(f"onnx_bombs doubled {count}", doubled(count), "onnx.constant.total")
case("onnx_bombs tiles", onnx("""input x : FLOAT[1,4]
k : INT64[1] = 1
s : INT64[1] = 1000
Tile(k, s) -> a
Tile(a, s) -> b
Tile(b, s) -> c
Cast(c) -> f to=1
Add(x, f) -> y
output y
"""), "onnx.constant.total")
case("pt2_doubled", pt2("\n".join(["input x : f32[1,4]", "k0 = aten.arange.default(end=4) : s64[4]",
                                   *(f"k{k + 1} = aten.cat.default(tensors=[k{k},k{k}]) : s64[{8 << k}]" for k in range(23)),
                                   f"f = aten.sum.default(self=k23) : s64[]", "y = aten.add.Tensor(self=x, other=f) : f32[1,4]", "output y", ""])),
     "pt2.constant.total")
# Forty functions that each call the next one twice gave 65 536 errors; of functions without nodes nobody counted the calls.
TWICE = "\n".join(f"function local.F{k}(a) -> b\nlocal.F{k - 1}(a) -> c\nlocal.F{k - 1}(c) -> b\nend" for k in range(1, 40))
case("onnx_bombs functions", onnx(f"{TWICE}\nfunction local.F0(a) -> b\nRelu(a) -> b\nend\ninput x : FLOAT[1,4]\nlocal.F39(x) -> y\noutput y\n"),
     "onnx.function.call")
# A product of 2^32 elements was refused, and then read; so was a result of 17 axes, or it ended in an internal fault.
case("onnx_bombs einsum", onnx("input x : FLOAT[300,300]\nEinsum(x, x) -> y equation=\"ab,cd->abcd\"\noutput y\n"), "onnx.result.size")
case("onnx_bombs axes", onnx(f"input x : FLOAT[1,4]\ns : INT64[17] = {'1,' * 16}4\nReshape(x, s) -> y\noutput y\n"), "onnx.result.rank")
case("onnx_bombs a million axes", onnx(f"input x : FLOAT[1,4]\na : INT64[1000000] = 1\nUnsqueeze(x, a) -> y\noutput y\n"), "onnx.result.rank")


def same_file(make):
    """`make` gives the options for a copy of the model in that folder."""
    return lambda where: ["compile", (where / "m.pt2").write_bytes(DIGITS[1].read_bytes()) and "m.pt2", *DIGITS[2:4], "--target", "cortex-m33", *make(where)]


# Outputs that are inputs, or each other, however they are spelled.
case("same_file model", same_file(lambda _: ["-o", "./m.pt2"]), "output.same_file", "-o would replace the model")
case("same_file json", same_file(lambda _: ["-o", "p.pte", "--json", "p.pte"]), "output.same_file", "--json would replace what -o writes")
case("same_file link", same_file(lambda w: os.symlink("m.pt2", w / "l.pte") or ["-o", "l.pte"]), "output.same_file")
case("same_file hard link", same_file(lambda w: os.link(w / "m.pt2", w / "l.pte") or ["-o", "l.pte"]), "output.same_file")
case("same_file folder", same_file(lambda w: os.symlink(".", w / "d") or ["-o", "d/m.pt2"]), "output.same_file")
case("same_file devices", [*IMAGE[:4], "-o", "/dev/null", "--json", "/dev/null", "--calibrate", HERE / "images" / "good.png"], None)


def main():
    wrong = 0
    for name, command, rule, says in CASES:
        with tempfile.TemporaryDirectory() as folder:
            faults = list(faults_of(pathlib.Path(folder), command, rule, says))
        wrong += bool(faults)
        for fault in faults:
            print(f"{name}: {fault}")
    print(f"{len(CASES) - wrong} of {len(CASES)} reproducers end as they should")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
