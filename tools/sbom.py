"""What is in the program, or in a firmware project, as an SPDX 2.3 document (JSON): for audits, and to know what a fault elsewhere means here.

    sbom.py program BUILD [-o FILE]      BUILD: the folder in which `deuteron` was built by ninja
    sbom.py firmware FOLDER [-o FILE]    FOLDER: a project of `deuteron firmware`, built in FOLDER/build

The lists come from what the build did, not from a list of ours: headers that the compiler read, libraries that the loader finds, members of archives
that the linker took (its map), files of the project. Debian's database says which package a file is of. Nothing in the document depends on when or
where it is made, but for the versions of those packages."""
import argparse
import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# As the packages' own copyright files have it, of the part that is used here. Others: NOASSERTION.
LICENSES = {
    "cli11": "BSD-3-Clause", "eigen3": "MPL-2.0", "fmtlib": "MIT", "gcc-12": "GPL-3.0-or-later WITH GCC-exception-3.1", "glibc": "LGPL-2.1-or-later",
    "libpng1.6": "libpng-2.0", "libzip": "BSD-3-Clause", "newlib": "NOASSERTION", "nlohmann-json3": "MIT", "onednn": "Apache-2.0",
    "onetbb": "Apache-2.0", "openssl": "Apache-2.0", "protobuf": "BSD-3-Clause", "flatbuffers": "Apache-2.0", "tomlplusplus": "MIT", "zlib": "Zlib",
}


def output(*command, **more):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=True, **more).stdout


def owners(paths):
    """path: the binary package that has it, for those that one has."""
    lines = subprocess.run(["dpkg", "-S", *paths], capture_output=True, text=True).stdout.splitlines() if paths else []
    return {path: names.split(",")[0] for names, _, path in (line.partition(": ") for line in lines if not line.startswith("diversion"))}


def packages_of(paths):
    """(source package, version) of the Debian packages of system files; a file of none is a fault, not to be passed over."""
    real = {p: os.path.realpath(p) for p in paths}
    known = owners(sorted({*real, *real.values()}))
    strange = [p for p in sorted(real) if p not in known and real[p] not in known]
    if strange:
        raise SystemExit("of no Debian package, so its origin is not known: " + ", ".join(strange))
    names = sorted({known.get(p) or known[real[p]] for p in real})
    rows = output("dpkg-query", "-W", "-f=${source:Package}\t${source:Version}\n", *names) if names else ""
    return {tuple(row.split("\t")) for row in rows.splitlines()}


def archives_in_map(text):
    """Archives of which the linker took members: "/usr/lib/.../libc.a(libc_a-memcpy.o)"."""
    begin, end = text.find("Archive member included"), text.find("Discarded input sections")
    return {os.path.realpath(m) for m in re.findall(r"^(/\S+\.a)\(", text[begin:end], re.M)}


def image_archives(build):
    """Of the board runners that the program carries: their link, once more, for its map."""
    archives = set()
    with tempfile.TemporaryDirectory() as folder:
        for line in output("ninja", "-C", build, "-t", "commands", "deuteron").splitlines():
            link = re.search(r"\S*arm-none-eabi-g\+\+ [^&]*-T\S+memory\.ld[^&]*-o \S+\.elf[^&]*", line)
            if link:
                command = re.sub(r"-o \S+\.elf", f"-o {folder}/x.elf -Wl,-Map={folder}/x.map", link[0])
                subprocess.run(command, shell=True, cwd=build, check=True, capture_output=True)
                archives |= archives_in_map(pathlib.Path(folder, "x.map").read_text())
    return archives


def version_of_project():
    return re.search(r"project\(deuteron VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]


def identifier(text):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", text)


def package(name, version, license_id="NOASSERTION", purl=None, **more):
    entry = {"SPDXID": identifier(f"Package-{name}"), "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
             "licenseConcluded": "NOASSERTION", "licenseDeclared": license_id, "copyrightText": "NOASSERTION", **more}
    if purl:
        entry["externalRefs"] = [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}]
    return entry


def debian(packages):
    return [package(name, version, LICENSES.get(name, "NOASSERTION"), f"pkg:deb/debian/{name}@{version}?arch=source") for name, version in sorted(packages)]


def page_scripts():
    """Scripts inside the HTML report, with the versions that the lock file fixes."""
    wanted = json.loads((ROOT / "inspect/page/package.json").read_text())["dependencies"]
    locked = json.loads((ROOT / "inspect/page/package-lock.json").read_text())["packages"]
    return [package(name, locked[f"node_modules/{name}"]["version"], locked[f"node_modules/{name}"].get("license", "NOASSERTION"),
                    f"pkg:npm/{name}@{locked[f'node_modules/{name}']['version']}") for name in sorted(wanted)]


def document(root, parts, files=()):
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", root["SPDXID"])] + [(root["SPDXID"], "CONTAINS", p["SPDXID"]) for p in [*parts, *files]]
    result = {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"{root['name']}-{root['versionInfo']}",
              "packages": [root, *parts], "files": list(files),
              "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b} for a, kind, b in relations]}
    if not files:
        del result["files"]
    digest = hashlib.sha256(json.dumps(result, sort_keys=True).encode()).hexdigest()
    result["documentNamespace"] = f"https://spdx.org/spdxdocs/{result['name']}-{digest[:32]}"
    created = os.environ.get("SOURCE_DATE_EPOCH") or output("git", "-C", ROOT, "log", "-1", "--format=%ct").strip()
    result["creationInfo"] = {"created": datetime.datetime.fromtimestamp(int(created), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                              "creators": [f"Tool: deuteron-sbom-{version_of_project()}"]}
    return result


def program(build):
    headers = set(re.findall(r"^\s+(/usr/\S+)", output("ninja", "-C", build, "-t", "deps"), re.M))
    libraries = {m for m in re.findall(r"(/\S+) \(0x", output("ldd", build / "deuteron"))}
    packages = packages_of(headers | libraries | image_archives(build))
    checksum = hashlib.sha256((build / "deuteron").read_bytes()).hexdigest()
    root = package("deuteron", version_of_project(), primaryPackagePurpose="APPLICATION", checksums=[{"algorithm": "SHA256", "checksumValue": checksum}])
    return document(root, debian(packages) + page_scripts())


def firmware(folder):
    maps = sorted(folder.glob("build/**/*.map"))
    if not maps:
        raise SystemExit(f"{folder}: is not built, so what is linked is not known: cmake -S {folder} -B {folder}/build && cmake --build {folder}/build")
    archives = set().union(*(archives_in_map(m.read_text()) for m in maps))
    outside = {a for a in archives if not a.startswith(str(folder.resolve()))}
    files = []
    for path in sorted(p for p in folder.rglob("*") if p.is_file() and not p.is_relative_to(folder / "build")):
        name, data = path.relative_to(folder).as_posix(), path.read_bytes()
        files.append({"SPDXID": identifier(f"File-{hashlib.sha256(name.encode()).hexdigest()[:16]}"), "fileName": f"./{name}",
                      "checksums": [{"algorithm": "SHA1", "checksumValue": hashlib.sha1(data).hexdigest()},
                                    {"algorithm": "SHA256", "checksumValue": hashlib.sha256(data).hexdigest()}],
                      "licenseConcluded": "NOASSERTION", "copyrightText": "NOASSERTION"})
    root = package("deuteron-firmware", version_of_project(), primaryPackagePurpose="FIRMWARE")
    return document(root, debian(packages_of(outside)), files)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("kind", choices=["program", "firmware"])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("-o", "--output", type=pathlib.Path)
    options = parser.parse_args()
    text = json.dumps({"program": program, "firmware": firmware}[options.kind](options.folder), indent=1) + "\n"
    if options.output:
        options.output.write_text(text)
    else:
        print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
