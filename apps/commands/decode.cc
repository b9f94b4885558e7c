// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* gpufec decode: a file, or standard input, of soft values to a file of bits. */

#include "file.h"
#include "progress.h"
#include "trait.h"
#include <algorithm>
#include <cstring>
#include <iostream>
#include <thread>
#include <utility>

namespace gr::gpufec {

namespace {

const char* const own_options = R"(
pace  real  0  information bits per second, as in real time; 0: as fast as possible
json  file  -  write what is known to this file, - for standard output
)";

class file_decoder
{
public:
    //! \p pace of the input in items per second; 0: as fast as possible
    file_decoder(byte_decoder& decoder, double pace)
        : d_decoder(decoder),
          d_item_bytes(decoder.rates.item_bytes),
          d_pace(pace),
          d_in(chunk_bytes()),
          d_out(1u << 20)
    {
    }

    void run(file& in, file& out)
    {
        const double begin = seconds();
        bool first = true;
        std::size_t partial = 0; // bytes of an item that is not whole yet
        for (;;) {
            // Nothing comes in: partial batches go out when they are due.
            while (!in.readable(std::chrono::milliseconds(10))) {
                d_decoder.flush_if_due();
                drain(out);
            }
            const auto n = in.read(d_in.data() + partial, d_in.size() - partial);
            if (n == 0) {
                break;
            }
            const auto bytes = partial + n;
            if (std::exchange(first, false) && is_wav(d_in.data(), bytes)) {
                std::cerr
                    << "gpufec: WARNING: " << in.name()
                    << " is a WAV file, and its bytes are taken for soft values. If it "
                       "holds samples, demodulate them first, as the example "
                       "viterbi_recording.grc does\n";
            }
            push(bytes / d_item_bytes, out);
            d_items += bytes / d_item_bytes;
            partial = bytes % d_item_bytes;
            std::memmove(d_in.data(), d_in.data() + bytes - partial, partial);
            show(begin);
            if (d_pace > 0) {
                keep_pace(begin + d_items / d_pace, out);
            }
        }
        finish(out);
        d_progress.clear();
        if (partial > 0) {
            std::cerr << "gpufec: the last " << partial
                      << " bytes of the input are not a whole float: ignored\n";
        }
        say_what_is_missing(in);
    }

    json report() const
    {
        return json::object({ { "items", d_items }, { "output_bytes", d_written } });
    }

private:
    // At a pace, 10 ms of it at a time.
    std::size_t chunk_bytes() const
    {
        const double items = d_pace > 0 ? d_pace / 100 : 1u << 20;
        return d_item_bytes *
               std::size_t(std::clamp(items, 1.0, double(std::size_t(1) << 20)));
    }

    static bool is_wav(const std::byte* data, std::size_t bytes)
    {
        return bytes >= 12 && std::memcmp(data, "RIFF", 4) == 0 &&
               std::memcmp(data + 8, "WAVE", 4) == 0;
    }

    // A recording that ended too early.
    void say_what_is_missing(const file& in) const
    {
        const auto frame = d_decoder.rates.frame_items;
        const auto rest = frame ? d_items % frame : 0;
        if (d_items == 0) {
            std::cerr << "gpufec: WARNING: " << in.name() << " is empty\n";
        } else if (rest > 0) {
            std::cerr << "gpufec: " << (d_items < frame ? "WARNING: " : "") << in.name()
                      << " ends in the middle of a frame, after " << rest << " of its "
                      << frame << " items: these are dropped"
                      << (d_items < frame ? ", and nothing is decoded\n" : "\n");
        }
    }

    void push(std::size_t count, file& out)
    {
        for (std::size_t done = 0; done < count;) {
            const auto taken =
                d_decoder.push(d_in.data() + done * d_item_bytes, count - done);
            done += taken;
            if (!drain(out) && taken == 0) {
                d_decoder.wait();
            }
        }
    }

    bool drain(file& out)
    {
        bool any = false;
        while (const auto n = d_decoder.pull(d_out.data(), d_out.size())) {
            out.write(d_out.data(), n);
            d_written += n;
            any = true;
        }
        return any;
    }

    void finish(file& out)
    {
        d_decoder.finish();
        while (!d_decoder.done()) {
            if (!drain(out)) {
                d_decoder.wait();
            }
        }
    }

    void keep_pace(double when, file& out)
    {
        while (seconds() < when) {
            const double rest = std::clamp(when - seconds(), 0.0, 0.01);
            std::this_thread::sleep_for(std::chrono::duration<double>(rest));
            d_decoder.flush_if_due();
            drain(out);
        }
    }

    void show(double begin)
    {
        const double megabytes = double(d_written) / 1e6;
        d_progress.show(std::to_string(std::uint64_t(megabytes)) + " MB decoded, " +
                        std::to_string(int(megabytes / (seconds() - begin))) + " MB/s");
    }

    byte_decoder& d_decoder;
    const std::size_t d_item_bytes;
    const double d_pace;
    std::vector<std::byte> d_in;
    std::vector<std::uint8_t> d_out;
    std::uint64_t d_items = 0, d_written = 0;
    progress_line d_progress;
};

// What is written must be no other file of the call: that would be lost.
void refuse_one_file_twice(const option_values& values,
                           const file& in,
                           const file& written,
                           const std::string& name)
{
    bool twice = written.same_as(in);
    for (const auto& other : values.files()) {
        twice = twice || ("--" + other != name && written.is_at(values.text(other)));
    }
    if (twice) {
        throw usage_error(name + " is " + written.name() +
                          ": allowed are files that are named once");
    }
}

} // namespace

int decode(const decoder_trait& trait, const arguments& args)
{
    const command_line line{
        "gpufec decode " + trait.name,
        "[code options] [options] IN OUT",
        trait.decode.description +
            " IN and OUT are files, - for standard input and output.",
        { { "Decoding options", trait.decode.options + own_options },
          { "Code options", trait.code_options } },
        { "IN", "OUT" }
    };
    const auto values = line.parse(args);
    if (!values) {
        return 0;
    }
    const double pace = values->real("pace");
    if (!(pace >= 0)) {
        refuse_option("pace", std::to_string(pace), "0 and above");
    }
    if (values->text("OUT") == "-" && values->text("json") == "-") {
        refuse_option("json", "-", "files, where OUT is standard output");
    }
    auto code = json::object();
    const auto decoder =
        values->naming_options([&] { return trait.make_decoder(*values, code); });
    auto in = file::to_read(values->text("IN"));
    auto out = file::to_write(values->text("OUT"));
    json_file report(values->text("json"));
    refuse_one_file_twice(*values, in, out, "OUT");
    if (report.target()) {
        refuse_one_file_twice(*values, in, *report.target(), "--json");
    }
    out.clear();
    file_decoder work(*decoder, pace * decoder->rates.items_per_bit);
    work.run(in, out);
    out.close();
    auto j =
        json::object({ { "command", line.name },
                       { "environment", environment() },
                       { "options", values->to_json({ "", trait.code_options }, code) },
                       { "decoder", decoder->state() } });
    report.write(j.merge(work.report()).merge(decoder->conclude()));
    return 0;
}

} // namespace gr::gpufec
