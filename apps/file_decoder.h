// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* A file, or standard input, of soft values to a file of bits. */

#ifndef INCLUDED_GPUFEC_APPS_FILE_DECODER_H
#define INCLUDED_GPUFEC_APPS_FILE_DECODER_H

#include "command.h"
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <iostream>
#include <memory>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace gr::gpufec {

//! A file descriptor, or "-" for one that is open already.
class file
{
public:
    file(const std::string& path, int flags, int standard)
        : d_path(path), d_fd(path == "-" ? standard : open(path.c_str(), flags, 0666))
    {
        if (d_fd < 0) {
            throw std::runtime_error(path + ": " + std::strerror(errno));
        }
    }
    file(const file&) = delete;
    file& operator=(const file&) = delete;
    ~file()
    {
        if (d_path != "-") {
            close(d_fd);
        }
    }

    //! 0 at the end.
    std::size_t read(void* data, std::size_t bytes)
    {
        for (;;) {
            const auto n = ::read(d_fd, data, bytes);
            if (n >= 0) {
                return n;
            }
            if (errno != EINTR) {
                throw std::runtime_error(d_path + ": " + std::strerror(errno));
            }
        }
    }

    //! Whether a read would not wait, within \p limit.
    bool readable(std::chrono::milliseconds limit)
    {
        pollfd p{ d_fd, POLLIN, 0 };
        return poll(&p, 1, limit.count()) != 0;
    }

    void write(const std::uint8_t* data, std::size_t bytes)
    {
        while (bytes > 0) {
            const auto n = ::write(d_fd, data, bytes);
            if (n < 0 && errno != EINTR) {
                throw std::runtime_error(d_path + ": " + std::strerror(errno));
            }
            if (n > 0) {
                data += n;
                bytes -= n;
            }
        }
    }

private:
    std::string d_path;
    int d_fd;
};

//! Decodes a file with a stream decoder, such as viterbi_decoder.
template <class Decoder>
class file_decoder
{
public:
    using pull_method = std::size_t (Decoder::*)(std::uint8_t*, std::size_t);

    /*!
     * \param item_bytes of a soft value
     * \param pull takes decoded bytes out of the decoder
     * \param items_per_s pace of the input; 0: as fast as possible
     */
    template <class Options>
    file_decoder(const Options& options,
                 std::size_t item_bytes,
                 pull_method pull,
                 double items_per_s)
        : d_decoder(options),
          d_item_bytes(item_bytes),
          d_pull(pull),
          d_items_per_s(items_per_s),
          d_in(chunk_bytes()),
          d_out(1u << 20)
    {
    }

    void run(file& in, file& out)
    {
        const double begin = seconds();
        std::uint64_t items = 0;
        std::size_t partial = 0; // bytes of an item that is not whole yet
        for (;;) {
            // Nothing comes in: partial batches go out when they are due.
            while (!in.readable(std::chrono::milliseconds(10))) {
                if (d_decoder.due()) {
                    d_decoder.push(nullptr, 0);
                }
                drain(out);
            }
            const auto n = in.read(d_in.data() + partial, d_in.size() - partial);
            if (n == 0) {
                break;
            }
            const auto bytes = partial + n;
            push(bytes / d_item_bytes, out);
            items += bytes / d_item_bytes;
            partial = bytes % d_item_bytes;
            std::memmove(d_in.data(), d_in.data() + bytes - partial, partial);
            show(begin);
            if (d_items_per_s > 0) {
                keep_pace(begin + items / d_items_per_s, out);
            }
        }
        if (partial > 0) {
            std::cerr << "gpufec: the last " << partial
                      << " bytes of the input are not a whole float: ignored\n";
        }
        d_decoder.finish();
        while (!d_decoder.done()) {
            if (!drain(out)) {
                d_decoder.wait(std::chrono::milliseconds(100));
            }
        }
        d_progress.clear();
    }

    const Decoder& decoder() const { return d_decoder; }

private:
    // At a pace, 10 ms of it at a time.
    std::size_t chunk_bytes() const
    {
        const double items = d_items_per_s > 0 ? d_items_per_s / 100 : 1u << 20;
        return d_item_bytes *
               std::clamp<std::size_t>(std::size_t(items), 1, std::size_t(1) << 20);
    }

    void push(std::size_t count, file& out)
    {
        for (std::size_t done = 0; done < count;) {
            const auto taken =
                d_decoder.push(d_in.data() + done * d_item_bytes, count - done);
            done += taken;
            if (!drain(out) && taken == 0) {
                d_decoder.wait(std::chrono::milliseconds(100));
            }
        }
    }

    bool drain(file& out)
    {
        bool any = false;
        for (;;) {
            const auto n = (d_decoder.*d_pull)(d_out.data(), d_out.size());
            if (n == 0) {
                return any;
            }
            out.write(d_out.data(), n);
            d_written += n;
            any = true;
        }
    }

    void keep_pace(double when, file& out)
    {
        while (seconds() < when) {
            const double rest = std::min(0.01, when - seconds());
            std::this_thread::sleep_for(
                std::chrono::duration<double>(std::max(0.0, rest)));
            if (d_decoder.due()) {
                d_decoder.push(nullptr, 0);
            }
            drain(out);
        }
    }

    void show(double begin)
    {
        const double megabytes = double(d_written) / 1e6;
        d_progress.show(std::to_string(std::uint64_t(megabytes)) + " MB decoded, " +
                        std::to_string(int(megabytes / (seconds() - begin))) + " MB/s");
    }

    Decoder d_decoder;
    std::size_t d_item_bytes;
    pull_method d_pull;
    double d_items_per_s; // 0: as fast as possible
    std::vector<std::byte> d_in;
    std::vector<std::uint8_t> d_out;
    std::uint64_t d_written = 0;
    progress_line d_progress;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_APPS_FILE_DECODER_H */
