#
# Copyright 2026 gr-gpufec developers
#
# SPDX-License-Identifier: GPL-3.0-or-later
#

"""Forward error correction decoders that run on a GPU, or on the CPU without one.

Blocks: gpu_viterbi_pbvd decodes convolutional codes, conv_encoder encodes them.
conv_presets() lists the codes of the standards.

Soft values are positive for bit 0. gr-fec and gr-digital have it the other way round:
negate theirs.
"""

from .gpufec_python import *
