# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Forward error correction on a GPU, or on the CPU without one, for arrays.

viterbi_decode, ldpc_decode and sync_decode decode NumPy arrays, or arrays on a CUDA device,
whose result is on that device too. conv_encode, ldpc_encode and sync_encode encode; random_bits
makes data, and awgn and bsid simulate channels.
viterbi_decoder, ldpc_decoder and sync_decoder are decoder objects for repeated use.
conv_presets() lists the convolutional codes of the standards, ldpc_code() describes an
LDPC code, and codebook_*() make codebooks for sync_decode. pinned_empty() makes arrays
that a GPU reads at full speed.

gnuradio.gpufec, GNU Radio's module, has the same functions beside its blocks.
"""

from ._gpufec import __version__
from .arrays import *
from .arrays import __all__
