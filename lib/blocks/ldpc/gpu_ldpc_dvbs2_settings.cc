// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The settings of gpu_ldpc_dvbs2 that change during a stream: code, constellation, LLR
 * scale and Es/N0, from setters and from tags. */

#include "blocks/common/pmt_text.h"
#include "common/ranges.h"
#include "gpu_ldpc_dvbs2_impl.h"

namespace gr::gpufec {

void gpu_ldpc_dvbs2_impl::use_esn0_db(double esn0_db)
{
    d_esn0_db = esn0_db;
    d_decoder->set_esn0_db(esn0_db);
}

void gpu_ldpc_dvbs2_impl::apply_tags_at(std::uint64_t item)
{
    d_code_tags.release(item + 1, [&](const held_tag& tag) {
        if (d_repeated > 0) {
            --d_repeated;
        } else if (tag.offset == item) {
            apply(tag);
        }
    });
    // A tag at the beginning of a frame changes nothing if it repeats the tag of the
    // current code. The frames before and after this tag can be pushed together.
    const auto repeats = [&](const held_tag& tag) {
        return (tag.offset - item + have()) % d_decoder->frame_items() == 0 &&
               pmt::eqv(tag.key, d_applied->key) &&
               pmt::equal(tag.value, d_applied->value);
    };
    while (d_applied && d_repeated < d_code_tags.size() &&
           repeats(d_code_tags[d_repeated])) {
        ++d_repeated;
    }
}

void gpu_ldpc_dvbs2_impl::apply(const held_tag& tag)
{
    if (d_esn0_key && pmt::eqv(tag.key, d_esn0_key)) {
        if (pmt::is_real(tag.value) || pmt::is_integer(tag.value)) {
            use_esn0_db(pmt::to_double(tag.value));
        }
        return;
    }
    if (have() > 0 || d_skip > 0) {
        warn_once(d_warned_of_place,
                  "a frame is dropped, because a tag inside the frame names a code: " +
                      pmt_text(tag.value));
    }
    if (have() > 0) {
        ++d_skipped;
        drop_incomplete(tag.offset);
    }
    d_skip = 0;
    d_lost = false;
    std::string fault;
    const auto kind = pmt::eqv(tag.key, d_xfecframe_key)
                          ? kind_of_xfecframe(tag.value)
                          : kind_of_ldpc_code(tag.value, fault);
    forget_applied();
    if (kind && select(*kind)) {
        d_applied = tag;
        return;
    }
    d_skip = !kind ? 0 : d_symbols ? kind->skip_symbols : kind->skip_bits;
    d_lost = d_skip == 0;
    ++d_skipped;
    warn_once(d_warned_of_code,
              "the code that a tag names is not known: " + pmt_text(tag.key) + " " +
                  pmt_text(tag.value) + (fault.empty() ? "" : ": " + fault) +
                  (d_lost ? "; input is dropped up to the next tag"
                          : "; its frames are skipped"));
}

// Makes the next code tag take effect even if it repeats the previous tag.
void gpu_ldpc_dvbs2_impl::forget_applied()
{
    d_applied.reset();
    d_repeated = 0;
}

// Selects code and constellation; returns false if the decoder lacks one of them.
bool gpu_ldpc_dvbs2_impl::select(const frame_kind& kind)
{
    const auto code = d_index.find(kind.code);
    if (code == d_index.end()) {
        return false;
    }
    unsigned constellation = 0;
    if (d_symbols) {
        const auto found =
            d_symbols->find({ kind.constellation.empty() ? d_symbols->constellation()
                                                         : kind.constellation,
                              rate_of(kind.code),
                              size_of(kind.code) });
        if (!found) {
            return false;
        }
        constellation = *found;
        d_symbols->select(constellation);
    }
    d_decoder->select(code->second, constellation);
    return true;
}

void gpu_ldpc_dvbs2_impl::set_code(const std::string& given_name)
{
    name_list names;
    for (const auto& known : d_index) {
        names.push_back(known.first);
    }
    const auto name = known_name("code", given_name, names);
    const auto code = d_index.find(name);
    if (d_symbols && !d_acm) {
        d_symbols->require_one(
            { d_symbols->constellation(), rate_of(name), size_of(name) });
    }
    change_when("code", [this, name, index = code->second] {
        if (d_symbols && d_decoder->missing() > 0) {
            return false; // all items of a frame have one code
        }
        d_code = index;
        forget_applied();
        return !d_symbols ? d_decoder->select(index), true : (select({ name, "" }), true);
    });
}

void gpu_ldpc_dvbs2_impl::set_llr_scale(float llr_scale)
{
    require_above_0("llr_scale", llr_scale);
    d_llr_scale = llr_scale;
    change_when("llr_scale", [this, llr_scale] {
        if (d_decoder->missing() > 0) {
            return false; // all items of a frame have one scale
        }
        d_decoder->set_llr_scale(llr_scale);
        return true;
    });
}

void gpu_ldpc_dvbs2_impl::set_esn0_db(double esn0_db)
{
    check_esn0_db(esn0_db);
    if (d_symbols && d_symbols->level_is_given()) {
        d_esn0_db = esn0_db;
        change("esn0_db", [this, esn0_db] { use_esn0_db(esn0_db); });
    }
}

} // namespace gr::gpufec
