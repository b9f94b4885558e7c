#!/usr/bin/env python3
# Copyright 2026 gr-gpufec developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Distributes the frames of a stream with gr-zeromq to decoders on many hosts.

One flowgraph deals out packets of frames and collects the decoded bits. Each worker runs a second
flowgraph:

    zeromq_frames.py worker --deal tcp://HOST:5801 --collect tcp://HOST:5802    on every host
    zeromq_frames.py deal --frames 100000 --out bits                            on HOST

    stream ─► deal ─► ledger ─► rep_msg_sink ┄┄► req_msg_source ─► decode ─► push_msg_sink ┄┄┐
    stream ◄─ collect ◄─ ledger ◄─ pull_msg_source ◄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┘

A worker requests a packet of frames when it has capacity. The ledger stores each packet
until the packet's decoded bits arrive as an acknowledgement. If the bits do not arrive in
time, for example because the worker died, the ledger sends the packet again. The ledger
drops duplicate results, and outputs the bits in the order of the input.
"""

import argparse
import collections
import functools
import signal
import sys
import threading
import time

import numpy as np
import pmt
from gnuradio import blocks, gpufec, gr

try:
    from gnuradio import zeromq
except ImportError as error:
    sys.exit(f"zeromq_frames: {error}. It needs gr-zeromq: install or build GNU Radio with it. "
             "gpufec.distributed does the same with Dask.")

FRAMES = dict(termination="tailbiting", frame_bits=1024, polynomials=[0o171, 0o133])
ITEMS, BYTES = 2 * FRAMES["frame_bits"], FRAMES["frame_bits"] // 8
NUMBER = pmt.intern("number")


def packet(number, data):
    """Returns a PDU with `number` and `data`, soft values or bits. Each element of the PDU holds
    eight bytes, because the cost in Python is per element."""
    meta = pmt.dict_add(pmt.make_dict(), NUMBER, pmt.from_uint64(number))
    data = data.view(np.uint64)
    return pmt.cons(meta, pmt.init_u64vector(len(data), data.tolist()))


def unpacked(message):
    try:
        number = pmt.to_uint64(pmt.dict_ref(pmt.car(message), NUMBER, pmt.PMT_NIL))
        data = pmt.u64vector_elements(pmt.cdr(message))
    except Exception as error: # PMT raises several types of exceptions
        raise ValueError(f"a message is not a packet: {error}") from error
    return number, np.array(data, np.uint64).view(np.uint8)


def tolerant(handler):
    """Wraps `handler`, a message handler, so that it ignores messages that are not packets; GNU
    Radio would end a block whose handler raises an exception. The first such message of a block is
    reported."""
    @functools.wraps(handler)
    def handle(self, message):
        try:
            handler(self, message)
        except ValueError as error:
            if not self.ignored:
                print(f"zeromq_frames: {error}; such messages are ignored", file=sys.stderr)
            self.ignored += 1
    return handle


class ledger(gr.basic_block):
    """A record of the packets that workers have not yet acknowledged, and of the decoded bits that
    are not yet output."""

    def __init__(self, window, timeout, size=None):
        """Makes an empty ledger.

        At most `window` packets are sent and not yet output. A packet is sent again if it is not
        acknowledged within `timeout` seconds. `size` is the number of bytes in a packet of bits;
        None allows any size.
        """
        gr.basic_block.__init__(self, "ledger", in_sig=None, out_sig=None)
        self.window, self.timeout, self.size = window, timeout, size
        self.changed = threading.Condition()
        # Both dictionaries have packet numbers as keys. `dealt` has the sending time
        # and the soft values of packets that are not yet acknowledged, oldest first.
        # `back` has decoded bits that are not yet output.
        self.dealt = collections.OrderedDict()
        self.back = {}
        self.next_in = self.next_out = self.again = self.ignored = 0
        self.ended = False
        self.message_port_register_out(pmt.intern("frames"))
        self.message_port_register_in(pmt.intern("bits"))
        self.set_msg_handler(pmt.intern("bits"), self.acknowledge)

    def deal(self, values):
        """Sends a packet of soft values, after waiting until fewer than `window` packets are sent
        and not yet output."""
        with self.changed:
            self.changed.wait_for(lambda: self.next_in - self.next_out < self.window)
            number, self.next_in = self.next_in, self.next_in + 1
            self.dealt[number] = (time.monotonic(), values)
        self.message_port_pub(pmt.intern("frames"), packet(number, values))

    @tolerant
    def acknowledge(self, message):
        number, bits = unpacked(message)
        if self.size not in (None, len(bits)):
            raise ValueError(f"a packet of bits has {len(bits)} bytes: it must have {self.size}")
        with self.changed:
            if self.dealt.pop(number, None): # ignores a duplicate result
                self.back[number] = bits
                self.changed.notify_all()

    def deal_again(self):
        """Sends the packets again that have been unacknowledged for more than `timeout` seconds."""
        now, late = time.monotonic(), []
        with self.changed:
            while self.dealt and now - next(iter(self.dealt.values()))[0] > self.timeout:
                number, (_, values) = self.dealt.popitem(last=False)
                self.dealt[number] = (now, values)
                late.append((number, values))
            self.again += len(late)
        for number, values in late:
            self.message_port_pub(pmt.intern("frames"), packet(number, values))

    def take(self):
        """Waits for the next packet in order. Returns its bits, or None at the end of the
        stream."""
        while True:
            with self.changed:
                if self.next_out in self.back:
                    bits = self.back.pop(self.next_out)
                    self.next_out += 1
                    self.changed.notify_all()
                    return bits
                if self.ended and self.next_out == self.next_in:
                    return None
                self.changed.wait(0.05)
            self.deal_again()

    def end(self):
        with self.changed:
            self.ended = True
            self.changed.notify_all()


class deal(gr.sync_block):
    """A sink that passes packets of soft values to the ledger."""

    def __init__(self, book, frames):
        gr.sync_block.__init__(self, "deal", in_sig=[(np.int8, frames * ITEMS)], out_sig=None)
        self.book = book

    def work(self, input_items, output_items):
        for values in input_items[0]:
            self.book.deal(values.copy())
        return len(input_items[0])

    def stop(self): # GNU Radio calls stop() after all input is sent
        self.book.end()
        return True


class collect(gr.sync_block):
    """A source that outputs packets of bits from the ledger."""

    def __init__(self, book, frames):
        gr.sync_block.__init__(self, "collect", in_sig=None, out_sig=[(np.uint8, frames * BYTES)])
        self.book = book

    def work(self, input_items, output_items):
        bits = self.book.take()
        if bits is None:
            return -1
        output_items[0][0][:] = bits
        return 1


class decode(gr.basic_block):
    """A block that decodes packets of soft values to packets of bits."""

    def __init__(self, **options):
        gr.basic_block.__init__(self, "decode", in_sig=None, out_sig=None)
        self.ignored = 0
        self.decoder = gpufec.viterbi_decoder(**FRAMES, **options)
        self.message_port_register_in(pmt.intern("frames"))
        self.message_port_register_out(pmt.intern("bits"))
        self.set_msg_handler(pmt.intern("frames"), self.work_on)

    @tolerant
    def work_on(self, message):
        number, values = unpacked(message)
        bits, _ = self.decoder.decode(values.view(np.int8))
        self.message_port_pub(pmt.intern("bits"), packet(number, bits))


def worker(args):
    top = gr.top_block()
    ask = zeromq.req_msg_source(args.deal, 100, False)
    decoder = decode(backend=args.backend, threads=args.threads)
    answer = zeromq.push_msg_sink(args.collect, 100, False)
    top.msg_connect((ask, "out"), (decoder, "frames"))
    top.msg_connect((decoder, "bits"), (answer, "in"))
    top.kept = decoder # GNU Radio keeps no reference to Python blocks
    return top


def dealer(args, values, sink):
    """Returns the flowgraph on the host that has the stream. The flowgraph reads soft values from
    the array `values`, and writes decoded bits to the block `sink`."""
    top = gr.top_block()
    book = ledger(args.window, args.timeout, args.packet * BYTES)
    out = zeromq.rep_msg_sink(args.deal, 100, True)
    back = zeromq.pull_msg_source(args.collect, 100, True)
    top.msg_connect((book, "frames"), (out, "in"))
    top.msg_connect((back, "out"), (book, "bits"))
    size = args.packet * ITEMS
    source = blocks.vector_source_b(values.ravel().view(np.uint8).tolist(), False, size)
    there, again = deal(book, args.packet), collect(book, args.packet)
    top.connect(source, there)
    top.connect(again, blocks.vector_to_stream(gr.sizeof_char, args.packet * BYTES), sink)
    top.book, top.kept = book, (there, again) # GNU Radio keeps no reference to Python blocks
    return top


def random_frames(count, ebn0_db=3.0, seed=1):
    """Returns int8 soft values of `count` random frames with noise, and the frames' packed bits,
    one frame per row."""
    bits = np.packbits(gpufec.random_bits((count, FRAMES["frame_bits"]), seed), axis=1)
    coded = gpufec.conv_encode(bits, **FRAMES, packed_output=False)
    return gpufec.awgn(coded, ebn0_db, 0.5, seed), bits


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("role", choices=["deal", "worker"])
    parser.add_argument("--deal", default="tcp://127.0.0.1:5801",
                        help="address where workers request packets of frames")
    parser.add_argument("--collect", default="tcp://127.0.0.1:5802",
                        help="address to which workers send decoded bits")
    parser.add_argument("--frames", type=int, default=20000, help="number of frames to decode")
    parser.add_argument("--packet", type=int, default=64, help="number of frames per packet")
    parser.add_argument("--window", type=int, default=64,
                        help="largest number of packets that are sent and not acknowledged")
    parser.add_argument("--timeout", type=float, default=2.0,
                        help="seconds after which an unacknowledged packet is sent again")
    parser.add_argument("--backend", default="auto")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", default="/dev/null", help="file for the decoded bits")
    args = parser.parse_args()
    if args.role == "worker":
        top = worker(args)
        top.start()
        signal.sigwait({signal.SIGINT, signal.SIGTERM})
        top.stop()
        top.wait()
        return 0
    open(args.out, "ab").close() # raises an error now if the file cannot be written
    values, bits = random_frames(args.frames // args.packet * args.packet)
    sink = blocks.vector_sink_b()
    top = dealer(args, values, sink)
    begin = time.monotonic()
    top.start()
    while sink.nitems_read(0) < bits.size: # a flowgraph with message blocks does not end by itself
        time.sleep(0.01)
    seconds = time.monotonic() - begin
    top.stop()
    top.wait()
    found = np.array(sink.data(), np.uint8)
    found.tofile(args.out)
    wrong = np.unpackbits(found ^ bits.ravel()).mean() if found.size == bits.size else 1.0
    print(f"{len(values)} frames in {seconds:.2f} s, {8 * found.size / seconds / 1e6:.1f} Mb/s, "
          f"bit error rate {wrong:.1e}, {top.book.again} packets sent again")
    return int(found.size != bits.size)


if __name__ == "__main__":
    sys.exit(main())
