# SPDX-License-Identifier: Apache-2.0
"""What tests share that build projects for boards."""
import os
import shutil


def build_environment(folder):
    """For CMake and the compilers. The compiler cache finds what was compiled in another folder than this one."""
    environment = dict(os.environ, CCACHE_BASEDIR=str(folder), CCACHE_NOHASHDIR="1")
    if shutil.which("ccache"):
        environment.update(CMAKE_CXX_COMPILER_LAUNCHER="ccache", CMAKE_C_COMPILER_LAUNCHER="ccache")
    return environment
