// Picks the table for this machine. RAMODO_INSTRUCTIONS=baseline in the environment keeps to what every machine has.
#include "inner_loops.hpp"

#include <cstdlib>
#include <cstring>

namespace ramodo {

namespace baseline {
extern const InnerLoops table;
}
#ifdef RAMODO_HAVE_AVX2
namespace avx2 {
extern const InnerLoops table;
}
#endif

static const InnerLoops& choose() {
#ifdef RAMODO_HAVE_AVX2
    const char* asked = std::getenv("RAMODO_INSTRUCTIONS");
    const bool keep_baseline = asked && std::strcmp(asked, "baseline") == 0;
    if (!keep_baseline && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2::table;
#endif
    return baseline::table;
}

const InnerLoops& inner_loops() {
    static const InnerLoops& chosen = choose();
    return chosen;
}

}  // namespace ramodo
