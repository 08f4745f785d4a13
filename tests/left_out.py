# SPDX-License-Identifier: Apache-2.0
"""Stands for the part of a test that needs files which the repository does not carry: says so, and is skipped.

    left_out.py WHAT"""
import sys

print(f"left out: {sys.argv[1]}")
sys.exit(77)
