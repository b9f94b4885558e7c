// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* What the commands ask of a decoder. A decoder's trait is in a file of its own, the only
 * one that names what is in the decoder's room. */

#ifndef INCLUDED_GPUFEC_APPS_TRAIT_H
#define INCLUDED_GPUFEC_APPS_TRAIT_H

#include "lab/device_link.h"
#include "lab/slot_rates.h"
#include "options.h"
#include "pipeline/printable.h"
#include <gnuradio/gpufec/viterbi.h>
#include <chrono>
#include <cstddef>
#include <functional>
#include <iostream>
#include <memory>
#include <string>

namespace gr::gpufec {

struct stream_rates {
    std::size_t item_bytes; //!< of an input item
    double items_per_bit;   //!< input items per bit that a pace counts
    double bits_per_byte;   //!< information bits per byte of output
    //! Input items of a frame; 0: there are none, or of no one length.
    std::size_t frame_items = 0;
};

//! A decoder as a stream of items in and of bytes out.
class byte_decoder
{
public:
    explicit byte_decoder(const stream_rates& r) : rates(r) {}
    virtual ~byte_decoder() = default;

    stream_rates rates;

    //! Takes up to \p count items, and says how many it took.
    virtual std::size_t push(const void* items, std::size_t count) = 0;
    //! Writes up to \p bytes bytes, and says how many; 0: there are none now.
    virtual std::size_t pull(std::uint8_t* out, std::size_t bytes) = 0;
    //! Sends a batch that has waited for long enough.
    virtual void flush_if_due() = 0;
    virtual void finish() = 0;
    virtual bool done() = 0;
    //! Until there is something to pull, or for a while.
    virtual void wait() = 0;

    //! Backend, device and what was chosen.
    virtual json state() const = 0;
    //! Of the trait's unit of work, so far.
    virtual double work_per_bit() const { return 0; }
    //! At the end: says on stderr what was wrong with the input, and gives what is known.
    virtual json conclude() { return json::object(); }
};

//! What all decoders do alike.
template <class Decoder>
class frame_adapter : public byte_decoder
{
public:
    template <class Options>
    frame_adapter(const Options& options, const stream_rates& r)
        : byte_decoder(r), d_decoder(options, hooks())
    {
    }

    void finish() override { d_decoder.finish(); }
    bool done() override { return d_decoder.done(); }
    void wait() override { d_decoder.wait(std::chrono::milliseconds(100)); }
    json state() const override
    {
        return json::object({ { "backend", d_decoder.active_backend() },
                              { "device", d_decoder.active_device() },
                              { "batch", d_decoder.batch() } });
    }

protected:
    Decoder d_decoder;

private:
    // What goes well would be noise on a terminal.
    static decoder_hooks hooks()
    {
        decoder_hooks h;
        h.log = [](log_level level, const std::string& text) {
            if (level != log_level::info) {
                std::cerr << "gpufec: " + printable(text, true) + "\n";
            }
        };
        return h;
    }
};

//! What decoders do alike that streams of items are pushed to.
template <class Decoder>
class decoder_adapter : public frame_adapter<Decoder>
{
public:
    using frame_adapter<Decoder>::frame_adapter;

    std::size_t push(const void* items, std::size_t count) override
    {
        return this->d_decoder.push(items, count);
    }
    void flush_if_due() override
    {
        if (this->d_decoder.due()) {
            this->d_decoder.push(nullptr, 0);
        }
    }
};

//! A room's benchmark from slot to slot.
class slot_bench
{
public:
    virtual ~slot_bench() = default;
    //! Information bits per second.
    virtual double host_to_host(double duration) = 0;
    //! Seconds of one batch alone.
    virtual double latency() = 0;

    double bits = 0;             //!< of information, per batch
    double work_per_bit = 0;     //!< of the trait's unit of work
    json facts = json::object(); //!< what else is worth reporting
    //! With CUDA only: the steps of a batch on each device.
    std::function<std::vector<std::vector<timed_step>>()> measure_devices;
};

template <class Bench>
class slot_adapter : public slot_bench
{
public:
    //! \p bits_per_unit of what \p Bench counts
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

//! What `gpufec bench` measures.
struct bench_subject {
    std::string title;
    std::vector<std::byte> items; //!< decoded again and again
    std::function<std::unique_ptr<byte_decoder>()> stream;
    std::function<std::unique_ptr<slot_bench>()> slots; //!< may give nullptr
};

//! A column of the table that `gpufec ber` prints: a member of each point.
struct column {
    std::string title;
    std::string member; //!< "a.b": b of the member a
    std::string format; //!< of printf, for one double
};

//! What `gpufec ber` simulates.
class simulation
{
public:
    virtual ~simulation() = default;

    std::string title;
    std::vector<double> range; //!< a point each
    std::vector<column> columns;
    json facts = json::object(); //!< what else the report says

    //! Simulates a point. \p progress is called now and then, and may throw: what was
    //! counted until then stays.
    virtual void run(double at, const std::function<void()>& progress) = 0;
    // Of the last point:
    virtual json decoder() const = 0;
    virtual json point() const = 0;
    virtual std::string remark() const { return ""; }
    //! Whether anything was counted.
    virtual bool any() const = 0;
    //! Whether the range ends here.
    virtual bool enough() const { return false; }
};

//! What the simulations of all rooms do alike.
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
    //! The options of the point at \p at of the range.
    virtual void set(double at) = 0;

    Options options;
    std::optional<Result> result; //!< so far
};

//! What --channel says.
template <class Link, class Options>
void set_link(link_options<Link, Options>& link,
              const option_values& values,
              std::unique_ptr<Link> (*make)(const Options&))
{
    const auto word = values.text("channel");
    link.place = word == "host"     ? link_place::host
                 : word == "device" ? link_place::device
                                    : link_place::automatic;
    link.make = make;
    link.warn = [](const std::string& text) {
        std::cerr << "gpufec: " + printable(text, true) + "\n";
    };
}

struct trait_command {
    std::string description;
    std::string options; //!< rows of an option_table
};

struct decoder_trait {
    std::string name; //!< "viterbi"
    std::string work; //!< a unit that `bench` counts beside bits: "edge_iteration"
    std::string code_options;         //!< rows of an option_table
    trait_command bench, ber, decode; //!< what the commands' own options do not say

    //! Makes what a command works on, and says what the code is.
    template <class Subject>
    using maker =
        std::function<std::unique_ptr<Subject>(const option_values&, json& code)>;
    maker<bench_subject> make_bench;
    maker<simulation> make_simulation;
    maker<byte_decoder> make_decoder;
};

const char* termination_name(termination ends);

decoder_trait viterbi_trait();
decoder_trait ldpc_trait();
decoder_trait sync_trait();

// The commands.
int bench(const decoder_trait& trait, const arguments& args);
int ber(const decoder_trait& trait, const arguments& args);
int decode(const decoder_trait& trait, const arguments& args);
int info(const arguments& args);
int circulants(const arguments& args);

//! gpufec ber with --scheduler: as tasks of Dask, by the Python package.
int ber_on_cluster(const decoder_trait& trait, const arguments& args);

//! Whether plot() could: before work that would be lost.
//! \throws std::runtime_error; what is missing has been said on standard error
void check_plot(const std::string& png);

//! Draws the report of `gpufec ber` to the file \p png, with plot_ber.py.
//! \throws std::runtime_error that says what is missing
void plot(const json& report, const std::string& png);

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_APPS_TRAIT_H */
