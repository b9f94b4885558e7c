// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Names that users type: presets, standards, rates, options. Case, '-' and '_' are
 * ignored; the message for an unknown name suggests the nearest known one. */

#ifndef INCLUDED_GPUFEC_COMMON_NAMES_H
#define INCLUDED_GPUFEC_COMMON_NAMES_H

#include <gnuradio/gpufec/api.h>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace gr::gpufec {

using name_list = std::vector<std::string>;

//! Returns \p name in lower case, without '-' and '_' after its first character.
GPUFEC_API std::string folded(const std::string& name);

//! Returns the index of \p name in \p names or, if \p name is not in the list, of the
//! first element that equals \p name after folded(). Returns std::nullopt if there is no
//! such element.
GPUFEC_API std::optional<std::size_t> find_name(const std::string& name,
                                                const name_list& names);

//! Returns the element of \p names that is most similar to \p name; "" if none is
//! similar. If \p name is a number or a fraction, a fraction in \p names is similar only
//! if the two values differ by less than 0.005.
GPUFEC_API std::string nearest_name(const std::string& name, const name_list& names);

/*!
 * \brief Returns a message for an unknown name, with a first line of up to 120
 * characters.
 *
 * The message is 'PARAMETER is "NAME": ALLOWED a, b and c'. If that message is too long,
 * or if there are more than eight names, the first line suggests the most similar name
 * instead. A second line lists the names, at most the eight most similar ones. If no name
 * is similar, names are omitted from the list until the line is short enough.
 * \param parameter name of the parameter
 * \param name its value
 * \param names the known names
 * \param allowed the words that precede the list
 * \param all where to find the complete list, such as "gpufec info"; appended if names
 *        were omitted from the list
 */
GPUFEC_API std::string unknown_name(const std::string& parameter,
                                    const std::string& name,
                                    const name_list& names,
                                    const std::string& allowed = "allowed values are",
                                    const std::string& all = "");

/*!
 * \brief Returns the index of \p name among \p names, compared after folded().
 * \throws std::invalid_argument with the text of unknown_name() if there is none
 */
GPUFEC_API std::size_t index_of_name(const std::string& parameter,
                                     const std::string& name,
                                     const name_list& names,
                                     const std::string& allowed = "allowed values are",
                                     const std::string& all = "");

//! Returns the element of \p names that equals \p name after folded().
//! \throws std::invalid_argument with the text of unknown_name() if there is none
inline std::string known_name(const std::string& parameter,
                              const std::string& name,
                              const name_list& names,
                              const std::string& allowed = "allowed values are",
                              const std::string& all = "")
{
    return names[index_of_name(parameter, name, names, allowed, all)];
}

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_COMMON_NAMES_H */
