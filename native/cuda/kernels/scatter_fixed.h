// What scatter_fixed.cu takes, the same for host and device: threads of a block that has a table, words of 32 bits that hold every sum of finite f32, and cells that share a note of which of these any has: those of a thread of scatter_ends64.
#pragma once

constexpr int table_threads = 1024, sum_words = 9, noted_cells = 4;
