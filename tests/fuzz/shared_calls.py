# SPDX-License-Identifier: Apache-2.0
"""A program whose calls all are one: a vector of references to the same table, so that four bytes ask for a call to be checked and prepared.

No compiler writes that, and the verifier of flatbuffers allows it. What a loader may take is counted on such files (tests/fuzz/on_boards.py)."""
import struct


def share_calls(data, count, which):
    """The program with its call number `which`, `count` times, and no other; nothing where it has no such call of a kernel."""
    u32 = lambda at: struct.unpack_from("<I", data, at)[0]  # noqa: E731
    i32 = lambda at: struct.unpack_from("<i", data, at)[0]  # noqa: E731

    def field(table, n):
        """Where field n of a table lies; 0: it has its default."""
        vtable = table - i32(table)
        if 4 + 2 * n >= struct.unpack_from("<H", data, vtable)[0]:
            return 0
        offset = struct.unpack_from("<H", data, vtable + 4 + 2 * n)[0]
        return table + offset if offset else 0

    def referred(table, n):
        at = field(table, n)
        return at + u32(at)

    def item(vector, k):
        at = vector + 4 + 4 * k
        return at + u32(at)

    program, segments = struct.unpack_from("<QQ", data, 16)
    chain = item(referred(item(referred(u32(0), 1), 0), 5), 0)  # Program.execution_plan, .chains: schema/program.fbs
    calls = referred(chain, 2)
    if which >= u32(calls):
        return None
    instruction = item(calls, which)
    if data[field(instruction, 0)] != 1:  # KernelCall
        return None
    body = referred(instruction, 1)
    operator = i32(field(body, 0)) if field(body, 0) else 0
    arguments = referred(body, 1)
    words = data[arguments:arguments + 4 + 4 * u32(arguments)]
    # Behind the program: the vector, then the vtable of both tables, Instruction {type, args} and KernelCall {op_index, args}.
    vector = (program + 7) // 8 * 8
    vtable = (vector + 4 + 4 * count + 7) // 8 * 8
    table, inner = vtable + 8, vtable + 20
    more = struct.pack("<I", count) + b"".join(struct.pack("<I", table - (vector + 4 + 4 * k)) for k in range(count))
    more += bytes(vtable - vector - len(more)) + struct.pack("<4H", 8, 12, 4, 8)
    more += struct.pack("<iII", table - vtable, 1, inner - (table + 8)) + struct.pack("<iiI", inner - vtable, operator, 4) + words
    changed = bytearray(data[:program] + bytes(vector - program) + more)
    at = field(chain, 2)
    struct.pack_into("<I", changed, at, vector - at)
    end = (len(changed) + 127) // 128 * 128
    struct.pack_into("<QQ", changed, 16, len(changed), end if segments else 0)
    return bytes(changed) + (bytes(end - len(changed)) + data[segments:] if segments else b"")
