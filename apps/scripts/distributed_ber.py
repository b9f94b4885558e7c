#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulates error rates on the workers of a Dask scheduler, for `gpufec ber DECODER --scheduler`.

ber_on_cluster() in apps/commands/plot.cc starts this script with the name of the decoder and the
options of `gpufec ber`."""

import sys

try:
    from gpufec import distributed
except ModuleNotFoundError:
    from gnuradio.gpufec import distributed

if __name__ == "__main__":
    sys.exit(distributed.main())
