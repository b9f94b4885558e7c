// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The decoder_trait of codes for insertions and deletions, through which the commands use
 * encoder, decoder and simulation. */

#include "encode.h"
#include "lab/sync_map/simulation.h"
#include "lab/sync_map/slot_benchmark.h"
#include "trait.h"
#include <gnuradio/gpufec/sync_map.h>
#include <gnuradio/gpufec/sync_reads.h>
#include <type_traits>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <sstream>

#include <boost/algorithm/string.hpp>

namespace gr::gpufec {

using namespace sync_map;

namespace {

// ---- the code's options: the parameters of the gpu_sync_map block ----

const char* const code_options = R"(
codebook           file   davey_mackay  davey_mackay, random, marker, or a file of N*q rows of n digits
codebook-seed      seed   1      seed of davey_mackay, random and marker; with marker, 0 means that no marker is inverted
marker             text   00111  marker of --codebook marker; n is log2 q plus the length of the marker
q                  int    32     number of values of a message symbol
n                  int    10     number of channel symbols per message symbol
frame-symbols      int    210    N, number of message symbols per frame
alphabet           int    2      number of values of a channel symbol, 2 to 16
)";

const char* const decoder_options = R"(
p-insert           real   1e-3   probability of an insertion before a bit
p-delete           real   1e-3   probability that a bit is deleted
p-substitute       real   0      probability that a transmitted bit is flipped
mode               framed|stream   framed  how the input is divided into frames; framed: by --lengths; stream: frames follow one another without frame markers, and the decoder finds them
soft-input         hard|float      hard    format of the input; hard: one channel symbol per byte; float: the probability that a 1 was received or, with an alphabet above 2, the likelihood of each symbol
output             symbols|posteriors|extrinsics|llr  symbols  output for each symbol; posteriors, extrinsics: q floats; llr: log2 q signed bytes
precision          float|double|mixed        float     number format of the decoder; mixed: lattices in float, everything else in double
form               linear|corridor           linear    form of the decoder; linear: exact and faster; corridor: as in Briffa (2014)
storage            auto|global|local         auto      with form corridor: store the branch metrics of a whole frame (global), or of one position and compute them twice (local)
receiver           corridor|lattice|trellis  corridor  with form corridor: how branch metrics are computed; lattice and trellis run on the CPU only
insertion-cap      int    2      with receiver trellis: largest number of insertions before a bit
state-threshold    real   0      with form corridor: boundary metrics below this fraction of the largest count as 0
lattice-threshold  real   0      with form corridor: lattice values below this fraction of the largest value in their row count as 0
mn-min             int    0      with form corridor: smallest drift change per symbol
mn-max             int    0      with form corridor: largest drift change per symbol; if --mn-min and --mn-max are 0, the range follows from --exclusion
start-first        int    0      drift to which the first entry of start-prior belongs
start-prior        text   -      weights of the drifts at a frame's start, comma separated, such as 0.5,0.5
end-first          int    0      drift to which the first entry of end-prior belongs
end-prior          text   -      weights of the drifts at a frame's end, comma separated
exclusion          real   1e-10  total probability of the drifts that are not considered
lookahead          int    0      with mode stream: number of symbols after each frame that its decoding uses; 0: chosen from the channel
acquire            int    0      with mode stream: number of initial items within which the first frame begins; 0: the first frame begins at the first item
positive-bit       0|1    0      with output llr: the bit that a positive value means
)";

const char* const reads_options = R"(
reads       int    1  with mode framed: number of received copies of each frame, 1 to 256, which are decoded together
passes      int    2  with several reads: number of times that each read is decoded
)";

const char* const ber_options = R"(
range       text   -     values and ranges A:STEP:B, comma separated; each value replaces both --p-insert and --p-delete
min-errors  count  2000  a point ends after this many wrong symbols; 0: only after --max-frames
max-frames  count  3000  a point ends after this many frames
)";

sync_code code_of(const option_values& values)
{
    const unsigned n = values.integer("n"), q = values.integer("q"),
                   N = values.integer("frame-symbols"),
                   alphabet = values.integer("alphabet");
    const auto seed = values.seed("codebook-seed");
    const auto kind = values.text("codebook");
    values.warn_unused(kind == "marker", { "marker" }, "--codebook marker");
    values.warn_unused(kind == "random" || kind == "davey_mackay" || kind == "marker",
                       { "codebook-seed" },
                       "--codebook davey_mackay, random and marker");
    if (kind == "random") {
        return codebook_random(n, q, N, seed, alphabet);
    }
    if (kind != "davey_mackay" && kind != "marker") {
        return sync_code::from_file(kind, n, q, N, alphabet);
    }
    const auto code = kind == "marker"
                          ? codebook_marker(q, N, values.text("marker"), seed)
                          : codebook_davey_mackay(n, q, N, seed);
    if (code.n() != n) {
        throw usage_error("--n is " + std::to_string(n) + ": the only allowed value is " +
                          std::to_string(code.n()) +
                          ", which is log2 q plus the length of --marker");
    }
    return code;
}

// Warns of options that have no effect because of the values of other options.
void warn_unused(const option_values& values, const sync_options& o)
{
    const bool corridor = o.form == sync_form::corridor;
    values.warn_unused(corridor, { "storage" }, "--form corridor");
    values.warn_unused(corridor && o.receiver == sync_receiver::trellis,
                       { "insertion-cap" },
                       "--receiver trellis");
    values.warn_unused(
        o.mode == sync_mode::stream, { "lookahead", "acquire" }, "--mode stream");
    values.warn_unused(o.output == sync_output::llr, { "positive-bit" }, "--output llr");
    values.warn_unused(values.has("start-prior"), { "start-first" }, "--start-prior");
    values.warn_unused(values.has("end-prior"), { "end-first" }, "--end-prior");
}

sync_options parse(const option_values& values)
{
    sync_options o(code_of(values),
                   { values.real("p-insert"),
                     values.real("p-delete"),
                     values.real("p-substitute"),
                     unsigned(values.integer("alphabet")) });
    o.mode = sync_mode_from_string(values.text("mode"));
    o.soft_input = values.text("soft-input") == "float";
    o.output = sync_output_from_string(values.text("output"));
    o.precision = sync_precision_from_string(values.text("precision"));
    o.form = sync_form_from_string(values.text("form"));
    o.storage = sync_storage_from_string(values.text("storage"));
    o.receiver = sync_receiver_from_string(values.text("receiver"));
    o.insertion_cap = values.integer("insertion-cap");
    o.state_threshold = values.real("state-threshold");
    o.lattice_threshold = values.real("lattice-threshold");
    o.change_first = values.integer("mn-min", INT_MIN);
    o.change_last = values.integer("mn-max", INT_MIN);
    o.start.first = values.integer("start-first", INT_MIN);
    if (values.has("start-prior")) {
        o.start.probability = values.reals("start-prior");
    }
    o.end = { values.integer("end-first", INT_MIN), values.reals("end-prior") };
    o.exclusion = values.real("exclusion");
    o.lookahead = values.integer("lookahead");
    o.acquire = values.integer("acquire");
    o.positive_bit = values.integer("positive-bit");
    values.set_run_options(o);
    warn_unused(values, o);
    return o;
}

// Returns the options of the decoder and of the joint decoding of several received copies
// (reads) of a frame. If there are several, adds the numbers of reads and passes to the
// description \p code.
sync_reads_options parse_reads(const option_values& values, json& code)
{
    sync_reads_options o = parse(values);
    o.reads = values.integer("reads");
    o.passes = values.integer("passes");
    check_reads(o);
    values.warn_unused(o.reads > 1, { "passes" }, "--reads above 1");
    if (o.reads > 1) {
        code.add("reads", o.reads).add("passes", o.passes);
    }
    return o;
}

double information_bits(const sync_code& code)
{
    return code.frame_symbols() * std::log2(double(code.q()));
}

std::string title_of(const sync_code& code, const option_values& values)
{
    return "n=" + std::to_string(code.n()) + " q=" + std::to_string(code.q()) +
           " N=" + std::to_string(code.frame_symbols()) + ", " + values.text("form") +
           " form";
}

// ---- the decoder as a stream ----

//! A function that returns the received length in items of the next frame, or
//! std::nullopt after the last frame.
using frame_lengths = std::function<std::optional<std::size_t>()>;

// Returns a function that reads the next length from the file \p path, which has numbers
// separated by white space. The function throws a usage_error if the next word is not a
// number below 1e9.
frame_lengths lengths_of(const std::string& path)
{
    const auto file = std::make_shared<std::ifstream>(path);
    const auto check = [file, path] {
        if (!file->eof() && !*file) {
            refuse_option("lengths", path, "files that can be read");
        }
    };
    file->peek();
    check();
    return [file, path, check]() -> std::optional<std::size_t> {
        std::string word;
        if (*file >> std::setw(16) >> word) {
            if (word.size() > 9 || !boost::all(word, boost::is_digit())) {
                refuse_option("lengths",
                              path + ", which holds \"" + word + "\"",
                              "numbers below 1e9");
            }
            return std::stoul(word);
        }
        check();
        return {};
    };
}

// A decoder that counts frames, failures and missing items.
// \tparam Decoder sync_decoder or sync_reads_decoder
template <class Decoder>
class sync_stream : public frame_adapter<Decoder>
{
    static constexpr bool one_read = std::is_same_v<Decoder, sync_decoder>;
    using base = frame_adapter<Decoder>;
    using base::d_decoder;
    using base::rates;

public:
    sync_stream(const sync_reads_options& options, frame_lengths lengths)
        : base(options, {}),
          d_framed(options.mode == sync_mode::framed),
          d_frame_bits(options.code.frame_bits()),
          d_reads(options.reads),
          d_next_length(std::move(lengths))
    {
        const double bits = information_bits(options.code);
        rates = { options.item_bytes(),
                  d_reads * options.code.frame_bits() / bits,
                  bits / (options.code.frame_symbols() * d_decoder->symbol_bytes()) };
        next_length();
    }

    std::size_t push(const void* items, std::size_t count) override
    {
        flush_if_due();
        if constexpr (one_read) {
            if (!d_framed) {
                const auto n = d_decoder->push({ items, count });
                d_items += n;
                return n;
            }
        }
        const auto* const bytes = static_cast<const std::byte*>(items);
        std::size_t taken = 0;
        while (push_gathered() && taken < count) {
            taken += take(bytes + taken * rates.item_bytes, count - taken);
        }
        return taken;
    }

    void flush_if_due() override
    {
        if (d_decoder->due()) {
            d_decoder->flush();
        }
    }

    //! Ends the input. In framed mode, the items of an incomplete frame are decoded as a
    //! shorter frame.
    void finish() override
    {
        if (d_length && !d_gathered.empty()) {
            std::cerr << "gpufec: the input ends in the middle of a frame, after "
                      << d_gathered.size() / rates.item_bytes << " of its " << *d_length
                      << " items, which are decoded as a shorter frame\n";
            d_length = d_gathered.size() / rates.item_bytes;
        }
        d_ended = true;
        end();
    }

    bool done() override { return d_finished && d_decoder->done(); }

    std::size_t pull(std::uint8_t* out, std::size_t capacity) override
    {
        if (d_emitted == d_rest.size()) {
            next_frame();
        }
        const auto n = std::min(capacity, d_rest.size() - d_emitted);
        std::copy_n(d_rest.begin() + d_emitted, n, out);
        d_emitted += n;
        return n;
    }

    json state() const override
    {
        auto j = base::state().add("drifts", d_decoder->window().size());
        if constexpr (one_read) {
            j.add("lookahead", d_decoder->lookahead());
        }
        return j;
    }

    json conclude() override
    {
        const auto lacking = (d_reads - d_pushed % d_reads) % d_reads;
        const auto left = missing_lengths();
        const auto missing = (left - std::min(left, lacking) + d_reads - 1) / d_reads;
        say(d_invalid, "frames cannot be decoded");
        say(d_unlocked, "frames are decoded without lock");
        // A remainder no longer than the largest drift may belong to the last frame.
        if (const auto rest = d_items - d_frame_end;
            !d_framed && d_frames > 0 && rest > d_decoder->window().last) {
            std::cerr << "gpufec: the input ends in the middle of a frame, after about "
                      << rest << " of its " << d_frame_bits
                      << " items, which are dropped\n";
        }
        if (d_loose > 0) {
            std::cerr << "gpufec: " << d_loose
                      << " items after the last frame are ignored\n";
        }
        if (lacking > 0) {
            std::cerr << "gpufec: the last frame lacks " << lacking << " of " << d_reads
                      << " reads\n";
        }
        if (missing > 0) {
            std::cerr << "gpufec: --lengths has " << missing
                      << (missing == 1 ? " frame" : " frames")
                      << " more than the input\n";
        }
        return json::object({ { "frames", d_frames },
                              { "invalid", d_invalid },
                              { "unlocked", d_unlocked },
                              { "loose_items", d_loose },
                              { "missing_reads", lacking },
                              { "missing_frames", missing } });
    }
    bool no_signal() const override { return d_frames > 0 && d_invalid == d_frames; }

private:
    void say(std::uint64_t count, const char* what) const
    {
        if (count > 0) {
            std::cerr << "gpufec: " << count << " of " << d_frames << " " << what << "\n";
        }
    }

    void next_length() { d_length = d_framed ? d_next_length() : std::nullopt; }

    void next_frame()
    {
        sync_decoder::frame f;
        const bool any = d_decoder->pull(f);
        d_rest.clear();
        d_emitted = 0;
        if (any) {
            const auto* const bytes = static_cast<const std::uint8_t*>(f.output);
            d_rest.assign(bytes, bytes + f.output_bytes);
            ++d_frames;
            d_invalid += !f.status.valid;
            d_unlocked += f.status.valid && !f.locked;
            if constexpr (one_read) {
                d_frame_end = f.begin + std::int64_t(d_frame_bits);
            }
        }
        if (d_ended && !d_finished) {
            end();
        }
    }

    void end()
    {
        if (!d_framed || push_gathered()) {
            d_decoder->finish();
            d_finished = true;
        }
    }

    bool push_frame(const std::byte* items)
    {
        const bool taken = d_decoder->push_frame({ items, *d_length });
        if (taken) {
            ++d_pushed;
            next_length();
        }
        return taken;
    }

    // Pushes the gathered items if they are a complete frame. Returns false if a complete
    // frame remains, because the decoder cannot accept it yet.
    bool push_gathered()
    {
        while (d_length && d_gathered.size() == *d_length * rates.item_bytes) {
            if (!push_frame(d_gathered.data())) {
                return false;
            }
            d_gathered.clear();
        }
        return true;
    }

    // Consumes items of the current frame and returns their number. A frame whose items
    // are all available is pushed without a copy if the decoder accepts it; other frames
    // are gathered. Items after the last frame are only counted.
    std::size_t take(const std::byte* items, std::size_t count)
    {
        if (!d_length) {
            d_loose += count;
            return count;
        }
        const auto length = *d_length;
        if (d_gathered.empty() && length <= count && push_frame(items)) {
            return length;
        }
        const auto n = std::min(count, length - d_gathered.size() / rates.item_bytes);
        d_gathered.insert(d_gathered.end(), items, items + n * rates.item_bytes);
        return n;
    }

    // Returns the number of lengths in --lengths that have no frame in the input, at most
    // a million.
    std::uint64_t missing_lengths()
    {
        std::uint64_t count = 0;
        for (; d_length && count < 1'000'000; next_length()) {
            ++count;
        }
        return count;
    }

    const bool d_framed;
    const std::size_t d_frame_bits;
    std::int64_t d_items = 0,
                 d_frame_end = 0; // stream mode: number of items pushed, and index of the
                                  // item after the last frame
    const unsigned d_reads;
    std::uint64_t d_pushed = 0; // number of reads pushed, d_reads per frame
    const frame_lengths d_next_length;
    std::optional<std::size_t> d_length; // length of the current frame, if any
    std::vector<std::byte> d_gathered;
    bool d_ended = false, d_finished = false;
    std::vector<std::uint8_t> d_rest; // output of a frame; d_emitted bytes were pulled
    std::size_t d_emitted = 0;
    std::uint64_t d_frames = 0, d_invalid = 0, d_unlocked = 0, d_loose = 0;
};

std::unique_ptr<byte_coder> make_decoder(const option_values& values, json& code)
{
    const auto options = parse_reads(values, code);
    const bool framed = options.mode == sync_mode::framed;
    if (framed && !values.has("lengths")) {
        throw usage_error("--lengths is missing: --mode framed requires it");
    }
    if (!framed && values.has("lengths")) {
        throw usage_error("--lengths is given: it is allowed only with --mode framed");
    }
    auto lengths = framed ? lengths_of(values.text("lengths")) : frame_lengths();
    if (options.reads > 1) {
        return std::make_unique<sync_stream<sync_reads_decoder>>(options,
                                                                 std::move(lengths));
    }
    return std::make_unique<sync_stream<sync_decoder>>(options, std::move(lengths));
}

// ---- gpufec encode ----

std::unique_ptr<byte_coder> make_encoder(const option_values& values, json&)
{
    const sync_encoder_kernel kernel(code_of(values));
    const auto& code = kernel.code();
    const std::size_t frame = code.frame_symbols(), bytes = code.q() > 256 ? 2 : 1;
    const auto encode =
        [=](const std::uint8_t* items, std::size_t count, byte_vector& out) {
            const auto before = out.size();
            out.resize(before + count * kernel.code().n());
            if (bytes == 1) {
                kernel.encode(items, count, out.data() + before);
            } else {
                std::vector<std::uint16_t> symbols(count);
                std::memcpy(symbols.data(), items, count * bytes);
                kernel.encode(symbols.data(), count, out.data() + before);
            }
        };
    return std::make_unique<piece_coder>(
        stream_rates{ bytes, frame / information_bits(code), 0, frame }, frame, encode);
}

// ---- gpufec bench ----

using frames = std::vector<frame_source::frame>;

std::unique_ptr<slot_bench> make_slots(const sync_options& options, const frames& given)
{
    const double bits = information_bits(options.code);
    auto slots = std::make_unique<slot_adapter<slot_benchmark>>(options, given, bits);
    slots->bits = slots->bench.frames() * bits;
    return slots;
}

// Returns the lengths of the frames \p given, repeated without end.
frame_lengths lengths_of(const frames& given)
{
    return [&given, next = std::size_t(0)]() mutable {
        return std::make_optional(given[next++ % given.size()].count);
    };
}

std::unique_ptr<bench_subject> make_bench(const option_values& values, json&)
{
    const auto options = parse(values);
    const frame_source source(options, 1);
    const auto given = std::make_shared<frames>();
    auto subject = std::make_unique<bench_subject>();
    for (unsigned f = 0; f < 64; ++f) { // A few frames suffice, because all frames take
                                        // the same time.
        given->push_back(source.make(f));
        const auto& items = given->back().items;
        subject->items.insert(subject->items.end(), items.begin(), items.end());
    }
    subject->title = title_of(options.code, values);
    subject->stream = [options, given] {
        return std::make_unique<sync_stream<sync_decoder>>(options, lengths_of(*given));
    };
    subject->slots = [options, given] { return make_slots(options, *given); };
    return subject;
}

// ---- gpufec ber ----

// Parses --range, a comma separated list of probabilities and ranges of probabilities.
std::vector<double> parse_probabilities(const std::string& text)
{
    std::vector<std::string> parts;
    std::vector<double> points;
    boost::split(parts, text, boost::is_any_of(","));
    for (const auto& part : parts) {
        const auto more = parse_range("range", part);
        points.insert(points.end(), more.begin(), more.end());
    }
    for (const double p : points) {
        if (!(p >= 0 && p < 0.5)) {
            refuse_option("range", text, "from 0 to below 0.5");
        }
    }
    return points;
}

class sync_simulation : public simulation_adapter<simulation_options, simulation_result>
{
public:
    sync_simulation(const option_values& values, json& code)
        : simulation_adapter({ parse_reads(values, code) }), d_ranged(values.has("range"))
    {
        options.seed = values.seed("seed");
        options.min_errors = values.count("min-errors");
        options.max_frames = values.count("max-frames");
        title = title_of(options.decoder.code, values);
        if (options.decoder.reads > 1) {
            title += ", " + std::to_string(options.decoder.reads) + " reads, " +
                     std::to_string(options.decoder.passes) + " passes";
        }
        columns = { { "p insert", "p_insert", "%10.3g" },
                    { "frames", "frames", "%9.0f" },
                    { "wrong", "errors", "%9.0f" },
                    { "SER", "ser", "%11.2e" },
                    { "deviation", "ser_deviation", "%11.2e" },
                    { "FER", "fer", "%11.2e" },
                    { "invalid", "invalid", "%9.0f" },
                    { "lost", "unlocked", "%9.0f" } };
        range = d_ranged ? parse_probabilities(values.text("range"))
                         : std::vector<double>{ options.decoder.channel.p_insert() };
    }

    json point() const override
    {
        const auto& c = result->decoded;
        const auto& channel = options.decoder.channel;
        return json::object({ { "frames", c.frames },
                              { "frame_errors", c.frame_errors },
                              { "fer", c.frame_error_rate() },
                              { "symbols", c.symbols },
                              { "errors", c.errors },
                              { "ser", c.symbol_error_rate() },
                              { "ser_deviation", c.deviation() },
                              { "invalid", c.invalid },
                              { "unlocked", c.unlocked },
                              { "p_insert", channel.p_insert() },
                              { "p_delete", channel.p_delete() },
                              { "p_substitute", channel.p_substitute() } });
    }

private:
    void set(double p) override
    {
        if (d_ranged) {
            const auto& c = options.decoder.channel;
            options.decoder.channel = { p, p, c.p_substitute(), c.alphabet() };
        }
    }

    const bool d_ranged;
};

} // namespace

decoder_trait sync_trait()
{
    decoder_trait t;
    t.name = "sync";
    t.code_options = code_options;
    t.decoder_options = std::string(decoder_options) + run_options_help;
    t.bench = {
        "Decodes frames of random symbols from the channel that the options describe.",
        "",
        R"(
# Measure the decoding rate of Davey and MacKay's code
gpufec bench sync --seconds 1
# Measure the decoding rate of a stream in which the decoder finds the frames
gpufec bench sync --mode stream --frame-symbols 50 --seconds 1 --runs 3
)"
    };
    t.make_bench = make_bench;
    t.ber = { "Encodes random symbols, inserts, deletes and flips bits, decodes, "
              "and counts wrong symbols and frames. The decoder uses the channel's "
              "probabilities. Errors come in bursts, so the deviation of the error rate "
              "is estimated from the differences between frames.",
              std::string(reads_options) + ber_options,
              R"(
# Simulate the symbol error rates of a random codebook
gpufec ber sync --codebook random --range 1e-2,3e-2 --max-frames 100 --json rates.json
# Simulate frames that are received twice
gpufec ber sync --codebook random --range 0.06 --reads 2 --max-frames 50
)" };
    t.make_simulation = [](const option_values& values, json& code) {
        return std::make_unique<sync_simulation>(values, code);
    };
    t.decode = {
        "Decodes received items from IN to symbols in OUT, or to the format of --output. "
        "An item is one byte or, with --soft-input float, one float or, if --alphabet is "
        "above 2, one float per channel symbol of the alphabet. Symbols are bytes up to "
        "q = 256, else 16 bits, little-endian. With --mode stream, the decoder finds the "
        "frames. With --mode framed, the file of --lengths has the received length of "
        "each frame. With --reads, the reads of a frame are consecutive, each with its "
        "own length.",
        std::string("lengths file - with mode framed: file with the received lengths, "
                    "separated by white space") +
            reads_options,
        R"(
# Decode a stream in which the decoder finds the frames
gpufec decode sync --mode stream received.bits symbols.out
# Decode frames whose lengths are in a file
gpufec decode sync --lengths lengths.txt received.bits symbols.out
)"
    };
    t.make_decoder = make_decoder;
    t.encode = {
        "Encodes symbols, bytes up to q = 256, else 16 bits, little-endian, into "
        "channel symbols, one per byte. Values of q or more are taken modulo q.",
        "",
        R"(
# Encode to channel symbols, for a channel that inserts and deletes bits
gpufec encode sync symbols.bin sent.bits
# Encode and decode
gpufec encode sync symbols.bin - | gpufec decode sync --mode stream - symbols.out
)"
    };
    t.make_encoder = make_encoder;
    return t;
}

} // namespace gr::gpufec
