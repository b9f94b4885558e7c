// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Input and output files of the tool, including standard input and output. */

#ifndef INCLUDED_GPUFEC_APPS_FILE_H
#define INCLUDED_GPUFEC_APPS_FILE_H

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <iosfwd>
#include <memory>
#include <optional>
#include <streambuf>
#include <string>
#include <vector>

#include <sys/stat.h>

namespace gr::gpufec {

class json;
class option_values;

//! An RAII owner of a file descriptor. Functions throw a std::runtime_error that names
//! the file.
class file
{
public:
    //! Opens a file for reading; "-" is standard input.
    static file to_read(const std::string& path);
    //! \p descriptor is the result of open(); a negative value throws. Errors begin with
    //! \p name. The destructor closes the descriptor if \p owned is true.
    file(const std::string& name, int descriptor, bool owned);
    file(file&& other) noexcept;
    file& operator=(file&&) = delete;
    ~file();

    const std::string& name() const { return d_name; }

    //! Reads up to \p bytes bytes, and returns the number of bytes read; 0 at the end
    //! of the file.
    std::size_t read(void* data, std::size_t bytes);
    //! Waits up to \p limit for data; returns whether a read would not block.
    bool readable(std::chrono::milliseconds limit) const;
    //! Writes all \p bytes bytes of \p data.
    void write(const void* data, std::size_t bytes);
    //! Truncates the file if it is a regular file.
    void clear();
    //! Flushes the file to disk, if the file is on a disk.
    void sync();
    //! Closes the file and reports errors of delayed writes.
    void close();
    struct stat status() const;

private:
    [[noreturn]] void fail() const;

    std::string d_name;
    int d_descriptor;
    bool d_owned;
};

/*!
 * \brief An output file of the program; "-" is standard output.
 *
 * Nothing is created or changed before the first write. Existing content stays until the
 * new content is complete: new content is written to a temporary file in the same folder,
 * which is then renamed. write() writes files without content in place. Pipes, devices,
 * open descriptors (/dev/stdout) and files that cannot be replaced with their owner and
 * permissions are always written in place. Functions throw std::runtime_error, which
 * names the file.
 */
class output_file
{
public:
    //! Checks that \p path can be written. Errors begin with the name \p parameter.
    output_file(const std::string& parameter, const std::string& path);
    output_file(const output_file&) = delete;
    //! Discards a temporary file that close() did not complete.
    ~output_file();

    const std::string& name() const { return d_name; }
    //! Returns whether the file has content that stays until close().
    bool keeps_content() const;
    //! Returns whether the file can be replaced by renaming a temporary file, so that
    //! replace() may be called more than once.
    bool replaceable() const { return d_replaceable; }

    void write(const void* data, std::size_t bytes);
    //! Completes the file, which is empty if nothing was written.
    void close();
    //! Replaces the content by \p text and closes the file.
    void replace(const std::string& text);

    //! Returns whether this is the regular file at \p path, which need not exist.
    bool is_at(const std::string& path) const;
    //! Throws usage_error if an option that is not listed in \p but names the same file.
    void require_own(const option_values& values,
                     const std::vector<std::string>& but) const;
    //! Throws usage_error if this is the file that \p in reads.
    void require_other_than(const file& in) const;

private:
    void open(bool whole);
    bool open_temporary();
    void discard();
    [[noreturn]] void refuse_twice() const;

    const std::string d_parameter, d_name, d_label;
    const std::filesystem::path d_path; // with symbolic links resolved
    const bool d_shared;                // whether the path is that of an open descriptor
    bool d_replaceable = false;
    bool d_open = false; // between open() and close()
    std::optional<file> d_in_place, d_temporary;
    std::string d_temporary_path;
};

//! A guard: while it exists, std::cout writes like file::write() and throws errors.
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

//! The output file of the option --json, if that option is given.
class json_file
{
public:
    /*!
     * \brief Opens the file of --json before the simulation, so that errors
     * are reported early.
     * \throws usage_error if an option that is not listed in \p but names the same file
     */
    explicit json_file(const option_values& values,
                       const std::vector<std::string>& but = {});

    //! Returns whether JSON goes to standard output.
    bool standard_output() const { return d_standard_output; }
    const std::optional<output_file>& target() const { return d_file; }
    void write(const json& value);

private:
    const bool d_standard_output;
    std::optional<output_file> d_file;
};

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_APPS_FILE_H */
