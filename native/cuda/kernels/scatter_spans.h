// What scatter_spans.cu takes, the same for host and device: threads of a block, blocks of a multiprocessor that have registers, and indices that a block has in shared memory at a time.
#pragma once

constexpr int span_threads = 256, span_blocks = 6, span_staged = 512;
// Bytes of a table of so many cells: two halves of a sum and a bit of each.
constexpr long long span_table(long long cells) { return cells * 8 + (cells + 31) / 32 * 4; }
