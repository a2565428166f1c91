// Rows that are mapped from files may change while they are in use: another process can write into the files. What is
// computed then is worthless, and callers find out by the stamps of the files (data/mapped.py); but an index that was
// inside when it was checked may be outside when it is used. So where an index is a place in memory, it is loaded once,
// compared with the width, and then used. The loops that this would slow down by more than 2 % (training on rows where
// they are, and projecting) do so where the caller does not say that the rows cannot change.
#pragma once

#include <cstdint>
#include <stdexcept>

#include "compiler.hpp"

namespace ramodo {

// Apart from the loops that call it, which would be slower around it.
[[noreturn]] RAMODO_COLD inline void refuse_changed() {
    throw std::invalid_argument(
        "the data changed while in use: its feature indices are not those that were checked. Start again when the data is "
        "complete; and do not write into files or arrays that are in use, but write new ones and rename them.");
}

}  // namespace ramodo
