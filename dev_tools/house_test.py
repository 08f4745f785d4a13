#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small made-up trees with one fault in each: every figure of dev_tools/house.py must find its own. A check that cannot fail is a defect."""
import contextlib
import io
import pathlib
import re
import subprocess
import tempfile
import textwrap
import unittest

import house

# A tree without a fault.
CLEAN = {
    "docs/design.md": "# Design\n\n```folders\ncli\ncompile\nnpu/neutron  # a comment\nops\nir\n```\n",
    "ops/all.h": '#include "ops/prelu/prelu.h"\n#include "ops/max_pool2d/max_pool2d.h"\n#include "ir/type.h"\n',
    "ops/prelu/prelu.h": "struct Prelu {};\n",
    "ops/max_pool2d/max_pool2d.h": "struct MaxPool2d {};\n",
    "compile/fuse.cpp": '#include "ops/all.h"\nvoid fuse() {\n}\n',
    "ir/type.h": "struct Type {};\n",
}


def figure(name, files):
    """The figure of the clean tree with `files` in it."""
    with tempfile.TemporaryDirectory() as folder:
        for path, text in {**CLEAN, **files}.items():
            file = pathlib.Path(folder, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return house.FIGURES[name](house.Tree(folder))


class Figures(unittest.TestCase):
    def check(self, name, clean, fault, value):
        """`name` is `clean` in the clean tree and `value` with the files of the fault."""
        self.assertEqual(figure(name, {})[0], clean, name)
        self.assertEqual(figure(name, fault)[0], value, name)

    def test_an_include_that_points_up(self):
        self.check("includes that point up", 0, {"ir/print.cpp": '#include "compile/fuse.h"\n'}, 1)

    def test_an_include_beside(self):
        self.check("includes that point up", 0,
                   {"docs/design.md": "```folders\ntools passes ops\nir\n```\n"}, 1)

    def test_a_folder_without_a_place(self):
        self.check("includes that point up", 0, {"cost/cost.h": '#include "ir/type.h"\n'}, 1)

    def test_a_test_may_include_what_it_likes(self):
        self.check("includes that point up", 0, {"ir/print_test.cpp": '#include "compile/fuse.h"\n'}, 0)

    def test_a_subfolder_with_a_place_of_its_own(self):
        self.check("includes that point up", 0, {"npu/neutron/kernels/prelu/call.h": '#include "compile/fuse.h"\n'}, 1)

    def test_a_circle(self):
        self.check("circles of folders", 0, {"ir/graph.h": '#include "ops/all.h"\n'}, 1)

    def test_prelu_elsewhere(self):
        self.check("files that name prelu outside its folders", 1,  # the list
                   {"compile/a.cpp": "// as for prelu\n", "npu/neutron/kernels/prelu/call.h": "struct PreluCall {};\n",
                    "compile/a_test.cpp": "Prelu p;\n"}, 2)

    def test_an_operator_elsewhere(self):
        self.check("files that name an operator outside its folders, all operators", 0,
                   {"compile/a.cpp": "Prelu p;\nMaxPool2d m;\n", "compile/b.cpp": "Prelu p;  // not MaxPool2d\n"}, 3)

    def test_a_type_test(self):
        self.check("lines that test for an operator's type outside ops/", 0,
                   {"compile/a.cpp": "if (std::holds_alternative<Prelu>(op)) return;\n"
                                    "if (auto* p = std::get_if<const neutron::Pool>(&op)) return;\n"
                                    "if (is_any<Clamp, MaxPool2d>(op)) return;\n"
                                    "if (op_as<Prelu>(g, n)) return;\n"
                                    "if constexpr (requires { o.start; }) return;\n"
                                    "// std::get_if<Prelu>\nstd::vector<Prelu> v;\n",
                    "ops/families.h": "std::get_if<Prelu>(&op);\n"}, 5)

    def test_a_positional_read(self):
        self.check("lines that read a call's argument by its position", 0,
                   {"compile/a.cpp": "x = call.args[0];\ny = call->args.back();\nuse(call.args[i]);\n"
                                    "for (auto& a : call.args) use(a);\njson.args[\"x\"] = 1;\n",
                    "kernels/prelu/bind.cpp": "call.args[0];\n"}, 2)

    def test_a_long_file(self):
        made = {"frontends/pt2/schema/torch_schemas.inc": "\n" * 1000}
        self.check("bytes of the longest product file", len(CLEAN["ops/all.h"]), {"ir/a.h": "\n" * 451, "tests/a.h": "\n" * 1000, **made}, 451)

    def test_a_long_line(self):
        made = {"frontends/pt2/schema/torch_schemas.inc": "x" * 1000}
        self.check("columns of the longest line of C++", 38, {"tests/a.cpp": "int a;\n" + "x" * 101 + "\n", "a.py": "x" * 300, **made}, 101)

    def test_a_long_function(self):
        self.check("lines of the longest function", 2, {"ir/a.cpp": "int a(int b) {\n" + "  ++b;\n" * 70 + "}\n"}, 72)

    def test_a_limit_typed_twice(self):
        self.check("limits of the NPU typed in two files", 0,
                   {"npu/neutron/converter/a.cpp": "int k = 65'535; int32_t all = 2147483647; // 4095\n", "targets/neutron.toml": "taps = 65535 # 4095\n"}, 1)

    def test_a_list_typed_twice(self):
        self.check("lists of names typed in two files", 0,
                   {"ir/a.cpp": 'Row kA[] = {{"one", 1}, {"two", 2}, {"three", 3}, {"four", 4}};\n',
                    "ir/b.cpp": 'Row kB[] = {{"zero", 0}, {"one", f}, {"two", g}, {"three", h}, {"four", i}};\n',
                    "ir/c.cpp": 'f("one"); f("two"); f("three"); f("four");\n'}, 1)

    def test_repeated_code(self):
        body = "".join(f"  int x{k} = {k};\n" for k in range(8))
        self.check("lines of code repeated in another place", 0,
                   {"ir/a.cpp": f"void a() {{\n{body}}}\n", "ir/b.cpp": f"void b() {{ // other\n{body}}}\n"}, 8)

    def test_long_prose(self):
        self.check("lines of prose over 120 characters", 0,
                   {"docs/a.md": "x " * 61 + "\n" + "[a](" + "b" * 120 + ")\n```\n" + "c" * 130 + "\n```\n| " + "d" * 130 + "\n"}, 1)

    def test_over_the_bound(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as printed:
            pathlib.Path(folder, "a.h").write_text("\n" * 9)
            over, _ = house.report(house.Tree(folder), {"bytes of the longest product file": (8, 8)}, False)
        self.assertEqual(over, ["bytes of the longest product file"])
        self.assertIn("OVER: bytes of the longest product file: 9, bound 8", printed.getvalue())

    def test_every_bound_has_a_figure(self):
        self.assertEqual(set(house.BOUNDS), set(house.FIGURES))


class History(unittest.TestCase):
    NAME = "files touched outside its folder by a new operator, kernel or target"

    def test_the_last_operators(self):
        with tempfile.TemporaryDirectory() as folder:
            def commit(subject, files):
                for path, text in files.items():
                    file = pathlib.Path(folder, path)
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_text(text)
                git = ["git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a@example.org"]
                subprocess.run([*git, "add", "."], check=True)
                subprocess.run([*git, "commit", "-qm", subject], check=True)

            subprocess.run(["git", "init", "-q", folder], check=True)
            commit("Begin", {"ir/graph.h": "", "ops/all.h": "", **{f"ops/o{k}/o{k}.h": f"{k}" for k in range(4)}})  # four: no addition
            commit("Add prelu", {"ops/prelu/prelu.h": "prelu", "ops/prelu/prelu.cpp": "", "ir/graph.h": "p", "docs/a.md": "",
                                 "ops/all.h": '#include "ops/prelu/prelu.h"\n'})
            commit("Add a target", {"targets/cortex-m9.toml": ""})
            commit("Change prelu", {"ops/prelu/prelu.h": "prelu 2", "ir/graph.h": "q", "ir/a.h": "",
                                    "ops/all.h": '#include "ops/prelu/prelu.h"\n\n'})
            commit("Add helpers of several operators", {"ops/dense/dense.h": "", "ir/graph.h": "r"})
            value, lines = house.FIGURES[self.NAME](house.Tree(folder))
            self.assertEqual((value, len(lines)), (2, 2), lines)
            with tempfile.TemporaryDirectory() as clone:
                subprocess.run(["git", "clone", "-q", "--depth", "1", f"file://{folder}", clone], check=True)
                value, lines = house.FIGURES[self.NAME](house.Tree(clone))
            self.assertIsNone(value)
            self.assertIn("the clone is shallow", lines[0])


class Functions(unittest.TestCase):
    def found(self, text):
        return [(last - first + 1, name) for first, last, name in house.functions(house.blank(textwrap.dedent(text)))]

    def test_what_is_a_function(self):
        self.assertEqual(self.found('''\
            #define BODY(x) { x
            namespace a {
            MAKE_KERNEL(A, B,
                        f(g(), 1))

            // { in a comment
            int one() {
              const char* s = "}{"; char c = '{'; auto r = R"x(}}} ")x"; int n = 1'000;
            }
            struct S : T {
              S(int x)
                  : x_{x}, y_{2} {
                go();
              }
              bool operator()(int k) const { return k; }
            };
            template <class T, class = decltype(f())>
            auto two(T t) -> decltype(t) {
              const auto inner = [&](int k) {
                return k;
              };
            }
            struct R three(int k) {
              if (k) { return {}; }
            }
            constexpr Row kRows[] = {
                {"a", f(1)},
                {"b", g()},
            };
            constexpr auto kMore = std::to_array<Row>({
                {f(1)},
            });
            }
            '''), [(3, "one"), (4, "S"), (1, "operator()"), (6, "two"), (3, "three")])

    def test_known_functions(self):
        """Every function of this tree that begins and ends at the left margin, as an eye sees it."""
        tree = house.Tree(pathlib.Path(__file__).resolve().parent.parent)
        seen = 0
        for name in tree.product():
            lines = tree.text(name).splitlines()
            ends = {last: first for first, last, _ in house.functions(tree.code(name))}
            for first, line in enumerate(lines, 1):
                if re.match(r"(?!struct |class |namespace )[A-Za-z][^=]*\) (const )?\{$", line):
                    last = next(k for k in range(first, len(lines) + 1) if lines[k - 1] == "}")
                    self.assertIn(last, ends, f"{name}:{first}: {line}")
                    self.assertLessEqual(ends[last], first, f"{name}:{first}: {line}")
                    self.assertGreaterEqual(ends[last], first - 3, f"{name}:{first}: {line}")
                    seen += 1
        self.assertGreater(seen, 1000)


if __name__ == "__main__":
    unittest.main()
