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

fec_viterbi_decoder and fec_ldpc_decoder are decoders for the blocks of gr-fec.

For arrays, without a flowgraph: viterbi_decode, ldpc_decode, sync_decode, and what the
package gpufec has beside them, which needs no GNU Radio.
"""

from . import _constructors, arrays, gpufec_python
from ._gpufec import __version__
from .arrays import *
from .gpufec_python import *

# So that help() shows what is bound.
__all__ = sorted({name for name in dir(gpufec_python) if not name.startswith("_")}
                 | set(arrays.__all__))

for _name, _bound in vars(gpufec_python).items():
    if isinstance(_bound, type):
        _constructors.explain(_bound)


def __getattr__(name):
    # They bring gnuradio.fec along, which takes its time.
    if name in ("fec_ldpc_decoder", "fec_viterbi_decoder"):
        from . import gpufec_fec_python
        found = getattr(gpufec_fec_python, name)
        if not hasattr(found.__init__, "__wrapped__"):
            _constructors.explain(found)
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
