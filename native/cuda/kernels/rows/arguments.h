// What the kernels of row operations take (rows.plan.cc, rows.cu): one structure for all of them, the same for host and device.
#pragma once

struct RowArguments {
  unsigned long long in[5], out;  // addresses; what an op has not is 0
  unsigned long long parts_at;    // statistics of parts of rows, where several blocks share one
  unsigned long long per_row;     // one float per row, for losses
  unsigned long long slots;       // one slot of 32 bits (common/slots.cuh) per row, instead of per_row, for losses
  long long rows, cols;
  long long part;                 // elements of a part; rows of a tile; of rows_stay.cu vectors of a warp
  int parts;                      // of a row; of rows_stay.cu rows in shared memory
  int group;                      // threads of a row: a power of two up to 32, or the block; of rows_several.cu whether it waits for the launch before (common/start_early.cuh)
  float number;                   // eps, or what the op says
  int groups;                     // group_norm: groups of an image
  long long plane;                // group_norm: elements of a channel
};
static_assert(sizeof(RowArguments) <= 128, "a launch stores up to 128 bytes per argument");
