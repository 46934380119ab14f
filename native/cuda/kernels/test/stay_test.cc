// Rows and groups that blocks take one after another, with the next ones on their way (rows/stay.h, rows/several.h, group_norm/stay.h): a part of opscope_cuda_plan_test.
#include "kernels/group_norm/stay.h"
#include "kernels/rows/several.h"
#include "kernels/rows/stay.h"
#include "kernels/test/expect.h"

using namespace opscope;
using namespace opscope::cuda;

namespace {

constexpr int64_t most_shared = 232'448;

// Pieces of warps cover a row wherever it starts, registers hold a piece, and shared memory the rows to come.
void long_rows() {
  bool held = true;
  int taken = 0;
  for (const int64_t lanes : {4, 8})
    for (int64_t cols = 1; cols <= 100'000; cols += 7)
      for (const StayOp& op : {stay_softmax, stay_log_softmax, stay_cross_entropy_backward})
        for (const int64_t rows : {1, 132, 133, 700, 100'000}) {
          const StayRows s = stay_rows(132, most_shared, lanes, rows, cols, op);
          if (s.vectors == 0) continue;
          taken++;
          constexpr int64_t warps = stay_threads / 32;
          const int64_t vectors = (cols + (cols % lanes == 0 ? 0 : lanes - 1) + lanes - 1) / lanes;
          held = held && s.piece % 32 == 0 && (s.vectors == 12 || s.vectors == 16) && s.piece <= s.vectors * 32 && s.piece * warps >= vectors && s.stages >= 1 && s.stages <= stay_stages && s.shared == s.stages * s.piece * warps * 16 && s.shared <= most_shared - 1024 && s.blocks <= 132 &&
                 s.blocks <= rows;
        }
  expect(held && taken > 1000, "blocks that stay hold their long rows in registers and the next ones in shared memory");
  const auto of = [](int64_t lanes, int64_t rows, int64_t cols, const StayOp& op = stay_log_softmax) { return stay_rows(132, most_shared, lanes, rows, cols, op).stages; };
  expect(of(8, 2128, 47'880) == 2 && of(8, 2128, 47'880, stay_softmax) == 0 && of(4, 1000, 22'623, stay_softmax) == 2 && of(8, 150, 60'000, stay_cross_entropy_backward) == 0 && of(8, 150, 60'000) == 1, "rows of 16 bits are left to others where they are few, or two fit on a multiprocessor");
  expect(of(4, 1024, 30'139) == 1 && of(4, 1000, 22'623) == 2 && of(8, 4096, 65'536) == 1 && of(8, 4096, 65'537) == 0 && of(4, 100, 30'139) == 0 && of(4, 513, 16'384) == 2 && of(4, 264, 16'384) == 0 && of(4, 4096, 11'996) == 0 && of(8, 1000, 32'768) == 2 && of(8, 1000, 32'760) == 0 && of(4, 4096, 16'384, stay_cross_entropy_backward) == 0, "many long rows are taken by blocks that stay");
}

// Lanes hold their rows, no vector of a lane but the last lies behind the row, no block is without a row, and every shape has kernels.
void short_rows() {
  bool held = true, built = true;
  int taken = 0;
  for (const int64_t lanes : {4, 8})
    for (int64_t cols = 1; cols <= 1100; cols++)
      for (int64_t rows = 1; rows <= int64_t{1} << 31; rows = rows * 5 + 2)
        for (const SeveralOp& op : {several_layer_norm, several_rms_norm, several_losses, several_softmax}) {
          const SeveralShape s = several_shape(lanes, rows, cols, op);
          if (s.vectors == 0) continue;
          taken++;
          const int64_t together = (several_threads >> s.log2) * s.rows, vectors = cols / lanes, from = s.vectors - 1;
          held = held && cols % lanes == 0 && int64_t{s.vectors} << s.log2 >= vectors && from << s.log2 < vectors && s.blocks * together >= rows && (s.blocks - 1) * together < rows;
          built = built && (s.rows == 2 ? op.two && s.vectors == 1 && s.log2 >= 3 && s.log2 <= 5 : s.rows == 1 && (s.vectors == 3 ? s.log2 <= 3 ? lanes == 8 && s.log2 >= 1 : op.more && s.log2 <= 5 : op.more && (s.vectors == 2 || s.vectors == 4) && s.log2 == 5));
        }
  expect(held && taken > 1000, "lanes hold short rows of whole vectors");
  expect(built, "each number of vectors, rows and lanes of such a row has kernels");
  const auto of = [](int64_t lanes, int64_t rows, int64_t cols, const SeveralOp& op) { return several_shape(lanes, rows, cols, op).vectors; };
  expect(of(8, 1 << 20, 128, several_layer_norm) == 1 && of(8, 300'000, 72, several_softmax) == 3 && of(8, 1 << 20, 128, several_softmax) == 0 && of(4, 300'000, 36, several_softmax) == 0 && of(8, 1000, 128, several_rms_norm) == 0 && of(8, 40'000, 768, several_layer_norm) == 3 &&
             of(8, 1 << 20, 1032, several_layer_norm) == 0,
         "many short rows of whole vectors are taken by lanes with several vectors");
}

// Parts of a group cover it, pieces of warps cover a part, and no block is without a group.
void groups() {
  bool held = true;
  int taken = 0;
  for (const int64_t lanes : {4, 8})
    for (int64_t plane = lanes; plane <= int64_t{1} << 20; plane = plane * 9 / 8 + 1)
      for (const int64_t channels : {1, 2, 8, 64, 1000, 1024})
        for (int64_t count = 1; count <= 100'000; count = count * 3 / 2 + 7) {
          const StayGroupShape s = stay_group_shape(132, most_shared, lanes, count, channels, plane);
          if (s.vectors == 0) continue;
          taken++;
          constexpr int64_t warps = group_threads / 32;
          const int64_t vectors = channels * plane / lanes;
          held = held && s.piece % 32 == 0 && channels * plane % lanes == 0 && s.piece <= s.vectors * 32 && s.piece * warps >= s.part && s.part * s.parts >= vectors && s.part * (s.parts - 1) < vectors && (s.parts == 1 || s.parts == group_parts) && s.stages >= 1 && s.stages <= group_stages &&
                 s.shared == s.stages * s.piece * warps * 16 + 16 * channels && s.shared + group_fixed_bytes <= most_shared && s.blocks % s.parts == 0 && s.blocks <= count * s.parts && s.blocks <= 132;
        }
  expect(held && taken > 1000, "blocks that stay hold their groups in registers and the next ones in shared memory");
  const auto of = [](int64_t lanes, int64_t count, int64_t channels, int64_t plane) { return stay_group_shape(132, most_shared, lanes, count, channels, plane); };
  expect(of(8, 2048, 8, 12'544).parts == 2 && of(4, 1024, 8, 3136).stages == 2 && of(4, 2048, 8, 12'544).vectors == 0 && of(8, 200, 8, 12'544).vectors == 0 && of(4, 268, 5, 4096).vectors == 0 && of(8, 2048, 9, 3025).vectors == 0, "many long groups of whole vectors are taken by blocks that stay");
}

}  // namespace

void staying_shapes() {
  long_rows();
  short_rows();
  groups();
}
