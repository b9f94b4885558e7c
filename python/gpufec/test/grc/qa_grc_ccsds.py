#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
#
"""Tests the CCSDS blocks in GNU Radio Companion: a block is valid if the library accepts its
parameters, and invalid (red) if the library refuses them."""

from gnuradio import gpufec

import qa_grc_case
import qa_support as support

BLOCKS = {"gpufec_ccsds_deframer": gpufec.ccsds_deframer,
          "gpufec_ccsds_fec_receiver": gpufec.ccsds_fec_receiver}
SOFT = dict(soft_input="int8")
CODES = [
    dict(), dict(code="none", frame_bytes=1115), dict(code="none"), dict(interleaving=5),
    dict(interleaving=0), dict(interleaving=9), dict(code="none", frame_bytes=9, interleaving=2),
    dict(frame_bytes=223), dict(frame_bytes=224), dict(interleaving=2, frame_bytes=7),
    dict(code="ccsds-239", frame_bytes=239), dict(code="ccsds-239-conventional", frame_bytes=240),
    dict(code="none", frame_bytes=16384), dict(code="none", frame_bytes=16385),
    dict(differential=True), dict(differential=True, constellation="qpsk"),
    dict(soft_scale=0.0, soft_input="float"), dict(soft_scale=-1.0, soft_input="float"),
    dict(false_alarm=0.0), dict(false_alarm=1.0), dict(flywheel=-1), dict(flywheel=101),
    dict(randomiser="long"), dict(drop_failed=False, status_tags="failures", length_tag=""),
]
DEFRAMER = [dict(code="tc-bch"), dict(code="tc-bch-detect", differential=True),
            dict(code="tc-bch", randomiser="long"), dict(code="tc-bch", constellation="qpsk"),
            dict(code="tc-bch", interleaving=2), dict(code="tc-bch", frame_bytes=16385),
            dict(code="tc-ldpc-128"), dict(code="tc-ldpc-128", **SOFT), dict(llr_scale=0.0),
            dict(code="tc-ldpc-512", differential=True, **SOFT), dict(max_iterations=0),
            dict(code="tc-ldpc-512", frame_bytes=100, llr_scale=4.0, max_iterations=50, **SOFT),
            dict(code="c2"), dict(code="c2", **SOFT), dict(code="ar4ja-1024-1/2", **SOFT),
            dict(code="c2", interleaving=2, **SOFT), dict(code="c2", differential=True, **SOFT)]
RECEIVER = [
    dict(convolutional="none"), dict(convolutional="ccsds_7_8", lock="off"),
    dict(convolutional="none", code="c2"), dict(code="c2"),
    dict(convolutional="none", code="ar4ja-16384-4/5", llr_scale=0.0),
    dict(convolutional="none", code="c2", llr_scale=4.0), dict(lock_memory=9999),
    dict(convolutional="none", differential=True, constellation="qpsk"),
    dict(lock_presets=["ccsds_3_4"]), dict(slots=17), dict(threads=0), dict(batch=-1),
    dict(code="tc-bch"), dict(convolutional="none", code="tc-bch", differential=True),
    dict(convolutional="none", code="tc-ldpc-128", frame_bytes=1000),
    dict(convolutional="none", code="tc-ldpc-512", randomiser="long"),
    dict(convolutional="none", code="tc-ldpc-512", differential=True),
    dict(convolutional="none", code="tc-bch", constellation="oqpsk"),
    dict(max_latency_ms=-1.0), dict(backend="cpu"),
]


class qa_grc_ccsds(qa_grc_case.grc_case):
    def test_Blocks_AreRedExactlyWhereLibraryRaises(self):
        for key, make in BLOCKS.items():
            receiver = make is gpufec.ccsds_fec_receiver
            refused = 0
            for parameters in CODES + (RECEIVER if receiver else DEFRAMER):
                with self.subTest(key, **parameters):
                    try:
                        make(**{**parameters, **(dict(backend="cpu") if receiver else {})})
                        right = True
                    except ValueError:
                        right = False
                        refused += 1
                    graph, block = self.graph(key, **{name: str(value)
                                                      for name, value in parameters.items()})
                    text = "\n".join(block.get_error_messages())
                    self.assertEqual(graph.is_valid(), right, text)
                    if not right:
                        self.assertRegex(text, "Assertion")
            self.assertGreater(refused, 10)


if __name__ == "__main__":
    support.main()
