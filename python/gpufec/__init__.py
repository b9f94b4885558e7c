#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
#

"""Forward error correction decoders that run on a GPU, or on the CPU without one.

Blocks: gpu_viterbi_pbvd decodes convolutional codes, conv_encoder encodes them;
gpu_ldpc_dvbs2 decodes the LDPC codes of DVB-S2 and others, ldpc_encoder encodes them;
gpu_sync_map decodes where bits were inserted or deleted, sync_encoder encodes for it and
channel_bsid inserts and deletes. conv_presets() lists the codes of the standards,
polynomials_from_gr_fec() converts polynomials,
codebook_*() make those of gpu_sync_map.

positive_bit says which bit a positive soft value means: 1 for gpu_viterbi_pbvd, as in
gr-fec, gr-digital, gr-satellites and SatDump, and 0 for gpu_ldpc_dvbs2, as in gr-dvbs2rx,
unless it is given.
"""

from . import gpufec_python
from .gpufec_python import *
from .gpufec_python import __version__

# So that help() shows what is bound.
__all__ = [name for name in dir(gpufec_python) if not name.startswith("_")]
