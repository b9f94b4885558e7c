#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
#

"""Forward error correction decoders that run on a GPU, or on the CPU without one.

Blocks: gpu_viterbi_pbvd decodes convolutional codes, conv_encoder encodes them;
gpu_ldpc_dvbs2 decodes the LDPC codes of DVB-S2 and others, ldpc_encoder encodes them;
bch_decoder and bch_encoder have the BCH codes of DVB, bbframe_to_ts extracts transport
streams from BBFRAMEs, and dvbs2_fec_receiver does all of this for the symbols of DVB-S2;
gpu_sync_map decodes streams in which bits were inserted or deleted, sync_encoder
encodes for it, and channel_bsid simulates such a channel. conv_presets() lists the
convolutional codes of the standards, polynomials_from_gr_fec() converts polynomials, and
codebook_*() make codebooks for gpu_sync_map.

positive_bit is the bit that a positive soft value means. Its default is 1 in
gpu_viterbi_pbvd, as in gr-fec, gr-digital, gr-satellites and SatDump, and 0 in
gpu_ldpc_dvbs2, as in gr-dvbs2rx, and in gpu_sync_map.

fec_viterbi_decoder and fec_ldpc_decoder are decoders for the blocks of gr-fec.

viterbi_decode, ldpc_decode, sync_decode and the other functions of the package gpufec,
which needs no GNU Radio, process arrays without a flowgraph.
"""

from . import _constructors, arrays, gpufec_python
from ._gpufec import __version__
from .arrays import *
from .gpufec_python import *

# Sets __all__, so that help() shows the bound classes.
__all__ = sorted({name for name in dir(gpufec_python) if not name.startswith("_")}
                 | set(arrays.__all__))

for _name, _bound in vars(gpufec_python).items():
    if isinstance(_bound, type):
        _constructors.explain(_bound)


def __getattr__(name):
    # These classes are imported on first use, because their module imports gnuradio.fec,
    # which takes time.
    if name in ("fec_ldpc_decoder", "fec_viterbi_decoder"):
        from . import gpufec_fec_python
        found = getattr(gpufec_fec_python, name)
        if not hasattr(found.__init__, "__wrapped__"):
            _constructors.explain(found)
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
