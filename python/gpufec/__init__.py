#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
#

"""Forward error correction decoders that run on a GPU or, if none can be used, on the CPU.

The blocks are
  - gpu_viterbi_pbvd and conv_encoder, for convolutional codes
  - gpu_ldpc_dvbs2 and ldpc_encoder, for the LDPC codes of DVB-S2 and other standards
  - bch_decoder and bch_encoder, for the BCH codes of DVB
  - bbframe_to_ts, which extracts transport streams from BBFRAMEs
  - dvbs2_fec_receiver, which decodes symbols of DVB-S2 to a transport stream
  - ccsds_fec_receiver, which decodes soft symbols of CCSDS telemetry to transfer frames, and
    ccsds_deframer, which finds these frames in bits
  - dvbs_fec_receiver, which decodes symbols of DVB-S to a transport stream
  - dvbs_deframer, which decodes the frames of DVB-S after a Viterbi decoder
  - rs_decoder and rs_encoder, for the Reed-Solomon codes of CCSDS and DVB
  - gpu_sync_map and sync_encoder, for channels that insert or delete bits
  - channel_bsid, which simulates such a channel

conv_presets() lists the convolutional codes of standards, polynomials_from_gr_fec() converts
polynomials, and codebook_*() make codebooks for gpu_sync_map.

The parameter positive_bit is the bit that a positive soft value means. The default in
gpu_viterbi_pbvd is 1, as in gr-fec, gr-digital, gr-satellites and SatDump. The default in
gpu_ldpc_dvbs2 (as in gr-dvbs2rx) and in gpu_sync_map is 0.

fec_viterbi_decoder and fec_ldpc_decoder are decoders for the blocks of gr-fec.

viterbi_decode, ldpc_decode, sync_decode, rs_decode and other functions process arrays without a
flowgraph. The package gpufec has the same functions and needs no GNU Radio.
"""

from . import _constructors, arrays, gpufec_python
from ._gpufec import __version__
from .arrays import *
from .gpufec_python import *

# help() shows bound classes only if __all__ names them.
__all__ = sorted({name for name in dir(gpufec_python) if not name.startswith("_")}
                 | set(arrays.__all__))

for _name, _bound in vars(gpufec_python).items():
    if isinstance(_bound, type):
        _constructors.explain(_bound)


def __getattr__(name):
    # Imports these classes on first use, because their module needs gnuradio.fec.
    if name in ("fec_ldpc_decoder", "fec_viterbi_decoder"):
        from . import gpufec_fec_python
        found = getattr(gpufec_fec_python, name)
        if not hasattr(found.__init__, "__wrapped__"):
            _constructors.explain(found)
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
