#!/usr/bin/env python3
#
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
#

"""Tests dvbs_deframer and dvbs_fec_receiver with gr-dtv as the transmitter, and compares their
packets with those of gr-dtv's receiver for the same noise."""

import time
import unittest

import numpy as np
import pmt
from gnuradio import blocks, dtv, gpufec, gr
import qa_support
from qa_viterbi_running import eventually

RATES = {"1/2": dtv.C1_2, "2/3": dtv.C2_3, "3/4": dtv.C3_4, "5/6": dtv.C5_6, "7/8": dtv.C7_8}
REED_SOLOMON = 2, 8, 0x11d, 255, 239, 8, 51, 8


def run_chain(source, *chain, item_bytes=1):
    sink = blocks.vector_sink_b(item_bytes)
    graph = gr.top_block()
    graph.connect(source, *chain, sink)
    graph.run()
    return np.array(sink.data(), np.uint8)


def transport_packets(count, seed=1):
    packets = np.random.default_rng(seed).integers(0, 256, (count, 188), np.uint8)
    packets[:, 0] = 0x47
    packets[:, 1] &= 0x7f # clears the transport error indicator
    return packets


def frames_of(packets):
    """Returns the interleaved frames that gr-dtv makes of `packets`, without the first 16. In the
    first 11 the interleaver outputs its initial zeros; 16 is the next multiple of the 8 packets of
    an energy dispersal period. gr-dtv does not send the last packets."""
    frames = run_chain(qa_support.vector_source(packets.ravel()), dtv.dvbt_energy_dispersal(1),
                       dtv.dvbt_reed_solomon_enc(*REED_SOLOMON),
                       dtv.dvbt_convolutional_interleaver(136, 12, 17))
    return frames[16 * 204:]


def symbols_of(frames, rate):
    """Encodes `frames` at `rate` with gr-dtv's convolutional encoder. Returns QPSK symbols of
    energy 1."""
    coded = run_chain(qa_support.vector_source(frames),
                      dtv.dvbt_inner_coder(1, 1512, dtv.MOD_QPSK, dtv.NH, RATES[rate]),
                      item_bytes=1512)
    return ((1 - 2.0 * (coded >> 1)) + 1j * (1 - 2.0 * (coded & 1))) / np.sqrt(2)


def with_noise(symbols, es_n0_db, seed=1):
    random = np.random.default_rng(seed)
    noise = random.standard_normal(len(symbols)) + 1j * random.standard_normal(len(symbols))
    return symbols + np.sqrt(0.5 * 10 ** (-es_n0_db / 10)) * noise


def receive(symbols, tags=(), **parameters):
    """Decodes `symbols` with dvbs_fec_receiver. Returns the block, the packets as rows, and the
    tags."""
    receiver = gpufec.dvbs_fec_receiver(backend="cpu", **parameters)
    source = blocks.vector_source_c(symbols.astype(np.complex64), False, 1, list(tags))
    items, tags = qa_support.run(source, receiver)
    return receiver, items.reshape(-1, 188), tags


def deframe(items, tags=(), **parameters):
    block = gpufec.dvbs_deframer(**parameters)
    out, tags = qa_support.run(qa_support.vector_source(items, tags), block)
    return block, out.reshape(-1, 188), tags


def dtv_receive(symbols, rate):
    """Decodes `symbols` at `rate` with gr-dtv's receiver, which uses hard decisions and finds no
    phase. Returns the packets as rows."""
    items = run_chain(blocks.vector_source_c(symbols.astype(np.complex64)),
                      dtv.dvbt_demap(1, dtv.MOD_QPSK, dtv.NH, dtv.T2k, 1.0),
                      dtv.dvbt_viterbi_decoder(dtv.MOD_QPSK, dtv.NH, RATES[rate], 768),
                      dtv.dvbt_convolutional_deinterleaver(136, 12, 17),
                      dtv.dvbt_reed_solomon_dec(*REED_SOLOMON), dtv.dvbt_energy_descramble(8))
    return items[:len(items) // 188 * 188].reshape(-1, 188)


def numbers_of(received, packets):
    """Returns for each packet in `received` the index of the equal packet in `packets`; −1 if there
    is none."""
    known = {packet.tobytes(): n for n, packet in enumerate(packets)}
    return [known.get(packet.tobytes(), -1) for packet in received]


def warnings_of(function, *args, **parameters):
    lines = []
    with qa_support.output_of_process(lines):
        function(*args, **parameters)
        time.sleep(0.3) # waits for the thread that writes the log
    return [line for line in lines if "warning" in line and "buffer" not in line]


class qa_dvbs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.packets = transport_packets(320)
        cls.frames = frames_of(cls.packets)
        cls.count = len(cls.frames) // 204
        cls.symbols = {rate: symbols_of(cls.frames, rate) for rate in RATES}

    def assert_consecutive(self, received, minimum):
        """Asserts that at least `minimum` packets are received, all of them correct and without a
        gap."""
        numbers = numbers_of(received, self.packets)
        self.assertGreaterEqual(len(numbers), minimum)
        self.assertEqual(numbers, list(range(numbers[0], numbers[0] + len(numbers))))

    def test_FramesOfGrDtv_YieldSentPackets(self):
        bits = np.unpackbits(self.frames)
        for skipped, inverted in ((0, 0), (0, 1), (3, 0), (1637, 1)):
            with self.subTest(skipped=skipped, inverted=inverted):
                stream = np.packbits(bits[skipped:] ^ inverted)
                block, received, tags = deframe(stream)
                first = -(-skipped // 1632)
                expected = self.packets[16 + first:16 + self.count - 11]
                self.assertTrue(np.array_equal(received, expected))
                self.assertTrue(block.synchronised())
                self.assertEqual((block.packet_count(), block.packet_error_count(),
                                  block.corrected_byte_count(), block.sync_loss_count()),
                                 (len(expected), 0, 0, 0))
                self.assertEqual(qa_support.tags_of(tags, "ts_begin"), [(0, -1)])
                self.assertEqual(qa_support.tags_of(tags, "ts_error"), [])

    def test_ErrorsAndLoss_AreCountedTaggedAndReported(self):
        frames = self.frames.copy()
        frames[20 * 204 + 12:20 * 204 + 12 + 9 * 12:12] ^= 1 # nine bytes of packet 20
        frames[30 * 204 + 12:30 * 204 + 12 + 8 * 12:12] ^= 1 # eight bytes of packet 30
        stream = np.delete(frames, slice(60 * 204 + 100, 60 * 204 + 101)) # a lost byte
        block = gpufec.dvbs_deframer()
        sink, messages = blocks.vector_sink_b(), qa_support.message_sink()
        graph = gr.top_block()
        graph.connect(qa_support.vector_source(stream), block, sink)
        graph.msg_connect(block, "status", messages, "in")
        graph.run()
        received = np.array(sink.data(), np.uint8).reshape(-1, 188)
        numbers = np.array(numbers_of(received, self.packets))
        wrong = [int(i) for i in np.flatnonzero(numbers < 0)]
        right = [int(n) - 16 for n in numbers[numbers >= 0]]
        # Packets 50 to 59 extend over the lost byte. Packets 49 and 60 end and begin in its frame.
        self.assertEqual([n for n in right if n not in (49, 60)],
                         [n for n in range(self.count - 11) if n != 20 and not 49 <= n <= 60])
        self.assertEqual(wrong[0], 20)
        self.assertTrue((received[wrong, 1] & 0x80).all())
        # In packets 49 and 60, eight bytes are wrong too.
        self.assertEqual((block.packet_error_count(), block.corrected_byte_count(),
                          block.sync_loss_count()), (len(wrong), 24, 1))
        tags = sink.tags()
        self.assertEqual([at for at, _ in qa_support.tags_of(tags, "ts_error")],
                         [188 * i for i in wrong])
        begins = [at // 188 for at, _ in qa_support.tags_of(tags, "ts_begin")]
        # 10 wrong sync bits are allowed, so the search may also accept the previous frame.
        first = int(np.flatnonzero(numbers >= 16 + 60)[0])
        self.assertIn(begins, ([0, first], [0, first - 1]))
        events = [pmt.to_python(m) for m in messages.messages]
        self.assertEqual([m["event"] for m in events], ["synchronised", "ended"])
        self.assertEqual(events[-1], {
            "event": "ended", "packet_count": len(received), "packet_error_count": len(wrong),
            "corrected_byte_count": 24, "sync_loss_count": 1})

    def test_InputTags_MoveToTheirPacket(self):
        key = pmt.mp("a")
        tags = [(at, key, pmt.from_long(at)) for at in (0, 100, 300, 304, 10000)]
        tags.append((5, pmt.mp("packet_len"), pmt.from_long(20)))
        stream = np.concatenate([np.arange(100, dtype=np.uint8), self.frames])
        for length_tag in ("packet_len", ""):
            _, _, out = deframe(stream, tags, length_tag=length_tag)
            self.assertEqual(qa_support.tags_of(out, "a"),
                             [(0, 0), (0, 100), (0, 300), (188, 304), (188 * 48, 10000)])
            self.assertEqual(len(qa_support.tags_of(out, "packet_len")), length_tag == "")

    def test_SmallBuffers_YieldSamePackets(self):
        _, expected, _ = deframe(self.frames)
        block = gpufec.dvbs_deframer()
        source = qa_support.array_source(self.frames, 700, 3)
        items, _ = qa_support.run(source, block, 188)
        self.assertTrue(np.array_equal(items, expected.ravel()))

    def test_SecondRun_BeginsANewStream(self):
        block = gpufec.dvbs_deframer()
        for part in (self.frames[:60 * 204 + 50], self.frames[9 * 204:]):
            items, tags = qa_support.run(qa_support.vector_source(part), block)
            expected = len(part) // 204 - 11
            self.assertEqual(len(items), 188 * expected)
            self.assertEqual(block.packet_count(), expected)
            self.assertEqual(qa_support.tags_of(tags, "ts_begin"), [(0, -1)])

    def test_WrongInput_CausesOneWarning(self):
        random = np.random.default_rng(1)
        self.assertEqual(warnings_of(deframe, self.frames), [])
        for items, words in ((np.unpackbits(self.frames), "use packed_output=True"),
                             (random.integers(0, 256, 1 << 21, np.uint8), "no frames of DVB-S"),
                             (np.zeros(1 << 21, np.uint8), "no frames of DVB-S")):
            lines = warnings_of(deframe, items)
            self.assertEqual(len(lines), 1, lines)
            self.assertIn(words, lines[0])

    def test_EveryRateAndPhase_IsReceived(self):
        """Each rate is received at each rotation, with I and Q exchanged or not, from any symbol
        on, with the rate given or found. All packets in complete frames are output."""
        for rate, symbols in self.symbols.items():
            whole = len(symbols) * 2 * eval(rate) // 1632 - 11
            for turn in range(8):
                noisy = with_noise(symbols, 12, turn)[7 * turn:] * 1j ** turn
                noisy = noisy if turn < 4 else noisy.conj()
                for given in ("auto", rate):
                    with self.subTest(rate=rate, turn=turn, given=given):
                        receiver, received, tags = receive(10.0 ** (turn - 4) * noisy,
                                                           rate=given)
                        self.assert_consecutive(received, whole - 2)
                        self.assertTrue(receiver.locked() and receiver.synchronised())
                        self.assertEqual(receiver.packet_error_count(), 0)
                        self.assertEqual(receiver.sync_loss_count(), 0)
                        state = pmt.to_python(receiver.lock_state())
                        self.assertEqual(state["preset"], "dvb_" + rate.replace("/", "_"))
                        self.assertEqual(qa_support.tags_of(tags, "ts_begin"), [(0, -1)])

    def test_SameNoise_YieldsAtLeastAsManyPacketsAsGrDtv(self):
        """The phase and the rate are given to gr-dtv's receiver. The hard decisions of that
        receiver cost about 2 dB."""
        minimum, more = 0, 0
        for rate, first in (("1/2", 2), ("2/3", 3.5), ("3/4", 4.5), ("5/6", 5.5), ("7/8", 6)):
            for es_n0_db in (first, first + 1, first + 2, first + 3):
                with self.subTest(rate=rate, es_n0_db=es_n0_db):
                    noisy = with_noise(self.symbols[rate], es_n0_db)
                    _, received, _ = receive(noisy, rate=rate)
                    ours = sum(n >= 0 for n in numbers_of(received, self.packets))
                    theirs = sum(n >= 0 for n in
                                 numbers_of(dtv_receive(noisy, rate), self.packets))
                    self.assertGreaterEqual(ours, theirs)
                    minimum += theirs
                    more += ours - theirs
        self.assertGreater(minimum, 500)
        self.assertGreater(more, 2000)

    def test_IntegerSymbols_AreReceivedLikeFloats(self):
        noisy = with_noise(self.symbols["3/4"], 7)
        _, expected, _ = receive(noisy, rate="3/4")
        parts = np.stack([noisy.real, noisy.imag], axis=1)
        for kind, scale, dtype in (("symbols16", 5000, np.int16), ("symbols8", 40, np.int8)):
            limit = np.iinfo(dtype).max
            items = np.rint(scale * parts).clip(-limit, limit).astype(dtype)
            received = run_chain(
                blocks.vector_source_b(items.view(np.uint8).ravel().tolist()),
                blocks.stream_to_vector(1, 2 * items.itemsize),
                gpufec.dvbs_fec_receiver("3/4", kind, backend="cpu"))
            self.assertTrue(np.array_equal(received.reshape(-1, 188), expected), kind)

    def test_DisturbedInput_LosesOnlyDisturbedPackets(self):
        """After each disturbance the next packets are received, and no wrong packet is output as
        correct."""
        random = np.random.default_rng(1)
        noise = random.standard_normal(20000) + 1j * random.standard_normal(20000)
        good = {rate: with_noise(symbols, 10) for rate, symbols in self.symbols.items()}
        first = good["3/4"]
        whole = len(first) * 1.5 // 1632 - 11
        for name, between, second, rate in (
                ("lost symbol", [], first[1:], "3/4"),
                ("quarter turn", [], 1j * first, "3/4"),
                ("noise", noise, first, "3/4"),
                ("constant", np.full(20000, 1 + 1j), first, "3/4"),
                ("silence", np.zeros(20000), first, "3/4"),
                ("not a number", np.full(3000, np.nan), first, "3/4"),
                ("another rate", [], good["1/2"], "1/2"),
                ("another rate after noise", noise, good["7/8"], "7/8")):
            with self.subTest(name):
                receiver, received, _ = receive(np.concatenate([first, between, second]))
                numbers = np.array(numbers_of(received, self.packets))
                wrong = received[numbers < 0]
                self.assertTrue((wrong[:, 1] & 0x80).all())
                self.assertEqual(receiver.packet_error_count(), len(wrong))
                expected = whole + len(second) * 2 * eval(rate) // 1632 - 11
                self.assertGreaterEqual((numbers >= 0).sum(), expected - 6)

    def test_StatusOfBothBlocks_IsPublished(self):
        receiver, messages = gpufec.dvbs_fec_receiver(backend="cpu"), qa_support.message_sink()
        graph = gr.top_block()
        graph.connect(blocks.vector_source_c(self.symbols["2/3"].astype(np.complex64)), receiver,
                      blocks.vector_sink_b())
        graph.msg_connect(receiver, "status", messages, "in")
        graph.run()
        events = [pmt.to_python(m)["event"] for m in messages.messages]
        for event in ("started", "lock", "synchronised", "ended"):
            self.assertIn(event, events)
        self.assertEqual(receiver.active_backend(), "cpu")
        self.assertLess(receiver.channel_error_rate(), 1e-3)

    def test_LostLock_EndsSynchronisation(self):
        """The deframer loses synchronisation when the Viterbi decoder loses its lock. Without a
        lock, the deframer receives no bits, so it cannot detect missing frames itself."""
        symbols = self.symbols["1/2"]
        noise = with_noise(np.zeros(100000), 0)
        source = qa_support.array_source(
            np.concatenate([symbols, noise]).astype(np.complex64), held=True)
        source.limit = len(symbols)
        receiver = gpufec.dvbs_fec_receiver(backend="cpu")
        graph = gr.top_block()
        graph.connect(source, receiver, blocks.vector_sink_b())
        graph.start()
        try:
            self.assertTrue(eventually(receiver.synchronised))
            source.limit += len(noise)
            self.assertTrue(eventually(lambda: not receiver.locked()))
            self.assertFalse(receiver.synchronised())
        finally:
            source.held = False
            graph.wait()

    def test_LengthTags_AreDropped(self):
        tags = [gr.python_to_tag((at, pmt.mp(key), pmt.from_long(100), pmt.PMT_F))
                for at, key in ((5, "packet_len"), (70000, "packet_len"), (70000, "a"))]
        _, _, out = receive(self.symbols["1/2"], tags)
        self.assertEqual(qa_support.tags_of(out, "packet_len"), [])
        self.assertEqual(qa_support.tags_of(out, "a"), [(188 * (70000 // 1632), 100)])

    def test_WrongParameters_AreRefused(self):
        for wrong in (dict(rate="4/5"), dict(soft_input="float"), dict(slots=0), dict(batch=-1),
                      dict(threads=0), dict(max_latency_ms=-1)):
            with self.assertRaisesRegex(ValueError, next(iter(wrong))):
                gpufec.dvbs_fec_receiver(**wrong)


if __name__ == "__main__":
    qa_support.main()
