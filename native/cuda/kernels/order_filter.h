// What order_filter.cu takes, the same for host and device. Threads of a block: choose_threads.
#pragma once
#include "order_choose.h"

// Vectors of a thread that are on their way at a time, each with a least word of its own; and least words of a thread of the block that looks for the bound.
constexpr int filter_slots = 4, filter_own = 8;
// Threads that sort what is left of more than `most_chosen_far` keys, and as many keys as they do; parts of a row, at least, and least words of a thread that looks for the bound.
constexpr int filter_more_threads = 1024, filter_more_keys = 8192, filter_more_parts = 4, filter_more_own = 16;
// Least words that a block leaves where `parts` blocks share a row: those of a row are at least 2048, and at most 16384, which one block reads.
constexpr int filter_least(int parts) { return parts < 8 ? filter_slots * choose_threads : parts <= 32 ? choose_threads : parts <= 64 ? choose_threads / 2 : parts <= 128 ? choose_threads / 4 : choose_threads / 8; }
// The same where more than 1024 are wanted: those of a row are at least 8192.
constexpr int filter_more_least(int parts) { return parts <= 16 ? filter_slots * choose_threads : filter_least(parts); }
constexpr int most_filter_parts = 256;
