// What compiled the module, and its version: bits of results may differ between compilers.
#pragma once

namespace ramodo {

inline const char* compiler() {
#if defined(__clang__)
    return __VERSION__;      // names clang
#elif defined(__GNUC__)
    return "gcc " __VERSION__;
#else
    return "unknown";
#endif
}

}  // namespace ramodo
