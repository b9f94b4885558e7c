#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs gpufec ber --scheduler with the module "distributed" of the Python package."""

import sys

try:
    from gpufec import distributed
except ModuleNotFoundError:
    from gnuradio.gpufec import distributed

if __name__ == "__main__":
    sys.exit(distributed.main())
