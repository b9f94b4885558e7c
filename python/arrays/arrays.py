# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decoders, encoders and channels for arrays.

Arrays may be NumPy arrays, or any arrays with the DLPack protocol or __cuda_array_interface__. An
array on a CUDA device is decoded by that device, and the result is a device_array on the same
device. Arrays of another type, masked arrays, and arrays with gaps are refused, not converted.
Signal handlers run during a call: Ctrl-C ends the call, and the decoder can be used again.
"""

from ._arguments import check_names
from ._ccsds import ccsds_decode, ccsds_encode_cltu, ccsds_status
from ._channels import awgn, bsid, random_bits
from ._decoding import decode_status
from ._gpufec import (codebook_davey_mackay, codebook_from_file, codebook_marker,
                      codebook_random, conv_preset, conv_presets, find_conv_preset, ldpc_code,
                      polynomials_from_gr_fec, wifi_ppdu)
from ._ldpc import ldpc_decode, ldpc_decoder, ldpc_encode
from ._memory import device_array, pinned_empty, to_device
from ._reed_solomon import rs_decode, rs_encode
from ._sync import sync_decode, sync_decoder, sync_encode
from ._viterbi import conv_encode, viterbi_decode, viterbi_decoder

__all__ = ["awgn", "bsid", "ccsds_decode", "ccsds_encode_cltu", "ccsds_status", "codebook_davey_mackay",
           "codebook_from_file", "codebook_marker", "codebook_random", "conv_encode",
           "conv_preset", "conv_presets", "decode_status", "device_array", "find_conv_preset",
           "ldpc_code", "ldpc_decode", "ldpc_decoder", "ldpc_encode", "pinned_empty",
           "polynomials_from_gr_fec", "random_bits", "rs_decode", "rs_encode", "sync_decode",
           "sync_decoder", "sync_encode", "to_device", "viterbi_decode", "viterbi_decoder",
           "wifi_ppdu"]


def _publish(found):
    """Sets the module of `found`, a function or class, to this module, for help() and pickle."""
    if getattr(found, "__module__", None) in _PARTS:
        found.__module__ = __name__
        for member in vars(found).values() if isinstance(found, type) else ():
            _publish(getattr(member, "fget", member))


_PARTS = {f"{__package__}.{part}" for part in ("_arguments", "_ccsds", "_channels", "_decoding",
                                               "_ldpc", "_memory", "_reed_solomon", "_sync",
                                               "_viterbi")}
for _found in [check_names, *viterbi_decoder.__bases__, *map(globals().get, __all__)]:
    _publish(_found)
