#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks an installed package of the GNU Radio module: decodes frames in a flowgraph, as an array,
and with the program gpufec. Also checks that the blocks of GNU Radio Companion are installed."""

import pathlib
import subprocess
import tempfile

import numpy as np
from gnuradio import blocks, gpufec, gr

code = {"termination": "tailbiting", "frame_bits": 120}
bits = gpufec.random_bits((5, 120))
values = gpufec.awgn(gpufec.conv_encode(bits, packed_input=False, packed_output=False, **code),
                     6.0, 0.5)
expected = np.packbits(bits, axis=1)
decoded, status = gpufec.viterbi_decode(values, **code)
assert (decoded == expected).all()

sink, top = blocks.vector_sink_b(), gr.top_block()
top.connect(blocks.vector_source_b(values.ravel().view(np.uint8).tolist()),
            gpufec.gpu_viterbi_pbvd(**code), sink)
top.run()
assert (np.array(sink.data()) == expected.ravel()).all()

with tempfile.TemporaryDirectory() as folder:
    soft, hard = pathlib.Path(folder, "values"), pathlib.Path(folder, "bits")
    values.tofile(soft)
    subprocess.run(["gpufec", "decode", "viterbi", "--termination", "tailbiting", "--frame-bits",
                    "120", soft, hard], check=True)
    assert (np.fromfile(hard, np.uint8) == expected.ravel()).all()

installed = pathlib.Path(gr.prefix(), "share", "gnuradio", "grc", "blocks")
found = sorted(installed.glob("gpufec*.block.yml"))
assert len(found) >= 7, found
print(gpufec.__version__, status.backend, len(found), "blocks of GNU Radio Companion")
