// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

#include "file.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <stdexcept>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gr::gpufec {

file::file(const std::string& name, int descriptor, bool owned)
    : d_name(name), d_descriptor(descriptor), d_owned(owned)
{
    if (d_descriptor < 0) {
        fail();
    }
}

file::file(file&& other) noexcept
    : d_name(std::move(other.d_name)),
      d_descriptor(other.d_descriptor),
      d_owned(std::exchange(other.d_owned, false))
{
}

file file::to_read(const std::string& path)
{
    return path == "-" ? file("standard input", STDIN_FILENO, false)
                       : file(path, open(path.c_str(), O_RDONLY | O_CLOEXEC), true);
}

file file::to_write(const std::string& path)
{
    return path == "-" ? file("standard output", STDOUT_FILENO, false)
                       : file(path,
                              open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666),
                              true);
}

file::~file()
{
    if (d_owned) {
        ::close(d_descriptor);
    }
}

void file::fail() const
{
    throw std::runtime_error(d_name + ": " + std::strerror(errno));
}

std::size_t file::read(void* data, std::size_t bytes)
{
    for (;;) {
        const auto n = ::read(d_descriptor, data, bytes);
        if (n >= 0) {
            return n;
        }
        if (errno == EAGAIN) {
            readable(std::chrono::seconds(1));
        } else if (errno != EINTR) {
            fail();
        }
    }
}

bool file::readable(std::chrono::milliseconds limit) const
{
    pollfd p{ d_descriptor, POLLIN, 0 };
    return poll(&p, 1, int(limit.count())) != 0;
}

void file::write(const void* data, std::size_t bytes)
{
    const auto* from = static_cast<const char*>(data);
    while (bytes > 0) {
        const auto n = ::write(d_descriptor, from, bytes);
        if (n >= 0) {
            from += n;
            bytes -= n;
        } else if (errno == EAGAIN) {
            pollfd p{ d_descriptor, POLLOUT, 0 };
            poll(&p, 1, -1);
        } else if (errno != EINTR) {
            fail();
        }
    }
}

void file::clear()
{
    struct stat status;
    if (fstat(d_descriptor, &status) != 0 ||
        (d_owned && S_ISREG(status.st_mode) && ftruncate(d_descriptor, 0) != 0)) {
        fail();
    }
}

void file::close()
{
    if (std::exchange(d_owned, false) && ::close(d_descriptor) != 0 && errno != EINTR) {
        fail();
    }
}

namespace {

bool same_file(const struct stat& one, const struct stat& two)
{
    return S_ISREG(one.st_mode) && one.st_dev == two.st_dev && one.st_ino == two.st_ino;
}

} // namespace

bool file::same_as(const file& other) const
{
    struct stat one, two;
    return fstat(d_descriptor, &one) == 0 && fstat(other.d_descriptor, &two) == 0 &&
           same_file(one, two);
}

bool file::is_at(const std::string& path) const
{
    struct stat one, two;
    return fstat(d_descriptor, &one) == 0 && stat(path.c_str(), &two) == 0 &&
           same_file(one, two);
}

checked_standard_output::checked_standard_output()
    : d_file(file::to_write("-")), d_buffer(1 << 12), d_before(std::cout.rdbuf(this))
{
    std::cout.exceptions(std::ios::badbit); // lets the buffer's own exception through
    setp(d_buffer.data(), d_buffer.data() + d_buffer.size());
}

checked_standard_output::~checked_standard_output()
{
    std::cout.exceptions(std::ios::goodbit);
    std::cout.rdbuf(d_before);
}

int checked_standard_output::sync()
{
    const auto count = pptr() - pbase();
    setp(d_buffer.data(), d_buffer.data() + d_buffer.size());
    d_file.write(pbase(), count);
    return 0;
}

int checked_standard_output::overflow(int character)
{
    sync();
    return character == traits_type::eof() ? 0
                                           : sputc(traits_type::to_char_type(character));
}

json_file::json_file(const std::string& path) : d_standard_output(path == "-")
{
    if (!path.empty()) {
        d_file.emplace(file::to_write(path));
    }
}

void json_file::write(const json& value)
{
    if (!d_file) {
        return;
    }
    const auto text = value.to_string() + "\n";
    d_file->clear();
    d_file->write(text.data(), text.size());
    d_file->close();
}

} // namespace gr::gpufec
