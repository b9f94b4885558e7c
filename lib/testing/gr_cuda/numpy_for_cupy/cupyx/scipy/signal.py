# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""SciPy in place of CuPy, for simulated devices."""

from scipy.signal import upfirdn  # noqa: F401
