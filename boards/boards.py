# SPDX-License-Identifier: Apache-2.0
"""boards.txt and cores.txt for the tests and benches that run on every board."""
import glob
import pathlib
import shutil
import typing


class Cores(typing.NamedTuple):
    name: str
    prefix: str
    packages: str
    headers: str
    macro: str
    emulator: str
    emulator_package: str
    flags: str


class Board(typing.NamedTuple):
    name: str
    cores: str
    runs: str
    target: str
    isa: str
    npu: str
    memory_mb: str
    flags: str

    @property
    def family(self):
        return next(cores for cores in rows_of("cores.txt", Cores) if cores.name == self.cores)

    def missing(self):
        """The first program that is not there of those that build for it and emulate it."""
        return next((p for p in (self.family.prefix + "g++", self.family.emulator) if not shutil.which(p)), None)

    def compiler_flags(self):
        flags = [self.flags, *(text for text in [self.family.flags] if text != "-")]
        headers = [folder for pattern in self.family.headers.split() for folder in sorted(glob.glob(pattern))]
        return " ".join([*flags, *(f"-isystem {folder}" for folder in headers)])

    def emulate(self, image, *arguments):
        """The command that runs an image on it, which gets the arguments by semihosting."""
        machine = self.runs.split()[1:] or ["-M", self.name]
        return [self.family.emulator, *machine, "-kernel", str(image), "-icount", "shift=0", "-nodefaults", "-no-user-config", "-display", "none",
                "-monitor", "none", "-serial", "null", "-parallel", "null",
                "-semihosting-config", ",".join(["enable=on,target=native", *(f"arg={a}" for a in arguments)])]


def rows_of(table, row):
    lines = (pathlib.Path(__file__).parent / table).read_text().splitlines()
    return [row(*(column.strip() for column in line.split("|"))) for line in lines if not line.startswith("#")]


def all_boards():
    return rows_of("boards.txt", Board)


def emulated_boards():
    return [board for board in all_boards() if board.runs.split()[0] == "qemu"]
