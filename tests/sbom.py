# SPDX-License-Identifier: Apache-2.0
"""The software bills of materials name what is really in the program, in a firmware project and in a wheel (dev_tools/sbom.py).

    sbom.py DEUTERON BUILD [WHEEL]

Held against what others say: the loader (ldd) and the sources' own includes for the program, the files of the project and the symbols of the image for
a firmware; for a wheel the files inside, the list with which it is installed, and what auditwheel says of the libraries that it took along. Without Debian's database, without ninja or the cross compiler there is nothing to hold it against: skipped (77)."""
import base64
import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOOL, BUILD = (pathlib.Path(a).resolve() for a in sys.argv[1:3])
WHEEL = pathlib.Path(sys.argv[3]) if sys.argv[3:] else None
# Libraries that leave no name for the loader: the source package, and how our sources include it.
HEADER_ONLY = {"nlohmann-json3": "nlohmann/", "cli11": "CLI/", "flatbuffers": "flatbuffers/", "eigen3": "eigen3/Eigen/", "tomlplusplus": "toml++/"}
# In an image, symbols that only this package defines.
IMAGE_SYMBOLS = {"newlib": r" [TtWw] (memcpy|memset|memmove|exp|expf|strlen|roundf?)$"}


def expect(condition, *what):
    if not condition:
        raise AssertionError(" ".join(map(str, what)))


def sbom(kind, folder):
    done = subprocess.run([sys.executable, ROOT / "dev_tools/sbom.py", kind, folder], capture_output=True, text=True)
    expect(done.returncode == 0, done.stderr)
    return done.stdout


def check_document(text):
    """What every SPDX 2.3 document has. Answers {package: version}."""
    d = json.loads(text)
    expect(d["spdxVersion"] == "SPDX-2.3" and d["dataLicense"] == "CC0-1.0" and d["SPDXID"] == "SPDXRef-DOCUMENT", "head")
    expect(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", d["creationInfo"]["created"]) and d["documentNamespace"].startswith("https://"), "head")
    things = d["packages"] + d.get("files", [])
    ids = {t["SPDXID"] for t in things}
    expect(len(ids) == len(things) and all(re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", i) for i in ids), "ids are not all different")
    related = {r["relatedSpdxElement"] for r in d["relationships"]}
    expect(related == ids, "relations lead to other things:", related ^ ids)
    for p in d["packages"]:
        expect(p["downloadLocation"] and p["licenseDeclared"] and p["versionInfo"], p)
    return d, {p["name"]: p["versionInfo"] for p in d["packages"]}


def source_package(path):
    for name in (path, path.resolve()):
        done = subprocess.run(["dpkg", "-S", name], capture_output=True, text=True)
        if done.returncode == 0:
            binary = done.stdout.split(": ")[0]
            return subprocess.run(["dpkg-query", "-W", "-f=${source:Package}\t${source:Version}", binary], capture_output=True, text=True).stdout.split("\t")
    raise AssertionError(f"{path} is of no package")


def check_program():
    d, packages = check_document(sbom("program", BUILD))
    root = d["packages"][0]
    expect(root["licenseDeclared"] == "Apache-2.0", root)
    expect(root["checksums"][0]["checksumValue"] == hashlib.sha256((BUILD / "deuteron").read_bytes()).hexdigest(), "another program")
    linked = re.findall(r"=> (/\S+)", subprocess.run(["ldd", BUILD / "deuteron"], capture_output=True, text=True).stdout)
    expect(len(linked) > 5, linked)
    for library in linked:
        name, version = source_package(pathlib.Path(library))
        expect(packages.get(name) == version, library, "is of", name, version, "and the document has", packages.get(name))
    sources = "".join(p.read_text() for p in ROOT.glob("*/**/*.[ch]*")
                      if p.suffix in (".h", ".cpp") and p.relative_to(ROOT).parts[0] not in ("build", "tests", "bench", "python") and "_test" not in p.name)
    for name, include in HEADER_ONLY.items():
        expect((f"#include <{include}" in sources) == (name in packages), name, "is named wrongly")
    lock = json.loads((ROOT / "explain/page/package-lock.json").read_text())["packages"]
    for name in json.loads((ROOT / "explain/page/package.json").read_text())["dependencies"]:
        expect(packages.get(name) == lock[f"node_modules/{name}"]["version"], name)
    expect("newlib" in packages, "the board runners link newlib")
    expect(sbom("program", BUILD) == sbom("program", BUILD), "not the same twice")
    return len(linked), len(packages)


def check_firmware(folder):
    project = folder / "fw"
    program = ROOT / "tests/carried/programs/0.1.0/digits_cortex-m55.pte"
    for command in ([TOOL, "firmware", program, "--board", "mps3-an547", "-o", project], ["cmake", "-S", project, "-B", project / "build"]):
        subprocess.run(command, check=True, capture_output=True)
    unbuilt = subprocess.run([sys.executable, ROOT / "dev_tools/sbom.py", "firmware", project], capture_output=True, text=True)
    expect(unbuilt.returncode != 0 and "is not built" in unbuilt.stderr, "an unbuilt project has a bill")
    subprocess.run(["cmake", "--build", project / "build"], check=True, capture_output=True)
    d, packages = check_document(sbom("firmware", project))
    named = {f["fileName"]: f["checksums"][1]["checksumValue"] for f in d["files"]}
    there = {f"./{p.relative_to(project)}": hashlib.sha256(p.read_bytes()).hexdigest() for p in project.rglob("*")
             if p.is_file() and p.relative_to(project).parts[0] != "build"}
    expect(named == there, "other files:", sorted(named.items() ^ there.items())[:3])
    silent = [f["fileName"] for f in d["files"] if f["licenseConcluded"] != "Apache-2.0" and not f["fileName"].startswith("./models/")]
    expect(sorted(silent) == ["./LICENSE", "./README.md", "./firmware.sel"], "files of no licence:", silent)
    image = next(p for p in (project / "build").rglob("*") if p.is_file() and p.read_bytes()[:4] == b"\x7fELF" and p.suffix in ("", ".elf"))
    symbols = subprocess.run(["arm-none-eabi-nm", image], capture_output=True, text=True).stdout
    for name, pattern in IMAGE_SYMBOLS.items():
        expect(bool(re.search(pattern, symbols, re.M)) == (name in packages), name, "is named wrongly:", sorted(packages))
    return len(named), len(packages)


def of_wheel(path):
    """The document inside, and the other files; both as the wheel's own list has them."""
    with zipfile.ZipFile(path) as z:
        members = {i.filename: z.read(i) for i in z.infolist() if not i.is_dir()}
    place, = (n for n in members if re.fullmatch(r"[^/]+\.dist-info/sboms/deuteron\.spdx\.json", n))
    record, = (n for n in members if n.endswith(".dist-info/RECORD"))
    rows = dict(row.split(",", 1) for row in members[record].decode().splitlines())
    expect(rows.keys() == members.keys(), "RECORD names other files:", rows.keys() ^ members.keys())
    for name, data in members.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        expect(name == record or rows[name] == f"sha256={digest},{len(data)}", name, "is listed as", rows[name])
    return members.pop(place).decode(), {n: d for n, d in members.items() if n != record}


def check_wheel():
    text, members = of_wheel(WHEEL)
    d, packages = check_document(text)
    named = {f["fileName"][2:]: f["checksums"][1]["checksumValue"] for f in d["files"]}
    expect(named == {n: hashlib.sha256(b).hexdigest() for n, b in members.items()}, "other files:", named.keys() ^ members.keys())
    # auditwheel asked Debian's database too, by itself: binary packages, whose source packages are ours.
    theirs = json.loads(next(b for n, b in members.items() if n.endswith("/sboms/auditwheel.cdx.json")))
    of_auditwheel = {c["name"]: urllib.parse.unquote(c["version"]) for c in theirs["components"] if c["purl"].startswith("pkg:deb/")}
    libraries = [n for n in members if ".libs/" in n]
    expect(len(libraries) > 5 and of_auditwheel, libraries, of_auditwheel)
    for name in of_auditwheel:
        source, version = subprocess.run(["dpkg-query", "-W", "-f=${source:Package}\t${source:Version}\n", name], capture_output=True,
                                         text=True).stdout.splitlines()[0].split("\t")
        expect(packages.get(source) == version, "auditwheel took", name, "of", source, version, "and the document has", packages.get(source))
    for name, include in HEADER_ONLY.items():
        expect(name in packages, name, "is compiled in, as", include)
    own, others = ({n.rsplit("/", 1)[-1] for n in members if f"/licenses/{where}" in n} for where in ("", "others/"))
    expect({"LICENSE", "NOTICE"} <= own, "the wheel has no licence:", own)
    silent = packages.keys() - {"deuteron", "cpython"} - {n.removesuffix(".txt") for n in others}  # headers of CPython alone
    expect(not silent, "no licence text of:", silent)
    expect("newlib" in packages, "the board runners are made with newlib")
    with tempfile.TemporaryDirectory() as folder:  # again: the same bytes; and of another build: refused
        copy = pathlib.Path(folder, WHEEL.name)
        shutil.copy(WHEEL, copy)
        done = subprocess.run([sys.executable, ROOT / "dev_tools/sbom.py", "wheel", BUILD, "--wheel", copy], capture_output=True, text=True)
        expect(done.returncode == 0, done.stderr)
        expect(of_wheel(copy) == (text, members), "not the same twice")
        with zipfile.ZipFile(copy, "a") as z:
            z.writestr("deuteron.libs/libstranger-0123abcd.so.1", b"")
        done = subprocess.run([sys.executable, ROOT / "dev_tools/sbom.py", "wheel", BUILD, "--wheel", copy], capture_output=True, text=True)
        expect(done.returncode != 0 and "libstranger" in done.stderr, "a library of nobody is passed over")
    return len(members), len(libraries), len(packages)


def main():
    for needed in ("dpkg", "ninja", "arm-none-eabi-nm", "ldd"):
        if not shutil.which(needed):
            print(f"left out: there is no {needed}")
            return 77
    if WHEEL:
        if not WHEEL.is_file():
            print(f"left out: there is no wheel {WHEEL}: ./dev wheel")
            return 77
        files, libraries, of_all = check_wheel()
        print(f"{WHEEL.name}: {files} files, {libraries} libraries of others, {of_all} packages")
        return 0
    libraries, of_program = check_program()
    print(f"program: {libraries} libraries of the loader are in {of_program} packages")
    with tempfile.TemporaryDirectory() as folder:
        files, of_firmware = check_firmware(pathlib.Path(folder))
    print(f"firmware: {files} files, {of_firmware} packages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
