# SPDX-License-Identifier: Apache-2.0
"""Many compilations and evaluations on many machines (docs/python.md): `deuteron.sweep`, `deuteron.evaluate`, `deuteron.search`."""
