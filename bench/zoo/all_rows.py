# SPDX-License-Identifier: Apache-2.0
"""Every row of the zoo."""
import published
import small_signals
import small_vision

ROWS = [*small_vision.ROWS, *small_signals.ROWS, *published.ROWS]
assert len({row.name for row in ROWS}) == len(ROWS)
