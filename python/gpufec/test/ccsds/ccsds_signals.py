# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later

"""A transmitter of CCSDS telemetry and telecommands by the definitions of CCSDS 131.0-B and
231.0-B, in NumPy.

Only the encoders of convolutional and LDPC codes use GNU Radio and the module under test.
"""

import numpy as np

MARKER = np.unpackbits(np.array([0x1a, 0xcf, 0xfc, 0x1d], np.uint8))
AR4JA_MARKER = np.unpackbits(np.array([0x03, 0x47, 0x76, 0xc7, 0x27, 0x28, 0x95, 0xb0], np.uint8))


def _field():
    """Returns logarithms and powers of alpha in the field of 131.0-B, 4.3.3."""
    powers, element = np.zeros(510, int), 1
    for i in range(255):
        powers[i] = powers[i + 255] = element
        element = element << 1 ^ (0x187 if element & 0x80 else 0)
    logarithms = np.zeros(256, int)
    logarithms[powers[:255]] = np.arange(255)
    return logarithms, powers


LOG, EXP = _field()
TELECOMMAND_GENERATOR = {
    "tc-ldpc-128": ["0E69166BEF4C0BC2", "7766137EBB248418", "C480FEB9CD53A713",
                    "4EAA22FA465EEA11"],
    "tc-ldpc-512": ["1D21794A22761FAE59945014257E130D74D60540037940142DADEB9CA25EF12E",
                    "60E0B6623C5CE5124D2C81ECC7F469AB20678DBFB7523ECE2B54B906A9DBE98C",
                    "F6739BCF54273E77167BDA120C6C47744C071EFF5E32A7593138670C095C39B5",
                    "28706BD0453002582DAB85F05B9201D08DFDEE2D9D84CA88B371FAE63A4EB07E"]}


def _product(a, b):
    return 0 if a == 0 or b == 0 else EXP[LOG[a] + LOG[b]]


def _generator(errors):
    """Returns the coefficients, the highest first, of the generator polynomial of the code that
    corrects `errors` symbols (131.0-B, 4.3.4)."""
    polynomial = [1]
    for j in range(128 - errors, 128 + errors):
        root = EXP[11 * j % 255]
        times_root = [_product(c, root) for c in polynomial]
        polynomial = [a ^ b for a, b in zip(polynomial + [0], [0] + times_root)]
    return polynomial


def _dual_basis():
    """Returns the tables to and from the dual basis (131.0-B, annex F)."""
    columns = [0x8d, 0xef, 0xec, 0x86, 0xfa, 0x99, 0xaf, 0x7b]
    to_dual = np.zeros(256, np.uint8)
    for value in range(256):
        for k in range(8):
            if value >> k & 1:
                to_dual[value] ^= columns[7 - k]
    from_dual = np.zeros(256, np.uint8)
    from_dual[to_dual] = np.arange(256)
    return to_dual, from_dual


TO_DUAL, FROM_DUAL = _dual_basis()


def reed_solomon(frame, name, interleaving):
    """Returns the interleaved codewords of a frame. `name` is a code of ccsds_deframer."""
    errors = 16 if "223" in name else 8
    dual = "conventional" not in name
    generator = _generator(errors)
    words = []
    for message in np.reshape(frame, (-1, interleaving)).T:
        message = FROM_DUAL[message] if dual else message
        remainder = [0] * (2 * errors)
        for symbol in message:
            factor = int(symbol) ^ remainder[0]
            remainder = [r ^ _product(factor, g)
                         for r, g in zip(remainder[1:] + [0], generator[1:])]
        word = np.append(message, remainder).astype(np.uint8)
        words.append(TO_DUAL[word] if dual else word)
    return np.stack(words, axis=1).ravel()


def randomiser(name, count):
    """Returns the first `count` bits of a pseudo-randomiser (131.0-B, 10.4)."""
    if name == "none":
        return np.zeros(count, np.uint8)
    bits = [1] * 8 if name == "short" else [0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1]
    taps = (7, 5, 3, 0) if name == "short" else (14, 0)
    while len(bits) < count:
        n = len(bits) - (8 if name == "short" else 17)
        bits.append(sum(bits[n + tap] for tap in taps) & 1)
    return np.array(bits[:count], np.uint8)


def ldpc_parameters(name):
    """Returns standard, frame_size and rate of the LDPC code `name` of ccsds_deframer."""
    if name == "c2":
        return "ccsds_c2", "8160", "7/8"
    _, size, rate = name.split("-")
    return "ccsds_ar4ja", size, rate


def frame_bits(frame, code="ccsds-223", interleaving=1, randomiser_name="short"):
    """Encodes and randomises `frame`, and returns its bits with the marker before them."""
    if "ccsds" in code:
        sent = np.unpackbits(reed_solomon(frame, code, interleaving))
    elif code == "none":
        sent = np.unpackbits(frame)
    else:
        from gnuradio import gpufec
        standard, size, rate = ldpc_parameters(code)
        sent = np.unpackbits(gpufec.ldpc_encode(frame[np.newaxis], standard, size, rate)[0])
    marker = AR4JA_MARKER if "ar4ja" in code else MARKER
    return np.append(marker, sent ^ randomiser(randomiser_name, len(sent)))


def transmit(count, frame_bytes, seed, convolutional="none", differential=False, before=0,
             **code):
    """Returns random frames, one per row, and the bits that are sent. The stream begins with
    `before` random bits."""
    random = np.random.default_rng(seed)
    frames = random.integers(0, 256, (count, frame_bytes)).astype(np.uint8)
    bits = np.concatenate([random.integers(0, 2, before).astype(np.uint8),
                           *(frame_bits(frame, **code) for frame in frames)])
    if differential:
        bits = np.bitwise_xor.accumulate(bits)
    if convolutional != "none":
        from gnuradio import gpufec
        bits = gpufec.conv_encode(bits, preset=convolutional, packed_input=False,
                                  packed_output=False)
    return frames, bits


def telecommand_codewords(frame, code):
    """Encodes `frame` without randomiser, and returns the bits of each codeword as a row. The
    parity bits of BCH are computed by polynomial division (231.0-B, 3), those of LDPC from the
    first rows of the circulants of the generator matrix (231.0-B, 4)."""
    size = 7 if "bch" in code else int(code[-3:]) // 16
    filled = np.concatenate([frame, np.full(-len(frame) % size, 0x55, np.uint8)])
    messages = np.unpackbits(filled.reshape(-1, size), axis=1)
    if "bch" not in code:
        rows = TELECOMMAND_GENERATOR[code]
        first = np.array([int(bit) for row in rows for bit in f"{int(row, 16):0{8 * size}b}"])
        first = first.reshape(4, 4, 2 * size) # 4 by 4 circulants
        parity = [np.concatenate([np.roll(block, shift) for block in row])
                  for row in first for shift in range(2 * size)]
        return np.hstack([messages, messages @ np.array(parity, np.uint8) & 1])
    words = []
    for message in messages:
        remainder = np.append(message, np.zeros(7, np.uint8))
        for i in range(56):
            remainder[i:i + 8] ^= remainder[i] * np.array([1, 1, 0, 0, 0, 1, 0, 1], np.uint8)
        words.append(np.concatenate([message, 1 - remainder[56:], [0]]))
    return np.array(words, np.uint8)


def cltu_bits(frame, code="tc-bch", randomiser_name="short"):
    """Encodes `frame`, and returns the bits of a CLTU with start and tail sequences (231.0-B,
    5.2)."""
    if randomiser_name != "none":
        bits = [1] * 8
        while len(bits) < 8 * (len(frame) + 64):
            bits.append(sum(bits[len(bits) - 8 + tap] for tap in (0, 1, 2, 3, 4, 6)) & 1)
        sequence = np.array(bits, np.uint8)
    else:
        sequence = np.zeros(8 * (len(frame) + 64), np.uint8)
    if "bch" in code:
        start, tail = "eb90", "c5" * 7 + "79"
        sent = np.packbits(np.unpackbits(frame) ^ sequence[:8 * len(frame)])
        words = telecommand_codewords(sent, code)
    else:
        start = "034776c7272895b0"
        tail = "63a1ed72c6ac79e2" + "55" * 8 if code == "tc-ldpc-128" else ""
        words = telecommand_codewords(frame, code)
        words = words ^ sequence[:words.shape[1]]
    return np.concatenate([np.unpackbits(np.frombuffer(bytes.fromhex(start), np.uint8)),
                           words.ravel(),
                           np.unpackbits(np.frombuffer(bytes.fromhex(tail), np.uint8))])


def uplink(sizes, seed, code, randomiser_name="short", idle=64):
    """Returns random frames of `sizes` bytes, and the bits of their CLTUs with `idle` alternating
    bits after each and before the first."""
    random = np.random.default_rng(seed)
    frames = [random.integers(0, 256, size).astype(np.uint8) for size in sizes]
    alternating = np.arange(max(idle, 512)).astype(np.uint8) & 1
    parts = [alternating]
    for frame in frames:
        parts += [cltu_bits(frame, code, randomiser_name), alternating[:idle]]
    return frames, np.concatenate([*parts, alternating])


def soft(bits, soft_input="int8", sigma=0.0, seed=1):
    """Returns soft values of `bits`, positive for 1, with noise of standard deviation `sigma`
    relative to the amplitude."""
    values = 2.0 * bits - 1 + sigma * np.random.default_rng(seed).standard_normal(len(bits))
    if soft_input == "float":
        return values.astype(np.float32)
    steps = np.clip(np.rint(32 * values), -127, 127).astype(np.int8)
    return steps if soft_input == "int8" else (steps.view(np.uint8) ^ 0x80)


def rotate(values, quarters, swapped=False, shift=0):
    """Rotates QPSK symbols (pairs of soft values) by `quarters` times 90 degrees. If `swapped`,
    first exchanges I and Q. `shift` further values precede the result, so that an odd `shift`
    splits the pairs."""
    pairs = values[:len(values) // 2 * 2].reshape(-1, 2)
    symbols = pairs[:, 0] + 1j * pairs[:, 1].astype(float)
    if swapped:
        symbols = symbols.imag + 1j * symbols.real
    symbols = symbols * 1j**quarters
    turned = np.stack([symbols.real, symbols.imag], axis=1).ravel().astype(values.dtype)
    return np.append(turned[:shift], turned)
