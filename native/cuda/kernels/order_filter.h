// What order_filter.cu takes, the same for host and device. Threads of a block: choose_threads.
#pragma once
#include "order_choose.h"

// Vectors of a thread that are on their way at a time, each with a least word of its own; and least words of a thread of the block that looks for the bound.
constexpr int filter_slots = 4, filter_own = 8;
// Least words that a block leaves where `parts` blocks share a row: those of a row are at least 2048, and at most 16384, which one block reads.
constexpr int filter_least(int parts) { return parts < 8 ? filter_slots * choose_threads : parts <= 32 ? choose_threads : parts <= 64 ? choose_threads / 2 : parts <= 128 ? choose_threads / 4 : choose_threads / 8; }
constexpr int most_filter_parts = 256;
