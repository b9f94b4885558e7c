// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Input and output files, and the replacement of a file by a complete new one. */

#include "file.h"
#include "options.h"
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
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
    if (S_ISREG(status().st_mode) && ftruncate(d_descriptor, 0) != 0) {
        fail();
    }
}

void file::sync()
{
    if (fsync(d_descriptor) != 0 && errno != EINVAL) {
        fail();
    }
}

struct stat file::status() const
{
    struct stat status;
    if (fstat(d_descriptor, &status) != 0) {
        fail();
    }
    return status;
}

void file::close()
{
    if (std::exchange(d_owned, false) && ::close(d_descriptor) != 0 && errno != EINTR) {
        fail();
    }
}

namespace {

namespace fs = std::filesystem;

const fs::path descriptors = "/proc/self/fd";

// Resolves symbolic links, even to missing files. Links of open descriptors are kept,
// because the file behind /dev/stdout must not be replaced.
fs::path target_of(fs::path path)
{
    std::error_code none;
    const auto own = fs::weakly_canonical(descriptors, none);
    for (int links = 0;; ++links) {
        const auto folder =
            fs::weakly_canonical(fs::absolute(path, none).parent_path(), none);
        if (folder == own) {
            return descriptors / path.filename();
        }
        const auto to = fs::read_symlink(path, none);
        if (none || links == 40) {
            return folder.empty() ? path : folder / path.filename();
        }
        path = path.parent_path() / to;
    }
}

bool one_regular_file(const struct stat& one, const struct stat& two)
{
    return S_ISREG(one.st_mode) && one.st_dev == two.st_dev && one.st_ino == two.st_ino;
}

int open_to_write(const fs::path& path, int flags = 0, unsigned mode = 0666)
{
    return open(path.c_str(), O_WRONLY | O_CLOEXEC | flags, mode);
}

} // namespace

output_file::output_file(const std::string& parameter, const std::string& path)
    : d_parameter(parameter),
      d_name(path == "-" ? "standard output" : path),
      d_label(parameter + ": " + d_name),
      d_path(path == "-" ? descriptors / "1" : target_of(path)),
      d_shared(d_path.parent_path() == descriptors)
{
    if (d_shared) {
        d_in_place.emplace(d_label, std::atoi(d_path.filename().c_str()), false);
        d_in_place->status(); // throws if the descriptor is not open
        return;
    }
    struct stat status;
    const bool there = stat(d_path.c_str(), &status) == 0;
    if (there || errno != ENOENT) {
        d_in_place.emplace(d_label, open_to_write(d_path), true);
    }
    const auto user = geteuid();
    d_replaceable =
        access(d_path.parent_path().c_str(), W_OK | X_OK) == 0 &&
        (!there || (S_ISREG(status.st_mode) && (user == 0 || user == status.st_uid)));
    if (!there && (!d_replaceable || fs::path(path).filename().empty())) {
        throw std::runtime_error(d_label + ": " + std::strerror(errno));
    }
}

output_file::~output_file() { discard(); }

void output_file::discard()
{
    d_temporary.reset();
    if (!d_temporary_path.empty()) {
        unlink(d_temporary_path.c_str());
        d_temporary_path.clear();
    }
}

bool output_file::keeps_content() const
{
    return d_replaceable && d_in_place && d_in_place->status().st_size > 0;
}

// Opens the temporary file, and gives it the owner and permissions of the file that it
// replaces. Returns false if owner or permissions cannot be set; throws if the file
// cannot be opened.
bool output_file::open_temporary()
{
    struct stat old;
    const bool there = stat(d_path.c_str(), &old) == 0;
    int descriptor = -1;
    for (int i = 0; descriptor < 0 && (i == 0 || errno == EEXIST); ++i) {
        d_temporary_path = d_path.parent_path() / (".gpufec-" + std::to_string(getpid()) +
                                                   "-" + std::to_string(i));
        descriptor =
            open_to_write(d_temporary_path, O_CREAT | O_EXCL, there ? 0600 : 0666);
    }
    if (descriptor < 0) {
        d_temporary_path.clear();
    }
    d_temporary.emplace(d_label, descriptor, true);
    return !there || (fchown(descriptor, old.st_uid, old.st_gid) == 0 &&
                      fchmod(descriptor, old.st_mode & 07777) == 0);
}

void output_file::open(bool whole)
{
    if (std::exchange(d_open, true)) {
        return;
    }
    if (d_replaceable && (whole || keeps_content())) {
        if (open_temporary()) {
            return;
        }
        discard();
    }
    if (!d_in_place) {
        d_in_place.emplace(d_label, open_to_write(d_path, O_CREAT), true);
    }
    if (!d_shared) {
        d_in_place->clear();
    }
}

void output_file::write(const void* data, std::size_t bytes)
{
    open(false);
    (d_temporary ? d_temporary : d_in_place)->write(data, bytes);
}

void output_file::close()
{
    open(false);
    d_open = false;
    if (!d_temporary) {
        d_in_place->close();
        d_in_place.reset();
        return;
    }
    d_temporary->sync();
    d_temporary->close();
    d_temporary.reset();
    if (std::rename(d_temporary_path.c_str(), d_path.c_str()) != 0) {
        throw std::runtime_error(d_label + ": " + std::strerror(errno));
    }
    d_temporary_path.clear();
}

void output_file::replace(const std::string& text)
{
    discard(); // removes the temporary file of a failed call
    d_open = false;
    open(true);
    write(text.data(), text.size());
    close();
}

bool output_file::is_at(const std::string& path) const
{
    struct stat other;
    return d_in_place ? stat(path.c_str(), &other) == 0 &&
                            one_regular_file(d_in_place->status(), other)
                      : target_of(path) == d_path;
}

void output_file::require_own(const option_values& values,
                              const std::vector<std::string>& but) const
{
    for (const auto& other : values.files()) {
        if (std::count(but.begin(), but.end(), other) == 0 && is_at(values.text(other))) {
            refuse_twice();
        }
    }
}

void output_file::require_other_than(const file& in) const
{
    if (d_in_place && one_regular_file(d_in_place->status(), in.status())) {
        refuse_twice();
    }
}

void output_file::refuse_twice() const
{
    throw usage_error(d_parameter + " is " + d_name +
                      ": it must be a file that no other argument names");
}

checked_standard_output::checked_standard_output()
    : d_file("standard output", STDOUT_FILENO, false),
      d_buffer(1 << 12),
      d_before(std::cout.rdbuf(this))
{
    std::cout.exceptions(std::ios::badbit); // rethrows the buffer's exceptions
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

json_file::json_file(const option_values& values, const std::vector<std::string>& but)
    : d_standard_output(values.text("json") == "-")
{
    if (values.has("json")) {
        d_file.emplace("--json", values.text("json"));
        auto others = but;
        others.push_back("json");
        d_file->require_own(values, others);
    }
}

void json_file::write(const json& value)
{
    if (d_file) {
        d_file->replace(value.to_string() + "\n");
    }
}

} // namespace gr::gpufec
