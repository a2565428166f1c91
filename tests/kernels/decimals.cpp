// Reads lines and prints for each what decimal_from_chars found: how many characters, which error, which bits.
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <string>

#include "numbers.hpp"

int main() {
    std::string line;
    while (std::getline(std::cin, line)) {
        double value = 7;
        const auto found = ramodo::decimal_from_chars(line.data(), line.data() + line.size(), value);
        if (value != value) value = 8;                     // NaN has many faces, and callers refuse all
        uint64_t bits;
        std::memcpy(&bits, &value, sizeof bits);
        std::printf("%td %d %016" PRIx64, found.ptr - line.data(), static_cast<int>(found.ec), bits);
        double number = 7;
        const char* behind = ramodo::read_number(line.data(), line.data() + line.size(), number);
        if (number != number) number = 8;
        std::memcpy(&bits, &number, sizeof bits);
        std::printf(" %td %016" PRIx64 "\n", behind ? behind - line.data() : std::ptrdiff_t{-1}, bits);
    }
}
