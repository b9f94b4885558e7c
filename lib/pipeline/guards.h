// Copyright 2026 gr-gpufec developers
// SPDX-License-Identifier: GPL-3.0-or-later

/* Guards of decoders against exceptions of their callbacks, and against use in a forked
 * child, where their threads do not exist. */

#ifndef INCLUDED_GPUFEC_PIPELINE_GUARDS_H
#define INCLUDED_GPUFEC_PIPELINE_GUARDS_H

#include <gnuradio/gpufec/decoder.h>
#include <memory>
#include <optional>
#include <utility>

namespace gr::gpufec {

//! Returns wrappers of \p hooks that discard exceptions and do nothing for empty hooks.
decoder_hooks without_exceptions(decoder_hooks hooks);

//! Returns a number that differs between a process and its forked children: the number of
//! fork() calls between the process that first called this function and this process.
//! Unlike the system call getpid(), this function is fast enough to be called per frame.
//! \throws std::bad_alloc
unsigned forks_so_far();

//! \throws std::runtime_error unless \p forks equals forks_so_far()
void require_same_process(unsigned forks);

//! An optional object whose use in a forked child throws std::runtime_error.
template <class T>
class process_bound
{
public:
    template <class... Arguments>
    void emplace(Arguments&&... arguments)
    {
        d_object.emplace(std::forward<Arguments>(arguments)...);
    }
    void reset() { d_object.reset(); }
    explicit operator bool() const { return bool(d_object); }

    //! \throws std::runtime_error in a forked child
    void require_this_process() const { require_same_process(d_forks); }
    T* operator->()
    {
        require_this_process();
        return &*d_object;
    }
    const T* operator->() const
    {
        require_this_process();
        return &*d_object;
    }

private:
    const unsigned d_forks = forks_so_far();
    std::optional<T> d_object;
};

//! Makes an object whose destructor does not run in a forked child, where it would wait
//! for threads of the parent process.
template <class T, class... Arguments>
std::shared_ptr<T> make_process_bound(Arguments&&... arguments)
{
    auto made = std::make_unique<T>(std::forward<Arguments>(arguments)...);
    return { made.release(), [forks = forks_so_far()](T* object) {
                if (forks == forks_so_far()) {
                    delete object;
                }
            } };
}

} // namespace gr::gpufec

#endif /* INCLUDED_GPUFEC_PIPELINE_GUARDS_H */
