// What scatter_spans.cu takes, the same for host and device: threads of a block, blocks of a multiprocessor that have registers, and indices that a block has in shared memory at a time.
#pragma once

constexpr int span_threads = 256, span_blocks = 6, span_staged = 512;
