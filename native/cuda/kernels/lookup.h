// Units that a thread of lookup.cu has where there are many, the same for host and device.
#pragma once

constexpr int many_units = 4;
// Rows of fewer than two vectors: of a thread, and threads of a block.
constexpr int narrow_rows = 4, narrow_threads = 128;
