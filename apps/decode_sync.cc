// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* gpufec decode sync: a file, or standard input, of received items to a file of symbols,
 * posteriors or LLRs. */

#include "file_decoder.h"
#include "sync_options.h"
#include <algorithm>
#include <csignal>
#include <deque>
#include <fstream>

namespace gr::gpufec {

namespace {

// The received lengths of frames: numbers with white space between.
std::deque<std::size_t> read_lengths(const std::string& path)
{
    std::ifstream file(path);
    std::deque<std::size_t> lengths;
    for (std::string word; file >> word;) {
        if (word.find_first_not_of("0123456789") != std::string::npos ||
            word.size() > 9) {
            throw usage_error("--lengths: " + path + " holds \"" + word +
                              "\": numbers below 1e9 are allowed");
        }
        lengths.push_back(std::stoul(word));
    }
    if (!file.eof()) {
        throw usage_error("--lengths is \"" + path + "\": the file cannot be read");
    }
    return lengths;
}

/* sync_decoder as a stream of items in and bytes out: cuts the input into frames of given
 * lengths, or leaves that to the decoder. */
class sync_byte_decoder
{
public:
    struct setup {
        sync_options options;
        std::deque<std::size_t> lengths;
    };

    explicit sync_byte_decoder(const setup& s)
        : d_decoder(s.options),
          d_framed(s.options.mode == sync_mode::framed),
          d_item_bytes(s.options.soft_input ? sizeof(float) : 1),
          d_lengths(s.lengths)
    {
    }

    //! Says on stderr what has gone wrong, if anything has.
    void report() const
    {
        const auto say = [this](std::uint64_t count, const char* what) {
            if (count > 0) {
                std::cerr << "gpufec: " << count << " of " << d_frames << " frames "
                          << what << "\n";
            }
        };
        say(d_invalid, "cannot be decoded");
        say(d_unlocked, "are decoded without lock");
        if (d_loose > 0) {
            std::cerr << "gpufec: " << d_loose
                      << " items lie behind the last frame: ignored\n";
        }
        if (!d_lengths.empty()) {
            std::cerr << "gpufec: the input ends " << d_lengths.size()
                      << " frames too early\n";
        }
    }

    bool due() const { return d_decoder.due(); }
    bool done() { return d_ended && d_finished && d_decoder.done(); }
    void wait(std::chrono::milliseconds limit) { d_decoder.wait(limit); }

    std::size_t push(const void* items, std::size_t count)
    {
        if (d_decoder.due()) {
            d_decoder.flush();
        }
        if (!d_framed) {
            return d_decoder.push(items, count);
        }
        std::size_t taken = 0;
        while (push_whole_frame() && taken < count) {
            taken += gather(static_cast<const std::byte*>(items) + taken * d_item_bytes,
                            count - taken);
        }
        return taken;
    }

    //! The input has ended, and with it the frame that is not whole.
    void finish()
    {
        d_ended = true;
        end();
    }

    //! Up to \p room bytes of decoded frames.
    std::size_t pull_bytes(std::uint8_t* out, std::size_t room)
    {
        if (d_given == d_rest.size()) {
            next_frame();
        }
        const auto n = std::min(room, d_rest.size() - d_given);
        std::copy_n(d_rest.begin() + d_given, n, out);
        d_given += n;
        return n;
    }

private:
    void next_frame()
    {
        sync_decoder::frame f;
        const bool any = d_decoder.pull(f);
        d_rest.clear();
        d_given = 0;
        if (any) {
            const auto* const bytes = static_cast<const std::uint8_t*>(f.output);
            d_rest.assign(bytes, bytes + f.output_bytes);
            ++d_frames;
            d_invalid += !f.status.valid;
            d_unlocked += f.status.valid && !f.locked;
        }
        if (d_ended && !d_finished) {
            end();
        }
    }

    void end()
    {
        if (d_framed && !d_frame.empty() && !d_lengths.empty()) {
            d_lengths.front() = d_frame.size() / d_item_bytes;
        }
        if (!d_framed || push_whole_frame()) {
            d_decoder.finish();
            d_finished = true;
        }
    }

    // False while a frame is whole and the decoder does not take it.
    bool push_whole_frame()
    {
        while (!d_lengths.empty() && d_frame.size() == d_lengths.front() * d_item_bytes) {
            if (!d_decoder.push_frame(d_frame.data(), d_lengths.front())) {
                return false;
            }
            d_frame.clear();
            d_lengths.pop_front();
        }
        return true;
    }

    std::size_t gather(const std::byte* items, std::size_t count)
    {
        if (d_lengths.empty()) {
            d_loose += count;
            return count;
        }
        const auto n = std::min(count, d_lengths.front() - d_frame.size() / d_item_bytes);
        d_frame.insert(d_frame.end(), items, items + n * d_item_bytes);
        return n;
    }

    sync_decoder d_decoder;
    const bool d_framed;
    const std::size_t d_item_bytes;
    std::deque<std::size_t> d_lengths; // of this frame and those after it
    std::vector<std::byte> d_frame;    // so far
    bool d_ended = false, d_finished = false;
    std::vector<std::uint8_t> d_rest; // of a frame that is being given
    std::size_t d_given = 0;
    std::uint64_t d_frames = 0, d_invalid = 0, d_unlocked = 0, d_loose = 0;
};

} // namespace

int decode_sync(const arguments& args)
{
    namespace po = boost::program_options;
    command_line line{
        "gpufec decode sync",
        "[code options] [--lengths FILE] [--pace BITS_PER_S] IN OUT",
        "Decodes received items, one bit a byte or floats, from the file IN to symbols, "
        "or\n"
        "what --output says, in the file OUT, - for standard input and output. Symbols "
        "are\n"
        "bytes up to q = 256, else 16 bits, little-endian. With --mode stream the frames "
        "are\n"
        "found; with --mode framed the file of --lengths holds the received length of "
        "each.",
        sync_option_descriptions(),
        { "IN", "OUT" }
    };
    po::options_description own("Decoding options");
    own.add_options()("lengths",
                      po::value<std::string>(),
                      "of mode framed: file of frame lengths, numbers and white space")(
        "pace",
        po::value<double>()->default_value(0),
        "information bits a second, as in real time; 0: as fast as possible");
    line.options.add(own);
    po::variables_map values;
    if (!line.parse(args, values)) {
        return 0;
    }
    const double pace = pace_of(values);
    sync_byte_decoder::setup setup{ parse_sync_options(values), {} };
    const auto& options = setup.options;
    const bool framed = options.mode == sync_mode::framed;
    if (framed != (values.count("lengths") > 0)) {
        throw usage_error(framed ? "--lengths is missing: needed with --mode framed"
                                 : "--lengths is given: allowed with --mode framed");
    }
    if (framed) {
        setup.lengths = read_lengths(text(values, "lengths"));
    }
    const double bits = information_bits(options.code);
    const auto decoder = naming_options([&] {
        return std::make_unique<file_decoder<sync_byte_decoder>>(
            setup,
            options.soft_input ? sizeof(float) : 1,
            &sync_byte_decoder::pull_bytes,
            pace * options.code.frame_bits() / bits);
    });
    std::signal(SIGPIPE, SIG_IGN); // a reader that is gone is an error like others
    file in(text(values, "IN"), O_RDONLY, STDIN_FILENO);
    file out(text(values, "OUT"), O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
    decoder->run(in, out);
    decoder->decoder().report();
    return 0;
}

} // namespace gr::gpufec
