// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The interface between commands and decoders, and declarations of the commands.
 * apps/decoders implements a decoder_trait for each decoder. The commands bench, ber,
 * decode and encode use the decoders only through that trait. */

#ifndef INCLUDED_GPUFEC_APPS_TRAIT_H
#define INCLUDED_GPUFEC_APPS_TRAIT_H

#include "common/printable.h"
#include "file.h"
#include "lab/device_channel.h"
#include "lab/slot_rates.h"
#include "options.h"
#include <gnuradio/gpufec/viterbi.h>
#include <chrono>
#include <cstddef>
#include <functional>
#include <iostream>
#include <memory>
#include <string>

namespace gr::gpufec {

struct stream_rates {
    std::size_t item_bytes; //!< size of an input item in bytes
    double items_per_bit;   //!< input items per information bit, for --pace
    double bits_per_byte;   //!< information bits per byte of output, for bench
    //! Input items per frame; 0: the input is a stream, or frames differ in length.
    std::size_t frame_items = 0;
};

//! The interface of a decoder or an encoder that turns a stream of items into bytes.
class byte_coder
{
public:
    explicit byte_coder(const stream_rates& r) : rates(r) {}
    virtual ~byte_coder() = default;

    stream_rates rates;
    //! Options that warnings name in place of the library's parameters; nullptr: warnings
    //! name the parameters.
    const option_values* option_names = nullptr;

    //! Accepts up to \p count items, and returns the number of items accepted.
    virtual std::size_t push(const void* items, std::size_t count) = 0;
    //! Writes up to \p bytes bytes, and returns the number of bytes written; 0 if none
    //! are ready.
    virtual std::size_t pull(std::uint8_t* out, std::size_t bytes) = 0;
    //! Submits a batch that has waited for the latency limit.
    virtual void flush_if_due() = 0;
    virtual void finish() = 0;
    virtual bool done() = 0;
    //! Waits for output for at most about 100 ms.
    virtual void wait() = 0;

    //! Returns the backend, the device and the parameters chosen automatically.
    virtual json state() const { return json::object(); }
    //! Returns the number of units of work (decoder_trait::work) per information bit so
    //! far.
    virtual double work_per_bit() const { return 0; }
    //! Prints a summary to stderr, and returns statistics as JSON. Called after all
    //! output was pulled.
    virtual json conclude() { return json::object(); }
    //! Returns whether the input does not fit the code and the format. This function is
    //! called at the end of the input; if it returns true, the exit status is 3.
    virtual bool no_signal() const { return false; }
};

//! Base class of the adapters from the library's decoders to byte_coder.
template <class Decoder>
class frame_adapter : public byte_coder
{
public:
    template <class Options>
    frame_adapter(const Options& options, const stream_rates& r)
        : byte_coder(r), d_decoder(Decoder::make(options, hooks()))
    {
    }

    //! \p make returns the decoder, which must use the given hooks.
    frame_adapter(const stream_rates& r,
                  const std::function<typename Decoder::sptr(decoder_hooks)>& make)
        : byte_coder(r), d_decoder(make(hooks()))
    {
    }

    void finish() override { d_decoder->finish(); }
    bool done() override { return d_decoder->done(); }
    void wait() override { d_decoder->wait(std::chrono::milliseconds(100)); }
    json state() const override
    {
        return json::object({ { "backend", d_decoder->active_backend() },
                              { "device", d_decoder->active_device() },
                              { "batch", d_decoder->batch() } });
    }
    bool no_signal() const override { return !d_decoder->verdict().empty(); }

protected:
    const typename Decoder::sptr d_decoder;

private:
    // Returns hooks that print warnings and errors to stderr, but no informational
    // messages.
    decoder_hooks hooks()
    {
        decoder_hooks h;
        h.log = [this](log_level level, const std::string& text) {
            if (level != log_level::info) {
                const bool warns = level == log_level::warning;
                const auto typed =
                    this->option_names ? this->option_names->warning(text) : text;
                std::cerr << (warns ? "gpufec: WARNING: " : "gpufec: ") +
                                 printable(typed, true) + "\n";
            }
        };
        return h;
    }
};

//! Base class of the adapters of decoders whose push() accepts any number of items.
template <class Decoder>
class decoder_adapter : public frame_adapter<Decoder>
{
public:
    using frame_adapter<Decoder>::frame_adapter;

    std::size_t push(const void* items, std::size_t count) override
    {
        return this->d_decoder->push({ items, count });
    }
    void flush_if_due() override
    {
        if (this->d_decoder->due()) {
            this->d_decoder->push({}); // submits the batch that is due
        }
    }
};

//! A benchmark of batches whose input is already in the slots.
class slot_bench
{
public:
    virtual ~slot_bench() = default;
    //! Returns the information bits per second, measured for \p duration seconds.
    virtual double host_to_host(double duration) = 0;
    //! Returns the time in seconds for one batch while no other is in flight.
    virtual double latency() = 0;

    double bits = 0;             //!< information bits per batch
    double work_per_bit = 0;     //!< units of work (decoder_trait::work) per bit
    json facts = json::object(); //!< members to add to the report
    //! Returns the duration in ms of each step of a batch on each device; null unless the
    //! backend is CUDA.
    std::function<std::vector<std::vector<timed_step>>()> measure_devices;
};

template <class Bench>
class slot_adapter : public slot_bench
{
public:
    //! \p bits_per_unit is the number of information bits per frame, or 1 if
    //! Bench::host_to_host() counts bits.
    template <class Options, class Source>
    slot_adapter(const Options& options, const Source& source, double bits_per_unit)
        : bench(options, source), d_bits_per_unit(bits_per_unit)
    {
        if (bench.on_cuda()) {
            measure_devices = [this] { return bench.device_times(21); };
            facts.add("device_bytes_per_slot", bench.limits().device_bytes);
        }
    }
    double host_to_host(double duration) override
    {
        return bench.host_to_host(duration) * d_bits_per_unit;
    }
    double latency() override { return bench.latency(); }

    Bench bench;

private:
    const double d_bits_per_unit;
};

//! A decoder with input, for `gpufec bench`.
struct bench_subject {
    std::string title;
    std::vector<std::byte> items; //!< input, which is decoded repeatedly
    std::function<std::unique_ptr<byte_coder>()> stream;
    std::function<std::unique_ptr<slot_bench>()> slots; //!< may return nullptr
};

//! A column of the table that `gpufec ber` prints, with the values of one member of the
//! points.
struct column {
    std::string title;
    std::string member; //!< path of the member, see json::at()
    std::string format; //!< printf format of one double
};

//! The interface of a simulation of `gpufec ber`.
class simulation
{
public:
    virtual ~simulation() = default;

    std::string title;
    std::vector<double> range; //!< one point per value
    std::vector<column> columns;
    json facts = json::object(); //!< members to add to the report

    //! Simulates a point. \p progress is called repeatedly; if \p progress throws, the
    //! simulation ends, and point() returns the counts so far.
    virtual void run(double at, const std::function<void()>& progress) = 0;
    // The following functions return results of the last point.
    virtual json decoder() const = 0;
    virtual json point() const = 0;
    virtual std::string remark() const { return ""; }
    //! Returns whether the last point has counts.
    virtual bool any() const = 0;
    //! Returns whether the points of the range after this one need not be simulated.
    virtual bool range_is_done() const { return false; }
};

//! Base class of the simulations of all decoders.
template <class Options, class Result>
class simulation_adapter : public simulation
{
public:
    explicit simulation_adapter(const Options& o) : options(o) {}

    void run(double at, const std::function<void()>& progress) override
    {
        result.reset();
        set(at);
        result = simulate(options, [&](const Result& so_far) {
            result = so_far;
            progress();
        });
    }
    json decoder() const override
    {
        return json::object(
            { { "backend", result->backend }, { "device", result->device } });
    }
    bool any() const override { return result.has_value(); }

protected:
    //! Sets the options for the value \p at of the range.
    virtual void set(double at) = 0;

    Options options;
    std::optional<Result> result; //!< result of the current point so far
};

//! Sets the seed, whether a reference decoder runs, the number of threads, and where the
//! channel is simulated (on the host or on a device).
template <class Link, class Options>
void read_simulation(Options& options,
                     const option_values& values,
                     std::unique_ptr<Link> (*make)(const Options&))
{
    options.decoder.watch = false;
    options.seed = values.seed("seed");
    options.reference = values.has("reference");
    const int threads = values.integer("sim-threads", 0, 1024);
    options.threads = threads ? threads : options.decoder.threads;
    auto& simulated_channel = options.simulated_channel;
    const auto word = values.text("channel");
    simulated_channel.place = word == "host"     ? channel_place::host
                              : word == "device" ? channel_place::device
                                                 : channel_place::automatic;
    simulated_channel.make = make;
    simulated_channel.warn = [](const std::string& text) {
        std::cerr << "gpufec: " + printable(text, true) + "\n";
    };
}

//! A command of a decoder. If its description is empty, the decoder does not support it.
struct trait_command {
    std::string description;
    std::string options;  //!< rows of an option_table
    std::string examples; //!< see command_line::examples
};

struct decoder_trait {
    std::string name; //!< such as "viterbi"
    std::string work; //!< unit that `bench` counts besides bits, such as "edge_iteration"
    std::string code_options;    //!< rows of an option_table that select the code
    std::string decoder_options; //!< rows that configure the decoder
    //! Commands of the decoder with their further options.
    trait_command bench, ber, decode, encode;
    std::string all_options() const { return code_options + decoder_options; }

    //! A function that makes the object of a command and describes the code in \p code.
    template <class Subject>
    using maker =
        std::function<std::unique_ptr<Subject>(const option_values&, json& code)>;
    maker<bench_subject> make_bench;
    maker<simulation> make_simulation;
    maker<byte_coder> make_decoder, make_encoder;
};

decoder_trait viterbi_trait();
decoder_trait ldpc_trait();
decoder_trait sync_trait();
decoder_trait bch_trait();
decoder_trait ccsds_trait();

// Each command returns the exit status of the program.
int bench(const decoder_trait& trait, const arguments& args);
int ber(const decoder_trait& trait, const arguments& args);
int decode(const decoder_trait& trait, const arguments& args);
int encode(const decoder_trait& trait, const arguments& args);
int info(const arguments& args);
int circulants(const arguments& args);

//! Runs `gpufec ber` with --scheduler as tasks of Dask, by the Python package.
int ber_on_cluster(const decoder_trait& trait, const arguments& args);

//! Checks before a simulation that plot() can draw to \p png.
//! \throws std::runtime_error if it cannot; plot_ber.py prints the reason to stderr
void check_plot(const std::string& png);

//! Draws the report of `gpufec ber` to the file \p png, with plot_ber.py.
//! \throws std::runtime_error if the script is missing or fails, or the file cannot be
//!         written
void plot(const json& report, output_file& png);

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_APPS_TRAIT_H */
