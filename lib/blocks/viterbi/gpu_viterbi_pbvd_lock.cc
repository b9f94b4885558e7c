// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* The phase lock of gpu_viterbi_pbvd: its state, messages and tags. */

#include "gpu_viterbi_pbvd_impl.h"
#include "viterbi/phase_lock/lock_facts.h"

namespace gr::gpufec {

namespace {

pmt::pmt_t pmt_of(bool value) { return pmt::from_bool(value); }
pmt::pmt_t pmt_of(unsigned value) { return pmt::from_long(value); }
pmt::pmt_t pmt_of(std::uint64_t value) { return pmt::from_uint64(value); }
pmt::pmt_t pmt_of(double value) { return pmt::from_double(value); }
pmt::pmt_t pmt_of(const std::string& value) { return pmt::mp(value); }

pmt::pmt_t dictionary(const viterbi_lock& lock)
{
    auto d = pmt::make_dict();
    viterbi::each_fact(lock, [&](const char* key, const auto& value) {
        d = pmt::dict_add(d, pmt::mp(key), pmt_of(value));
    });
    return d;
}

} // namespace

// Publishes changes of the lock state immediately, and adds their tags to the output
// items before `end`, which are about to be emitted.
void gpu_viterbi_pbvd_impl::follow_lock(std::uint64_t end)
{
    if (!d_locks) {
        return;
    }
    for (viterbi_lock change; d_decoder->take_lock(change);) {
        d_changes.push_back(change);
        publish_status(
            change.locked ? "lock" : "unlock", change.code, dictionary(change));
    }
    for (; !d_changes.empty(); d_changes.pop_front()) {
        const auto& oldest = d_changes.front();
        const auto item = d_packed ? oldest.first_byte : oldest.first_bit;
        if (item >= end) {
            break;
        }
        add_tag(item, d_lock_key, oldest.locked ? dictionary(oldest) : pmt::PMT_F);
    }
    std::lock_guard<std::mutex> guard(d_lock_mutex);
    d_lock = d_decoder->lock();
}

void gpu_viterbi_pbvd_impl::tell_state()
{
    auto state = dictionary(d_decoder->lock());
    if (!d_locks) {
        state = pmt::dict_add(pmt::make_dict(),
                              pmt::mp("error_rate"),
                              pmt::from_double(d_channel_error_rate));
    }
    publish_status("status", d_decoder->code().to_string(), state);
    await_next_status();
}

void gpu_viterbi_pbvd_impl::await_next_status()
{
    if (d_status_timer) {
        const std::chrono::duration<double> period(std::min(d_status_period_s, 1e6));
        d_status_timer->set(
            deadline_timer::clock::now() +
            std::chrono::duration_cast<deadline_timer::clock::duration>(period));
    }
}

bool gpu_viterbi_pbvd_impl::stop()
{
    if (d_status_timer) {
        d_status_timer->clear();
    }
    return decoder_block::stop();
}

bool gpu_viterbi_pbvd_impl::start()
{
    await_next_status();
    return decoder_block::start();
}

viterbi_lock gpu_viterbi_pbvd_impl::latest_lock() const
{
    std::lock_guard<std::mutex> guard(d_lock_mutex);
    return d_lock;
}

pmt::pmt_t gpu_viterbi_pbvd_impl::lock_state() const
{
    const auto lock = latest_lock();
    return lock.locked ? dictionary(lock) : pmt::make_dict();
}

} // namespace gr::gpufec
