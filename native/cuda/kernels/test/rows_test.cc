// How operations over rows are spread over the GPU (rows/shape.h, common/row.h): a part of opscope_cuda_plan_test.
#include "kernels/common/row.h"
#include "kernels/group_norm/shape.h"
#include "kernels/rows/norm_backward.h"
#include "kernels/rows/narrow.h"
#include "kernels/rows/norm_long.h"
#include "kernels/rows/shape.h"
#include "kernels/softmax/shape.h"
#include "kernels/test/expect.h"

using namespace opscope;
using namespace opscope::cuda;

namespace {

// Every row is met once, whatever its length and number: groups divide blocks, parts cover rows and hold whole vectors.
void row_splits() {
  bool whole = true, grids = true;
  for (const int64_t lanes : {4, 8})
    for (int64_t cols = 1; cols <= int64_t{1} << 32; cols = cols * 3 / 2 + 1)
      for (int64_t rows = 1; rows <= (int64_t{1} << 33) / cols; rows = rows * 5 + 2) {
        for (const auto& [clusters, inputs, holds, ragged] : {std::tuple{false, 1, false, false}, {true, 1, false, false}, {true, 2, false, false}, {true, 1, true, false}, {true, 2, true, false}, {true, 1, true, true}, {true, 2, true, true}}) {
          const RowsSplit s = rows_split(132, lanes, rows, cols, clusters, inputs, holds, ragged);
          if (s.held > 0) whole = whole && s.parts == 1 && !s.tiled && (cols % lanes == 0 || (ragged && s.group > 32 && s.held > 1 && s.blocks == rows)) && s.held * s.group * lanes >= cols && s.threads <= 512 && (s.held == 1 || s.held == 2 || s.held == 4 || (s.held == 8 && inputs == 1));
          const bool sub_warp = s.group <= 32;
          whole = whole && (sub_warp ? s.threads % static_cast<unsigned>(s.group) == 0 && (s.group & (s.group - 1)) == 0 : s.threads == static_cast<unsigned>(s.group) && s.group % 32 == 0);
          if (s.tiled) whole = whole && s.part % 8 == 0 && s.part >= 8 && s.blocks * s.part >= rows && (s.blocks - 1) * s.part < rows && s.part * cols <= 3 * tile_bytes / 16 * lanes / 2 && cols % lanes != 0;
          else if (s.parts == 1) whole = whole && s.blocks * (s.threads / static_cast<unsigned>(s.group)) >= rows;
          else whole = whole && !sub_warp && s.part % lanes == 0 && s.part * s.parts >= cols && s.part * (s.parts - 1) < cols && s.blocks == rows * s.parts;
          grids = grids && s.threads <= 1024 && s.blocks <= Launch::max_blocks_x;
          if (s.cluster) whole = whole && clusters && (s.parts == 2 || s.parts == 4 || s.parts == 8);
        }
      }
  expect(whole, "rows are covered, by groups that divide their blocks or by parts of whole vectors");
  expect(grids, "rows of up to 2^33 elements fit a grid");
  expect(rows_split(132, 4, 1 << 20, 4).group == 1 && rows_split(132, 4, 1 << 20, 8).group == 2, "short rows take as few threads as they have vectors");
  expect(rows_split(132, 4, 1 << 20, 3).tiled && rows_split(132, 8, 1000, 61).tiled && !rows_split(132, 8, 1000, 64).tiled && !rows_split(132, 8, 1000, 1001).tiled, "short rows that do not start on 16 bytes share a tile");
  expect(rows_split(132, 4, 1, 1 << 24).parts > 132, "one long row takes the whole GPU");
}

// Gradients of norms: a block holds a row for each of its groups, has one to begin with, and its shared memory holds its rows and then the sums of its groups.
void norm_shapes() {
  bool held = true, short_ones = true;
  for (const auto& [lanes, centered] : {std::pair<int64_t, bool>{4, true}, {8, true}, {4, false}, {8, false}})
    for (int64_t dim = 1; dim <= 100'000; dim += dim % 97 + 1)
      for (int64_t tokens = 1; tokens <= int64_t{1} << 31; tokens = tokens * 3 + 1) {
        const NormShape s = norm_shape(132, 232'448, lanes, tokens, dim, centered);
        if (s.vectors == 0) {
          short_ones = short_ones && (dim / lanes < 32 || (dim % lanes == 0 ? dim / lanes > 2048 : (dim / lanes >= 64 && dim / lanes < 192 && (lanes == 8 || dim / lanes >= 127)) || dim / lanes >= 1023));
          continue;
        }
        held = held && (dim % lanes == 0 || s.groups == 1 || s.threads == 32) && s.threads % 32 == 0 && s.groups >= 1 && s.groups <= 8 && s.threads * s.groups <= 512 && s.threads * s.vectors * lanes >= dim && s.blocks >= 1 && (s.blocks - 1) * s.groups < tokens && (s.blocks * s.groups >= tokens || s.blocks * s.groups * dim % lanes == 0) && (dim % lanes == 0 || s.threads * s.vectors * lanes >= dim + lanes - 1) &&
               s.shared <= 232'448 && (s.groups == 1 || int64_t{s.groups} * 2 * dim * 4 <= s.shared - norm_scratch_bytes);
      }
  expect(held, "a block holds a row of the gradients of a norm, and no block is without one");
  expect(short_ones, "gradients of norms of aligned rows of 32 to 2048 vectors, and of others of 32 to 63 (f32: 127) and 192 to 1022, read each tensor once");
  expect(norm_shape(132, 101'376, 4, 100, 8192, true).vectors == 0, "unless they need more shared memory than there is");
  expect(norm_shape(132, 232'448, 8, 20'000, 1000, true).groups == 8 && norm_shape(132, 232'448, 8, 4096, 8192, true).groups == 1 && norm_shape(132, 232'448, 8, 20, 1000, true).groups == 1,
         "a block has several short rows of the gradients of a norm at a time, where there are many");
}

// Gradients of norms of long rows: the blocks of a cluster cover a row, none is without columns, and no cluster is without a row.
void norm_wide_shapes() {
  bool held = true;
  for (const int64_t bytes : {2, 4})
    for (const int sm_count : {114, 132, 148})
      for (int64_t dim = 4096; dim <= 200'000; dim += dim / 97 * 4 + 4)
        for (int64_t tokens = 1; tokens <= int64_t{1} << 31; tokens = tokens * 3 + 1) {
          constexpr int64_t shared = 227 << 10;
          const NormBackwardShape s = norm_backward_shape(sm_count, shared, bytes, tokens, dim, true);
          if (s.kind != NormBackward::wide) continue;
          const NormWideShape& w = s.wide;
          const int64_t vectors = dim * bytes / 16, each = (vectors + w.slices - 1) / w.slices;
          held = held && dim * bytes % 16 == 0 && (w.slices - 1) * each < vectors && int64_t{w.threads} * norm_wide_vectors >= each && w.threads % 32 == 0 && w.threads <= norm_wide_threads && w.slices <= norm_wide_blocks;
          held = held && w.clusters >= 1 && w.clusters * w.slices <= sm_count && w.clusters <= tokens && w.shared <= shared - (3 << 10);
        }
  expect(held, "a cluster holds a long row of the gradients of a norm");
  const auto kind = [](int64_t tokens, int64_t dim, bool clusters = true) { return norm_backward_shape(132, 227 << 10, 4, tokens, dim, true, clusters).kind; };
  expect(kind(4096, 32'768) == NormBackward::wide && kind(4096, 8192) == NormBackward::once && kind(4096, 32'766) == NormBackward::apart && kind(4096, 32'768, false) == NormBackward::apart && kind(50, 32'768) == NormBackward::long_rows,
         "rows that a block cannot hold take clusters, where there are some and rows start on 16 bytes");
}

// Gradients of norms of many short rows: tiles start on 16 bytes and cover the rows, each thread has a column, and no block is without a tile.
void norm_short_shapes() {
  bool held = true;
  for (const auto& [bytes, centered] : {std::pair<int64_t, bool>{2, true}, {4, true}, {2, false}, {4, false}})
    for (const int64_t shared : {99 << 10, 227 << 10})
      for (int64_t dim = 1; dim < 256; dim++)
        for (int64_t tokens = 1; tokens <= int64_t{1} << 31; tokens = tokens * 7 / 2 + 1) {
          const NormBackwardShape s = norm_backward_shape(132, shared, bytes, tokens, dim, centered);
          if (s.kind != NormBackward::short_rows) continue;
          const NormShortShape& t = s.tiles;
          const int64_t tiles = (tokens + t.rows - 1) / t.rows;
          held = held && tokens * dim > norm_few_most && dim <= t.threads && t.rows * dim * bytes % 16 == 0 && t.rows % 4 == 0 && (t.lanes & (t.lanes - 1)) == 0 && t.threads % static_cast<unsigned>(t.lanes) == 0 && t.lanes <= 32;
          held = held && t.shared <= shared && t.shared >= 2 * int64_t{t.threads} * 4 && t.shared >= 4 * (t.rows * dim * bytes + t.rows * 4) + t.rows * 8 + dim * 4 && t.blocks >= 1 && t.blocks <= tiles;
        }
  expect(held, "tiles of short rows of the gradients of norms start on 16 bytes and fit into shared memory");
}

// Gradients of norms in one launch: every column and token is in one share, every row in one group that holds it.
void norm_few_shapes() {
  bool held = true, shared = true;
  for (int64_t dim = 1; dim <= 6000; dim += dim % 89 + 1)
    for (int64_t tokens = 1; tokens <= int64_t{1} << 31; tokens = tokens * 3 / 2 + 1) {
      const NormFewShape s = norm_few_shape(132, tokens, dim);
      if (s.tiles == 0) {
        held = held && (dim > 4096 || tokens * dim > norm_few_most);
        continue;
      }
      shared = shared && s.tiles * 32 >= dim && (s.tiles - 1) * 32 < dim && s.splits >= 1 && s.rows_per_split * s.splits >= tokens && s.rows_per_split * (s.splits - 1) < tokens;
      held = held && s.group >= 1 && s.group <= norm_few_threads && (s.group & (s.group - 1)) == 0 && s.group * norm_few_elements >= dim && s.row_blocks * (norm_few_threads / s.group) >= tokens &&
             (s.row_blocks - 1) * (norm_few_threads / s.group) < tokens;
    }
  expect(shared, "shares of the tokens cover the gradients of weights once");
  expect(held, "groups of threads hold the rows of gradients in one launch");
  expect(rows_split(132, 8, 1024, 1024, true, 1, true).group == 64 && rows_split(132, 4, 1024, 1024, true, 1, true).group == 128 && rows_split(132, 4, 4096, 1024, true, 1, true).held == 4, "rows of a few hundred vectors take several warps");
  expect(norm_few_shape(132, 512, 512).splits == 8 && norm_few_shape(132, 123, 1899).group == 128 && norm_few_shape(132, 5059, 2961).tiles == 0, "few elements take one launch, many do not");
}

// Gradients of norms of few long rows: chunks cover a row, none is empty, and no block is without a column.
void norm_long_shapes() {
  bool covered = true, taken = true;
  for (int64_t dim = 1; dim <= int64_t{1} << 33; dim += dim / 7 + 1)
    for (int64_t tokens = 1; tokens <= 100; tokens += tokens / 9 + 1) {
      const NormLongShape s = norm_long_shape(132, tokens, dim);
      taken = taken && (s.blocks > 0) == (tokens <= norm_long_tokens && dim >= norm_long_from);
      if (s.blocks == 0) continue;
      covered = covered && s.chunk >= 1 && s.chunks * s.chunk >= dim && (s.chunks - 1) * s.chunk < dim && s.chunk < int64_t{1} << 30 && norm_long_threads % s.columns == 0 && s.columns >= 32 && (s.blocks - 1) * s.columns < dim && s.chunks <= Launch::max_blocks_x;
    }
  expect(covered, "chunks cover the long rows of the gradients of a norm, and every block has a column");
  expect(taken, "gradients of norms of few long rows take two launches");
}

// Lanes hold short rows of softmax and layer_norm, whatever their alignment, and no block is without one.
void short_rows() {
  bool held = true, taken = true, built = true;
  for (const int64_t lanes : {4, 8})
    for (int64_t cols = 1; cols <= 1100; cols++)
      for (int64_t rows = 1; rows <= int64_t{1} << 31; rows = rows * 5 + 2) {
        const ShortShape s = short_shape(132, lanes, rows, cols);
        const int64_t n = cols % lanes == 0 ? cols / lanes : cols;
        taken = taken && (s.each > 0) == (n <= (cols % lanes == 0 ? 128 : 256));
        if (s.each == 0) continue;
        const int64_t group = int64_t{1} << s.group_log2;
        held = held && (!s.vectors || s.each == 1 || s.each == 2 || s.each == 4) && group <= 32 && s.each * group >= n && s.vectors == (cols % lanes == 0) && (s.vectors || s.each == 4 || s.each == 8) && s.threads % 32 == 0 && s.threads <= 256 && s.blocks * s.threads >= rows * group &&
               (s.blocks - 1) * s.threads < rows * group;
        // What softmax_short.cu and layer_norm_short.cu have kernels for.
        built = built && (s.vectors ? s.each == 1 || s.group_log2 == 5 : s.each == 4 ? s.group_log2 <= 3 : s.group_log2 >= (cols < tile_columns ? 3 : 4)) && (s.vectors || cols >= tile_columns || s.group_log2 <= 3);
      }
  expect(built, "each number of elements and of lanes of a short row has kernels");
  expect(held, "lanes of a warp hold a short row of softmax or layer_norm");
  expect(taken, "rows of up to 256 elements, or of 128 vectors that start on 16 bytes, take lanes");
}

// Two blocks of a multiprocessor have a long row each in shared memory, whatever its alignment.
void long_softmax_rows() {
  bool held = true;
  for (const int64_t lanes : {4, 8})
    for (int64_t cols = 1; cols <= 100'000; cols += 13)
      for (const int64_t rows : {1, 132, 133, 100'000})
        if (const int64_t shared = long_shared(132, 232'448, lanes, rows, cols); shared > 0) held = held && rows >= 133 && shared / 16 * lanes >= cols + (cols % lanes == 0 ? 0 : lanes - 1) && shared <= 110 << 10;
  expect(long_shared(132, 99 << 10, 8, 493, 48'124) == 0 && long_shared(132, 163 << 10, 8, 493, 48'124) == 0 && long_shared(132, 163 << 10, 4, 264, 17'000) > 0, "long rows of softmax lie in shared memory where two of them fit");
  expect(held, "shared memory holds long rows of softmax");
  expect(long_shared(132, 232'448, 8, 493, 48'124) > 0 && long_shared(132, 232'448, 4, 264, 21'911) > 0 && long_shared(132, 232'448, 4, 600, 16'384) == 0 && long_shared(132, 232'448, 4, 113, 21'911) == 0 && long_shared(132, 232'448, 4, 1000, 48'001) == 0, "many long rows of softmax lie in shared memory");
}

// Lanes have whole rows that are whole vectors, an odd number of them, and no block is without one.
void narrow_row_shapes() {
  bool whole = true, taken = true;
  for (const int64_t lanes : {4, 8})
    for (int64_t cols = 1; cols <= 40; cols++)
      for (int64_t rows = 1; rows <= int64_t{1} << 33; rows = rows * 3 + 2) {
        const NarrowShape s = narrow_shape(132, lanes, rows, cols, false);
        if (s.rows == 0) {
          taken = taken && (cols > 15 || cols % lanes == 0 || rows < 132 * 256 * lanes || rows * cols <= few_most);
          continue;
        }
        whole = whole && s.rows * cols % lanes == 0 && s.rows * cols / lanes % 2 == 1 && (lanes == 4 || s.rows % 2 == 0) && s.blocks * narrow_row_threads * s.rows >= rows && (s.blocks - 1) * narrow_row_threads * s.rows < rows;
      }
  expect(whole, "a lane has narrow rows of an odd number of vectors");
  expect(taken && narrow_shape(132, 8, 1 << 23, 2, false).rows == 4 && narrow_shape(132, 8, 1 << 20, 12, false).rows == 2 && narrow_shape(132, 4, 1 << 20, 7, false).rows == 4 && narrow_shape(132, 4, 1 << 20, 3, true).rows == 4 && narrow_shape(132, 4, 1 << 20, 5, true).rows == 0 && narrow_shape(132, 8, 1 << 20, 15, true).rows == 0, "many narrow rows that are no whole vectors have lanes with several");
}

// Lanes of a warp hold a row that starts off a boundary, all rows of a lane equally far off it, and no block is without one.
void ragged_row_shapes() {
  bool held = true, apart = true, built = true;
  for (const int lanes : {4, 8})
    for (int64_t cols = 1; cols <= 3000; cols++)
      for (int64_t rows = 1; rows <= int64_t{1} << 31; rows = rows * 5 + 2)
        for (const RaggedOp& op : {ragged_any, ragged_rms_norm, ragged_layer_norm, ragged_softmax, ragged_softmax_backward}) {
          const RaggedShape s = ragged_shape(132, lanes, rows, cols, op, short_elements);
          if (s.vectors == 0) continue;
          const int64_t group = int64_t{1} << s.log2, together = ragged_threads / group, most = (cols + 2 * lanes - 2) / lanes;
          held = held && cols % lanes != 0 && s.vectors * group >= most && (s.vectors - 1) * group < most && (s.blocks - 1) * together < rows && s.blocks <= 132 * ragged_blocks(lanes, s.vectors, op.inputs, op.weights);
          apart = apart && together * cols % lanes == 0;
          // What rows_ragged.cu has kernels for.
          const bool softmax = op.half, two = op.inputs == 2;
          built = built && (s.log2 == 3 ? !two && s.vectors >= (softmax ? 5 : 2) && s.vectors <= 5 : s.log2 == 4 ? s.vectors >= 3 && s.vectors <= 5 : s.log2 == 5 && s.vectors >= (two ? 2 : 3) && s.vectors <= 8) && (!softmax || lanes == 8);
        }
  expect(held, "lanes of a warp hold a row that does not start on 16 bytes");
  expect(apart, "all rows of a lane start equally far off a boundary");
  expect(built, "each number of vectors and of lanes of a row off a boundary has kernels");
  const auto taken = [](const RaggedOp& op, int lanes, int64_t rows, int64_t cols) { return ragged_shape(132, lanes, rows, cols, op, short_elements).vectors > 0; };
  expect(taken(ragged_any, 8, 65'536, 257) && !taken(ragged_any, 8, 65'536, 256) && !taken(ragged_any, 8, 65'536, 2049) && !taken(ragged_any, 8, 500, 257) && taken(ragged_layer_norm, 8, 100'000, 193) && !taken(ragged_layer_norm, 8, 2000, 173) &&
             !taken(ragged_softmax, 4, 65'536, 313) && !taken(ragged_softmax, 8, 65'536, 201),
         "many rows of some hundred elements off a boundary share warps");
}

// softmax and layer_norm have no kernels for parts of rows among those of rows.cu.
void softmax_rows() {
  Traits device = {};
  device.sm_count = 132;
  bool whole = true;
  for (const int64_t lanes : {4, 8})
    for (int64_t cols = 1; cols <= int64_t{1} << 20; cols = cols * 5 / 4 + 1)
      for (int64_t rows = 1; rows <= int64_t{1} << 22; rows = rows * 3 / 2 + 1)
        if (from_rows(device, lanes, rows, cols)) whole = whole && rows_split(device.sm_count, lanes, rows, cols, true).parts == 1;
  expect(whole, "rows that softmax and layer_norm leave to the row operations are not split");
  device.major = 9;
  bool held = true;
  for (const Dtype dtype : real_dtypes)
    for (int64_t cols = 1; cols <= int64_t{1} << 20; cols = cols * 5 / 4 + 1)
      for (int64_t rows = 1; rows <= int64_t{1} << 12; rows = rows * 3 / 2 + 1) {
        const RowShape s = row_shape(device, dtype, rows, cols);
        const int64_t lanes = 16 / static_cast<int64_t>(dtype_bytes(dtype));
        for (const RowShape& b : {s, row_shape(device, dtype, rows, cols, false)})
          if (b.kind == RowShape::Kind::block)
            held = held && b.blocks == rows && b.threads <= (b.vectors == 4 ? 512u : 1024u) && b.threads * b.vectors * lanes >= cols + (cols % lanes ? lanes - 1 : 0);
        if (s.kind == RowShape::Kind::cluster)
          held = held && (s.chunks == 2 || s.chunks == 4 || s.chunks == 8) && s.blocks == rows * s.chunks && s.threads % 32 == 0 && s.threads <= 512 && s.threads * s.vectors * s.chunks * lanes >= cols + (cols % lanes ? lanes - 1 : 0);
      }
  expect(held, "a block or a cluster holds its row, whatever its alignment");
  expect(row_shape(device, Dtype::f32, 65, 32'768).kind == RowShape::Kind::cluster && row_shape(device, Dtype::f32, 4096, 4096).kind == RowShape::Kind::block && row_shape(device, Dtype::f32, 4, 100'000).kind == RowShape::Kind::chunks,
         "few rows at the edge of a block's registers take a cluster, longer ones parts");
  expect(row_shape(device, Dtype::bf16, 8192, 8192, false).threads == 128 && row_shape(device, Dtype::bf16, 8192, 8192).threads == 256, "many rows take small blocks, larger ones where weights are kept beside them");
}

// Blocks of layer_norm that stay hold their rows, and each has one.
void stays() {
  bool held = true;
  for (const int64_t lanes : {4, 8})
    for (int64_t cols = lanes; cols <= 20'000; cols += lanes * 3)
      for (int64_t rows = 1; rows <= int64_t{1} << 31; rows = rows * 3 + 1)
        if (const StayShape s = layer_norm_stays(132, lanes, rows, cols); s.stages > 0)
          held = held && (s.stages == 2 || s.stages == 3) && s.threads % 32 == 0 && s.threads <= (s.stages == 3 ? 128u : 256u) && int64_t{s.threads} * stay_vectors * lanes >= cols && s.blocks >= 1 && s.blocks <= rows &&
                 s.shared == int64_t{s.stages} * stay_vectors * s.threads * 16 && s.shared <= 40 << 10;
  expect(held, "blocks of layer_norm that stay hold their rows");
  expect(layer_norm_stays(132, 8, 4096, 4096).stages == 3 && layer_norm_stays(132, 8, 4096, 8192).stages == 2 && layer_norm_stays(132, 8, 100, 4096).stages == 0 && layer_norm_stays(132, 8, 4096, 4097).stages == 0 &&
             layer_norm_stays(132, 8, 4096, 512).stages == 0,
         "many rows that start on 16 bytes are taken by blocks that stay");
}

// Losses by a block for a row: aligned rows that no other block shares.
void loss_shapes() {
  bool fits = true;
  for (const int64_t lanes : {4, 8})
    for (int64_t cols = 1; cols <= int64_t{1} << 22; cols = cols * 4 / 3 + 1)
      for (const int64_t aligned : {cols, cols * lanes})
        for (int64_t rows = 1; rows <= int64_t{1} << 22; rows = rows * 3 + 1)
          if (const LossShape s = loss_shape(132, lanes, rows, aligned, true); s.vectors > 0)
            fits = fits && aligned % lanes == 0 && s.threads % 32 == 0 && s.threads >= 32 && s.threads <= (s.vectors == 4 ? 512u : 256u) && rows_split(132, lanes, rows, aligned, true).parts == 1;
  expect(fits, "blocks of a loss are as many threads as their kernels take");
  expect(loss_shape(132, 8, 8192, 8192, true).vectors == 4 && loss_shape(132, 4, 8192, 8192, true).vectors == 8 && loss_shape(132, 8, 4096, 4096, true).threads == 128 && loss_shape(132, 8, 8192, 8200, true).vectors == 8 && loss_shape(132, 8, 1000, 1032, true).vectors == 4 && loss_shape(132, 4, 8192, 8191, true).vectors == 0 && loss_shape(132, 4, 5, 50256, true).vectors == 0,
         "rows that start on 16 bytes and that one block takes");
  expect(loss_shape(132, 4, 4096, 4096, true).vectors == 8 && loss_shape(132, 8, 4000, 5008, true).vectors == 8 && loss_shape(132, 4, 3000, 2048, true).vectors == 4, "a row of more than 512 vectors takes eight of a thread");
  expect(!loss_slots(132, 4, 264, 1028) && loss_slots(132, 8, 3072, 1032) && loss_slots(132, 4, 4096, 4096) && loss_slots(132, 8, 16'384, 4096) && !loss_slots(132, 8, 8192, 1040) && !loss_slots(132, 4, 20'000, 4096), "losses lie in slots where rows are not many, or long");
}

// Long groups of group_norm: the parts of a group cover it wherever its line of 128 bytes starts, the pieces of its warps cover a part, and no block is without a group.
void long_groups() {
  bool held = true, places = true;
  int taken = 0;
  for (const int64_t lanes : {4, 8})
    for (int64_t plane = lanes; plane <= int64_t{1} << 24; plane = plane * 9 / 8 + 1)
      for (const int64_t channels : {1, 2, 7, 64, 1000, 1024})
        for (int64_t groups = 1; groups <= 100'000; groups = groups * 3 / 2 + 7) {
          const LongGroupShape s = long_group_shape(132, 232'448, lanes, groups, channels, plane);
          if (s.part == 0) continue;
          taken++;
          const int64_t cols = channels * plane, line = 8 * lanes, before = cols % line == 0 ? 0 : s.ragged ? line - 1 : line - lanes, warps = s.threads / 32;
          held = held && s.part % 8 == 0 && s.part * s.parts * lanes >= cols + before && s.ragged == (cols % lanes != 0) && s.piece % 8 == 0 && s.piece <= group_piece && s.pieces * warps <= group_pieces &&
                 s.pieces * s.piece * warps >= s.part && s.shared >= s.part * 16 + 16 * channels && s.shared + group_fixed_bytes <= 232'448;
          places = places && s.threads % 32 == 0 && s.threads <= group_threads && (s.parts == 1 || s.parts == group_parts) && s.blocks % s.parts == 0 && s.blocks >= s.parts && s.blocks <= groups * s.parts;
        }
  expect(held && taken > 1000, "shared memory holds a long group, wherever it starts");
  expect(places, "each block of long groups has one");
  const auto of = [](int64_t lanes, int64_t groups, int64_t channels, int64_t plane) { return long_group_shape(132, 232'448, lanes, groups, channels, plane); };
  expect(of(8, 2048, 8, 12'544).blocks == 132 && of(4, 2048, 8, 12'544).blocks == 132 && of(4, 2048, 8, 12'544).parts == 2 && of(4, 1024, 8, 3136).blocks == 264 && of(8, 1472, 11, 3025).blocks == 1472 &&
             of(4, 1200, 5, 4099).blocks == 1200,
         "long groups are taken by blocks that stay, unless three fit on a multiprocessor or many would have none at last");
  expect(of(8, 4096, 16, 784).part == 0 && of(4, 64, 10, 4096).part == 0 && of(4, 256, 16, 16'384).part == 0, "short groups, few and those of more than two blocks are left to others");
}

}  // namespace

void row_shapes() {
  long_groups();
  row_splits();
  norm_shapes();
  norm_wide_shapes();
  norm_long_shapes();
  narrow_row_shapes();
  ragged_row_shapes();
  norm_few_shapes();
  norm_short_shapes();
  short_rows();
  long_softmax_rows();
  softmax_rows();
  loss_shapes();
  stays();
}
