// What rows_narrow.cu takes, the same for host and device: threads of a block, and elements of a row at most.
#pragma once

constexpr int narrow_row_threads = 128, narrow_columns = 15;
