# SPDX-License-Identifier: Apache-2.0
"""Damaged models through every verb: none may end with an internal fault, a signal or a hang.

    damaged_files.py [--deuteron build/deuteron] [--seed S] [--files N] MODEL ...

N files, a third of each of: some bytes changed, a piece cut out, a piece of the file written over another place. Of a .pt2 it is one member of
the archive that is damaged, or now and then the archive. Each is analyzed, diagnosed, compiled, inspected and cut; what compiles runs.
"""
import argparse
import concurrent.futures
import io
import os
import pathlib
import random
import sys
import tempfile
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import checks  # noqa: E402
import every_verb  # noqa: E402
import golden  # noqa: E402


def damaged(data, r):
    data, at = bytearray(data), r.randrange(len(data))
    way, length = r.randrange(3), min(len(data) - at, r.choice((1, 2, 4, 16, 200)))
    if way == 0:
        for _ in range(r.choice((1, 1, 2, 8))):
            data[r.randrange(len(data))] = r.choice((0, 1, 0x7F, 0x80, 0xFF, r.randrange(256)))
    elif way == 1:
        del data[at:at + r.choice((length, len(data)))]
    else:
        source = r.randrange(len(data) - length + 1)
        data[at:at + length] = data[source:source + length]
    return bytes(data)


def damaged_archive(data, r):
    if r.random() < 0.1:
        return damaged(data, r)
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(made, "w") as new:
        names = [n for n in old.namelist() if old.getinfo(n).file_size]
        texts = [n for n in names if n.endswith(".json")]
        chosen = r.choice(texts if texts and r.random() < 0.8 else names)
        for name in old.namelist():
            new.writestr(name, damaged(old.read(name), r) if name == chosen else old.read(name))
    return made.getvalue()


def try_file(verbs, model, seed, k):
    r = random.Random(f"{seed} {k}")
    data = model.read_bytes()
    target = r.choice(every_verb.TARGETS)
    with tempfile.TemporaryDirectory(prefix=f"{model.stem}.{seed}.{k}.") as name:
        folder, file = pathlib.Path(name), "m" + model.suffix
        (folder / file).write_bytes((damaged_archive if model.suffix == ".pt2" else damaged)(data, r))
        _, said = verbs.run(folder, "analyze", file, "--target", target)
        samples = every_verb.samples_of(said, folder)
        calibrate = [w for s in samples for w in ("--calibrate", s)]
        verbs.run(folder, "doctor", file, "--target", target, *calibrate)
        verbs.run(folder, "inspect", file)
        code, _ = verbs.run(folder, "compile", file, "--target", target, *calibrate, *r.choice(every_verb.OPTIONS), "-o", "o.pte")
        if code == 0 and (folder / "o.pte").is_file():
            verbs.run(folder, "inspect", "o.pte")
            verbs.run(folder, "compare", file, "o.pte", *[w for s in samples for w in ("--inputs", s)])
            verbs.run(folder, "run", "o.pte", *[w for s in samples for w in ("--input", s)], "--output-dir", "out")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--deuteron", default=str(golden.ROOT / "build" / "deuteron"))
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--files", type=int, default=60)
    p.add_argument("models", nargs="+", type=pathlib.Path)
    given = p.parse_args()
    verbs = every_verb.Verbs(str(pathlib.Path(given.deuteron).resolve()), given.seed)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        tries = [pool.submit(try_file, verbs, given.models[k % len(given.models)], given.seed, k) for k in range(given.files)]
        for t in tries:
            t.result()
    print(f"{verbs.count} commands on {given.files} files, seed {given.seed}: {checks.verdict()}")
    return 1 if checks.failed or not verbs.count else 0


if __name__ == "__main__":
    sys.exit(main())
