// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Tables and parsing of the options of LDPC codes and decoders, which correspond to the
 * parameters of the gpu_ldpc_dvbs2 block. */

#ifndef INCLUDED_GPUFEC_APPS_DECODERS_LDPC_OPTIONS_H
#define INCLUDED_GPUFEC_APPS_DECODERS_LDPC_OPTIONS_H

#include "demap/constellation.h"
#include "options.h"
#include <gnuradio/gpufec/ldpc.h>
#include <gnuradio/gpufec/wifi.h>
#include <optional>
#include <string>

namespace gr::gpufec {

// Rows of an option_table.
extern const char* const ldpc_code_options;
extern const char* const ldpc_decoder_options;
extern const char* const ldpc_symbol_options;
extern const char* const ldpc_ppdu_options;

//! Standard, frame size and rate of a code, such as "dvbs2", "normal" and "1/2", and the
//! constellation that the options name.
struct dvb_names {
    dvb_names(const option_values& values, const ldpc_code& code);

    //! Returns the points of the constellation.
    //! \throws std::invalid_argument if the code is not of DVB-S2 or S2X, or has no such
    //!         constellation; in the first case the message names \p option and \p value
    demap::constellation points(const std::string& option,
                                const std::string& value) const;

    //! True if the code is an unchanged code of --standard. If false, standard,
    //! frame_size and rate are empty.
    bool is_dvb = true;
    std::string standard, frame_size, rate, constellation;
};

//! Returns whether --soft-input selects symbols.
bool has_symbols(const option_values& values);
//! Returns the format of Wi-Fi PPDUs that the options select. Returns nothing if
//! --psdu-bytes is not given.
//! \throws usage_error if an option is malformed or contradicts another option
std::optional<wifi_ppdu> wifi_ppdu_of(const option_values& values);
//! Returns the code that the options select, and prints its warning, if any.
//! \throws usage_error if an option is malformed or contradicts another option
//! \throws std::invalid_argument if there is no such code
ldpc_code ldpc_code_of(const option_values& values);
//! Returns the options of the decoder; if \p ppdu is set, for PPDUs of this format. Warns
//! of options that have no effect.
//! \throws usage_error if an option is malformed or contradicts another option
//! \throws std::invalid_argument if there is no such code, format or algorithm
ldpc_options parse_ldpc(const option_values& values,
                        const std::optional<wifi_ppdu>& ppdu = {});

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_APPS_DECODERS_LDPC_OPTIONS_H */
