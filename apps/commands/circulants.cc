// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* gpufec circulants: converts an LDPC code's alist file to a base matrix. */

#include "file.h"
#include "trait.h"
#include <gnuradio/gpufec/ldpc.h>
#include <iostream>
#include <sstream>

namespace gr::gpufec {

int circulants(const arguments& args)
{
    const command_line line{
        "gpufec circulants",
        "IN OUT [OPTIONS]",
        "Finds the circulants in the parity-check matrix of an alist file, and writes "
        "the base matrix of the same code, with which decoding is faster. The order of "
        "bits and checks does not change. A parity chain like that of DVB-S2 is found as "
        "well.",
        { { "Options",
            "lifting int 0 size of the circulants; 0: the largest size that the matrix "
            "has" } },
        { "IN", "OUT" },
        R"(
# Find the circulants of the largest size
gpufec circulants code.alist code.txt
# Find circulants of a given size
gpufec circulants --lifting 2 code.alist code.txt
)"
    };
    const auto values = line.parse(args);
    if (!values) {
        return 0;
    }
    output_file out("OUT", values->text("OUT"));
    if (out.is_at(values->text("IN"))) {
        throw usage_error("OUT is " + out.name() + ": it must be a file other than IN");
    }
    return values->naming_options([&] {
        const auto code = ldpc_code::from_file(values->text("IN"))
                              .with_circulants(values->integer("lifting"));
        std::ostringstream text;
        code.write_base_matrix(text);
        out.replace(text.str());
        std::cerr << "gpufec: circulants of size " << code.lifting()
                  << ", base matrix of " << code.checks() / code.lifting() << " rows"
                  << (code.q() ? ", and a parity chain" : "") << "\n";
        return 0;
    });
}

} // namespace gr::gpufec
