# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""NumPy in place of CuPy, for simulated devices, which use the memory of the host."""

from numpy import asarray, clip, rint  # noqa: F401
