// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Files, and standard input and output, by their descriptors. */

#ifndef INCLUDED_GPUFEC_APPS_FILE_H
#define INCLUDED_GPUFEC_APPS_FILE_H

#include "json.h"
#include <chrono>
#include <cstddef>
#include <iosfwd>
#include <memory>
#include <optional>
#include <streambuf>
#include <string>
#include <vector>

namespace gr::gpufec {

//! A file to read or to write; "-" is standard input or output. All but the destructor
//! \throws std::runtime_error that names the file
class file
{
public:
    static file to_read(const std::string& path);
    //! Made where there is none, and left as it is until clear().
    static file to_write(const std::string& path);
    file(file&& other) noexcept;
    file& operator=(file&&) = delete;
    ~file();

    const std::string& name() const { return d_name; }

    //! 0 at the end.
    std::size_t read(void* data, std::size_t bytes);
    //! Whether a read would not wait, within \p limit.
    bool readable(std::chrono::milliseconds limit) const;
    //! Writes all, however long that takes.
    void write(const void* data, std::size_t bytes);
    //! Makes a regular file empty.
    void clear();
    //! Sees what a late write left to be told.
    void close();

    //! Whether both are one regular file, whatever their names.
    bool same_as(const file& other) const;
    //! Whether this is the regular file at \p path.
    bool is_at(const std::string& path) const;

private:
    file(const std::string& name, int descriptor, bool owned);
    [[noreturn]] void fail() const;

    std::string d_name;
    int d_descriptor;
    bool d_owned;
};

//! While it lives, std::cout writes as file::write() does, and throws where that fails.
class checked_standard_output : std::streambuf
{
public:
    checked_standard_output();
    ~checked_standard_output() override;

private:
    int overflow(int character) override;
    int sync() override;

    file d_file;
    std::vector<char> d_buffer;
    std::streambuf* const d_before;
};

//! Where --json goes to, if it is given.
class json_file
{
public:
    //! \p path "": nowhere. The file is opened at once, so that long work is not lost.
    explicit json_file(const std::string& path);

    bool wanted() const { return d_file.has_value(); }
    //! Whether standard output is taken.
    bool standard_output() const { return d_standard_output; }
    const std::optional<file>& target() const { return d_file; }
    void write(const json& value);

private:
    const bool d_standard_output;
    std::optional<file> d_file;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_APPS_FILE_H */
