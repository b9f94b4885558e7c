# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Forward error correction for arrays, on a GPU or, if none can be used, on the CPU.

viterbi_decode, ldpc_decode and sync_decode decode NumPy arrays and arrays on a CUDA device; the
results of the latter are on the same device. viterbi_decoder, ldpc_decoder and sync_decoder are
decoder objects for repeated use. rs_decode decodes Reed-Solomon codes. conv_encode, ldpc_encode,
rs_encode and sync_encode encode; random_bits makes data; awgn and bsid simulate channels.
conv_presets() lists the convolutional codes of standards, ldpc_code() describes an LDPC code, and
codebook_*() make codebooks for sync_decode. pinned_empty() makes arrays that a GPU reads at full
speed.

The GNU Radio module gnuradio.gpufec has the same functions, and blocks.
"""

from ._gpufec import __version__
from .arrays import *
from .arrays import __all__
