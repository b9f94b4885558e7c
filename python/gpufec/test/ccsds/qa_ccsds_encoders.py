#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tests ccsds_decode() with frames that gr-satellites and gr-fec encode.

gr-satellites encodes Reed-Solomon codes with libfec. Because the encoders return the bits of
ccsds_signals, error rates do not depend on the transmitter.
"""

import time
import unittest

import numpy as np
import pmt
from gnuradio import blocks, digital, fec, gr, gpufec

import ccsds_signals as signals

try:
    import satellites
except ImportError as error:
    if error.name != "satellites":
        raise
    satellites = None


def reed_solomon(frames, dual_basis, interleaving):
    """Returns the interleaved codewords of `frames`, one frame per row, from gr-satellites'
    encoder."""
    encoder = satellites.encode_rs(dual_basis, interleaving)
    messages = blocks.message_debug()
    flowgraph = gr.top_block()
    flowgraph.msg_connect(encoder, "out", messages, "store")
    for frame in frames:
        data = pmt.init_u8vector(len(frame), frame.tolist())
        encoder.to_basic_block()._post(pmt.intern("in"), pmt.cons(pmt.PMT_NIL, data))
    flowgraph.start()
    end = time.monotonic() + 60
    while messages.num_messages() < len(frames) and time.monotonic() < end:
        time.sleep(0.01)
    flowgraph.stop()
    flowgraph.wait()
    return np.array([pmt.u8vector_elements(pmt.cdr(messages.get_message(i)))
                     for i in range(len(frames))], np.uint8)


def stream(bits, *chain):
    """Returns the output of `chain`, blocks whose items are bytes, for the input `bits`."""
    flowgraph, sink = gr.top_block(), blocks.vector_sink_b()
    flowgraph.connect(blocks.vector_source_b(bits.tolist()), *chain, sink)
    flowgraph.run()
    return np.array(sink.data(), np.uint8)


def randomised(codewords):
    """Returns the bits of `codewords`, one frame per row, after the pseudo-randomiser of 131.0-B,
    with the parameters of gr-satellites' CCSDS descrambler."""
    bits = np.unpackbits(codewords, axis=1)
    return stream(bits.ravel(), digital.additive_scrambler_bb(
        0xA9, 0xFF, 7, count=bits.shape[1], bits_per_byte=1)).reshape(bits.shape)


def convolutional(bits):
    """Encodes `bits` with gr-fec's encoder, and inverts the second output, G2."""
    encoder = fec.cc_encoder_make(len(bits), 7, 2, [79, -109], 0, fec.CC_STREAMING, False)
    return stream(bits, fec.extended_encoder(encoder, None, "11"))


@unittest.skipIf(satellites is None, "gr-satellites is not installed")
class qa_ccsds_encoders(unittest.TestCase):
    def test_FramesOfOtherEncoders_EqualOwnAndAreDecoded(self):
        for name, dual in (("ccsds-223", True), ("ccsds-223-conventional", False)):
            for interleaving in (1, 2, 5, 8):
                with self.subTest(name, interleaving=interleaving):
                    code = dict(code=name, interleaving=interleaving)
                    frames, bits = signals.transmit(4, 223 * interleaving, 6, **code)
                    codewords = reed_solomon(frames, dual, interleaving)
                    self.assertTrue(np.array_equal(codewords, gpufec.rs_encode(frames, **code)))
                    sent = randomised(codewords)
                    markers = np.tile(signals.MARKER, (len(frames), 1))
                    sent = np.hstack([markers, sent]).ravel()
                    self.assertTrue(np.array_equal(sent, bits))
                    coded = convolutional(sent)
                    self.assertTrue(np.array_equal(coded, gpufec.conv_encode(
                        bits, preset="ccsds", packed_input=False, packed_output=False)))
                    found, _ = gpufec.ccsds_decode(signals.soft(coded, "int8", 0.5), "ccsds",
                                                   backend="cpu", **code)
                    self.assertTrue(np.array_equal(found, frames))


if __name__ == '__main__':
    unittest.main()
