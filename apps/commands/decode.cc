// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* gpufec decode and gpufec encode. Both read a file or standard input, and write a file
 * or standard output. */

#include "file.h"
#include "progress.h"
#include "trait.h"
#include <algorithm>
#include <csignal>
#include <cstring>
#include <iostream>
#include <thread>
#include <utility>

namespace gr::gpufec {

namespace {

const char* const own_options = R"(
pace  real  0  rate at which the input is read, in information bits per second; 0: as fast as possible
json  file  -  write statistics as JSON to this file, or to standard output if it is -
)";

class file_coder
{
public:
    //! \p pace is the rate of the input in items per second. With 0, input is read as
    //!     fast as possible.
    file_coder(byte_coder& decoder, double pace)
        : d_coder(decoder),
          d_item_bytes(decoder.rates.item_bytes),
          d_pace(pace),
          d_in(chunk_bytes()),
          d_out(1u << 20)
    {
    }

    void run(file& in, output_file& out)
    {
        const double begin = seconds();
        bool first = true;
        std::size_t partial = 0; // number of bytes of an incomplete item
        for (;;) {
            // While no input arrives, incomplete batches are submitted after the maximum
            // latency.
            while (!in.readable(std::chrono::milliseconds(10))) {
                signal_watch::check();
                d_coder.flush_if_due();
                drain(out);
            }
            signal_watch::check();
            const auto n = in.read(d_in.data() + partial, d_in.size() - partial);
            if (n == 0) {
                break;
            }
            const auto bytes = partial + n;
            if (std::exchange(first, false) && is_wav(d_in.data(), bytes)) {
                std::cerr
                    << "gpufec: WARNING: " << in.name()
                    << " is a WAV file, but all of its bytes are decoded as input. If it "
                       "contains samples, demodulate them first, as the example "
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
                      << " bytes of the input are not a whole "
                      << (d_item_bytes == sizeof(float) ? "float" : "item")
                      << " and are ignored\n";
        }
        if (partial == 0 || d_items > 0) {
            say_what_is_missing(in);
        }
    }

    json report() const
    {
        return json::object({ { "items", d_items }, { "output_bytes", d_written } });
    }

private:
    // Returns the number of bytes to read at a time: the size of 2^20 items. If a pace is
    // set, the items of 10 ms limit this number too.
    std::size_t chunk_bytes() const
    {
        const double items = d_pace > 0 ? d_pace / 100 : 1u << 20;
        return d_item_bytes *
               std::size_t(std::clamp(items, 1.0, double(std::size_t(1) << 20)));
    }

    static bool is_wav(const std::byte* data, std::size_t bytes)
    {
        // RIFX files are big-endian; RF64 files may be longer than 4 GiB.
        for (const char* riff : { "RIFF", "RIFX", "RF64" }) {
            if (bytes >= 12 && std::memcmp(data, riff, 4) == 0 &&
                std::memcmp(data + 8, "WAVE", 4) == 0) {
                return true;
            }
        }
        return false;
    }

    // Reports that the input is empty or too short, or that it ends within a frame.
    void say_what_is_missing(const file& in) const
    {
        const auto frame = d_coder.rates.frame_items;
        const auto rest = frame ? d_items % frame : 0;
        if (d_items == 0) {
            std::cerr << "gpufec: WARNING: " << in.name() << " is empty\n";
        } else if (rest > 0) {
            std::cerr << "gpufec: " << (d_items < frame ? "WARNING: " : "") << in.name()
                      << " ends in the middle of a frame, after " << rest << " of its "
                      << frame << " items, which are dropped"
                      << (d_items < frame ? "; nothing is decoded\n" : "\n");
        } else if (d_written == 0 && frame == 0 && !d_coder.no_signal()) {
            std::cerr << "gpufec: WARNING: " << in.name() << " has " << d_items
                      << " items, too few to decode anything\n";
        }
    }

    void push(std::size_t count, output_file& out)
    {
        for (std::size_t done = 0; done < count;) {
            signal_watch::check();
            const auto taken =
                d_coder.push(d_in.data() + done * d_item_bytes, count - done);
            done += taken;
            if (!drain(out) && taken == 0) {
                d_coder.wait();
            }
        }
    }

    bool drain(output_file& out)
    {
        bool any = false;
        while (const auto n = d_coder.pull(d_out.data(), d_out.size())) {
            out.write(d_out.data(), n);
            d_written += n;
            any = true;
        }
        return any;
    }

    void finish(output_file& out)
    {
        d_coder.finish();
        while (!d_coder.done()) {
            signal_watch::check();
            if (!drain(out)) {
                d_coder.wait();
            }
        }
    }

    void keep_pace(double when, output_file& out)
    {
        while (seconds() < when) {
            signal_watch::check();
            const double rest = std::clamp(when - seconds(), 0.0, 0.01);
            std::this_thread::sleep_for(std::chrono::duration<double>(rest));
            d_coder.flush_if_due();
            drain(out);
        }
    }

    void show(double begin)
    {
        const double megabytes = double(d_written) / 1e6;
        d_progress.show(std::to_string(std::uint64_t(megabytes)) + " MB written, " +
                        std::to_string(int(megabytes / (seconds() - begin))) + " MB/s");
    }

    byte_coder& d_coder;
    const std::size_t d_item_bytes;
    const double d_pace;
    std::vector<std::byte> d_in;
    std::vector<std::uint8_t> d_out;
    std::uint64_t d_items = 0, d_written = 0;
    progress_line d_progress;
};

// Converts IN to OUT. If a signal or a failing device ends the call early, OUT is closed
// nevertheless, because close() replaces the old content of the file.
void decode(file_coder& work, file& in, output_file& out)
{
    std::optional<signal_watch> watch;
    if (out.keeps_content()) {
        watch.emplace();
    }
    try {
        work.run(in, out);
    } catch (const interruption&) {
        out.close();
        watch.reset();
        std::raise(signal_watch::caught());
    } catch (const device_error&) {
        out.close();
        throw;
    }
    out.close();
}

} // namespace

namespace {

int convert(const std::string& command,
            const trait_command& own,
            const std::string& code_options,
            const decoder_trait::maker<byte_coder>& make,
            const arguments& args)
{
    const command_line line{
        command,
        "[code options] [options] IN OUT",
        own.description + " IN and OUT are files; - is standard input or output.",
        { { "Options", own.options + own_options }, { "Code options", code_options } },
        { "IN", "OUT" },
        own.examples
    };
    const auto values = line.parse(args);
    if (!values) {
        return 0;
    }
    const double pace = values->real("pace");
    if (!(pace >= 0)) {
        refuse_option("pace", std::to_string(pace), "0 or more");
    }
    if (values->text("OUT") == "-" && values->text("json") == "-") {
        refuse_option("json", "-", "files if OUT is standard output");
    }
    auto code = json::object();
    const auto decoder = values->naming_options([&] { return make(*values, code); });
    decoder->option_names = &*values;
    auto in = file::to_read(values->text("IN"));
    output_file out("OUT", values->text("OUT"));
    json_file report(*values);
    out.require_other_than(in);
    out.require_own(*values, {});
    if (report.target()) {
        report.target()->require_other_than(in);
    }
    file_coder work(*decoder, pace * decoder->rates.items_per_bit);
    decode(work, in, out);
    auto j = json::object({ { "command", line.name },
                            { "environment", environment() },
                            { "options", values->to_json({ "", code_options }, code) },
                            { "decoder", decoder->state() } });
    report.write(j.merge(work.report()).merge(decoder->conclude()));
    return decoder->no_signal() ? 3 : 0;
}

} // namespace

int decode(const decoder_trait& trait, const arguments& args)
{
    return convert("gpufec decode " + trait.name,
                   trait.decode,
                   trait.all_options(),
                   trait.make_decoder,
                   args);
}

int encode(const decoder_trait& trait, const arguments& args)
{
    return convert("gpufec encode " + trait.name,
                   trait.encode,
                   trait.code_options,
                   trait.make_encoder,
                   args);
}

} // namespace gr::gpufec
