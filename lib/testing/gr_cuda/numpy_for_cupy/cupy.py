# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""NumPy in place of CuPy, for simulated devices, whose memory is that of the host."""

from numpy import asarray, clip, rint  # noqa: F401
