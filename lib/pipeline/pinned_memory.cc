// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Implementation of pinned_input and pinned_output: input and output in the caller's
 * memory. */

#include "common/page_mappings.h"
#include "memory_in_place.h"
#include <gnuradio/gpufec/pinned_memory.h>
#include <exception>

namespace gr::gpufec {

namespace {

// Runs a step of a destructor and discards exceptions. The decoder reports the error
// again at its next call.
template <class Step>
void without_throwing(const Step& step)
{
    try {
        step();
    } catch (const std::exception&) {
    }
}

bool pin_output(memory_in_place* d, void* memory, std::size_t bytes, bool mapped_twice)
{
    const unsigned mappings = mapped_twice ? 2 : 1;
    return d && pages_can_be_replaced && d->pin_output(memory, bytes, [=] {
        return bytes % mappings == 0 &&
               put_other_pages(static_cast<char*>(memory), bytes / mappings, mappings);
    });
}

} // namespace

std::size_t pinned_input::bytes_needed(decoder& d)
{
    const auto* const m = d.in_place();
    return m && m->can_borrow() ? m->input_bytes() : 0;
}

pinned_input::pinned_input(decoder& d, void* memory, std::size_t bytes)
    : d_decoder(d.in_place()),
      d_memory(memory),
      d_pinned(d_decoder && d_decoder->pin_input(memory, bytes))
{
}

pinned_input::pinned_input(decoder& d)
    : d_decoder(d.in_place()), d_memory(nullptr), d_pinned(false)
{
}

pinned_input::~pinned_input()
{
    without_throwing([this] { end(); });
    if (d_pinned) {
        without_throwing([this] { d_decoder->unpin_input(d_memory); });
    }
}

std::size_t pinned_input::borrow(const void* items, std::size_t count)
{
    return d_decoder ? d_decoder->borrow(items, count) : 0;
}

std::size_t pinned_input::borrowed() const
{
    return d_decoder ? d_decoder->borrowed() : 0;
}

std::size_t pinned_input::release()
{
    return d_decoder ? d_decoder->release_borrowed() : 0;
}

void pinned_input::end()
{
    if (d_decoder) {
        d_decoder->copy_borrowed();
    }
}

std::size_t pinned_output::bytes_needed(decoder& d)
{
    const auto* const m = d.in_place();
    return m && pages_can_be_replaced ? m->output_bytes() : 0;
}

pinned_output::pinned_output(decoder& d,
                             void* memory,
                             std::size_t bytes,
                             bool mapped_twice)
    : d_decoder(d.in_place()),
      d_memory(memory),
      d_pinned(pin_output(d_decoder, memory, bytes, mapped_twice))
{
}

pinned_output::~pinned_output()
{
    if (d_pinned) {
        without_throwing([this] { end(); });
        without_throwing([this] { d_decoder->unpin_output(d_memory); });
    }
}

bool pinned_output::borrow(void* next, std::size_t bytes)
{
    return !d_pinned || d_decoder->borrow_output(next, bytes);
}

void pinned_output::end()
{
    if (d_pinned) {
        d_decoder->release_output();
    }
}

} // namespace gr::gpufec
