// What scatter_rows.cu and scatter_look.cu take, the same for host and device: threads of a block, indices of a list that no block looks for, and columns of a long row that a block has.
#pragma once

constexpr int link_threads = 256, list_room = 32;
constexpr int long_row_columns(bool vectors) { return vectors ? 4096 : 2048; }
