"""The size gate: bytes of the file, of planned RAM and of constants of every fixture model, as recorded in tests/sizes.json.

    python3 tests/sizes.py [build/deuteron] [../shared] [--write]

A change is a failure until the record is changed too, in a commit that says why (--write does it). Standard library only.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
paths = [a for a in sys.argv[1:] if not a.startswith("--")]
TOOL = pathlib.Path(paths[0] if paths else ROOT / "build" / "deuteron").resolve()
MODELS = pathlib.Path(paths[1] if len(paths) > 1 else ROOT.parent / "shared") / "fixtures" / "models"
RECORD = ROOT / "tests" / "sizes.json"
TARGETS = ["cortex-m55", "cortex-m33", "cortex-m3"]


def sizes(model, target):
    """[file, planned RAM, scratch, constants] of the float model, and the same of the quantized one where there is one that compiles."""
    measured = {}
    for kind in ("float", "qdq"):
        source = MODELS / model / f"{kind}.pt2"
        if not source.exists():
            continue
        with tempfile.TemporaryDirectory() as folder:
            where = pathlib.Path(folder)
            calibrate = ["--calibrate", MODELS / model / "inputs"] if kind == "float" else []
            arguments = [TOOL, "compile", source, "--target", target, *calibrate, "-o", where / "m.pte", "--json", where / "m.json"]
            if subprocess.run(list(map(str, arguments)), capture_output=True, stdin=subprocess.DEVNULL, timeout=600).returncode == 0:
                j = json.loads((where / "m.json").read_text())
                measured[kind] = {k: j[k] for k in ("file_bytes", "ram_bytes", "scratch_bytes", "constants_bytes")}
            else:
                measured[kind] = "refused"
    return measured


def main():
    if not MODELS.is_dir():
        print("left out: the models of ../shared, which is not there")
        return 77
    found = {m.name: {t: sizes(m.name, t) for t in TARGETS} for m in sorted(MODELS.iterdir()) if m.is_dir()}
    if "--write" in sys.argv:
        RECORD.write_text(json.dumps(found, indent=1) + "\n")
        return 0
    known, wrong = json.loads(RECORD.read_text()), 0
    for model in sorted(set(known) | set(found)):
        for target in TARGETS:
            for kind in ("float", "qdq"):
                was, now = known.get(model, {}).get(target, {}).get(kind), found.get(model, {}).get(target, {}).get(kind)
                if was != now:
                    wrong += 1
                    print(f"FAILED {model} ({kind}) for {target}: {now}, recorded {was}")
    print(f"{len(found)} models for {len(TARGETS)} targets: {'as recorded' if wrong == 0 else f'{wrong} differ from tests/sizes.json'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
