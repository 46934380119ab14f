// What operations are registered from their own files and the tables, what cases they refuse, and what a launch can hold:
//   cmake --build native/build --target opscope_cuda_plan_test && native/build/opscope_cuda_plan_test
// Needs the CUDA headers and no GPU.
#include <cstdlib>
#include <set>
#include <string>

#include "kernels/attention_choice.h"
#include "kernels/plan.h"
#include "kernels/test/expect.h"
#include "kernels/test/planes.h"
#include "module/fatbins.h"
#include "module/nvrtc.h"
#include "module/sources.h"
#include "vendor/search.h"

using namespace opscope;
using namespace opscope::cuda;

namespace {

TensorDesc tensor(int64_t elements, Role role, Storage storage = Storage::f32) {
  TensorDesc made;
  made.name = "t";
  made.elements = elements;
  made.role = role;
  made.storage = storage;
  return made;
}

CaseSpec spec_of(const std::string& op, Dims dims, std::vector<TensorDesc> tensors, std::vector<double> scalars = {}) {
  CaseSpec spec;
  spec.op = op;
  spec.dims = std::move(dims);
  spec.tensors = std::move(tensors);
  spec.scalars = std::move(scalars);
  return spec;
}

// Empty where the case is taken.
std::string refusal(const CaseSpec& spec) {
  try {
    check_shape(spec, *find_op(spec.op));
  } catch (const Error& e) {
    return e.code + ": " + e.what();
  }
  return {};
}

void registered() {
  std::set<std::string> ops;
  bool once = true;
  for (const auto& op : registered_ops()) once = ops.insert(op.op).second && once;
  expect(once, "each operation is registered once");
  for (const char* op : {"copy", "add", "div", "fma", "clamp", "rsqrt", "relu", "silu", "swiglu", "gelu_backward", "sum", "argmin", "norm_linf", "dot", "matmul", "softmax", "layer_norm", "spin", "log_softmax", "rms_norm", "cross_entropy", "group_norm", "batch_norm", "layer_norm_backward",
                         "transpose", "dropout", "adamw_step", "max_pool1d", "adaptive_avg_pool2d", "embedding", "gather", "scatter_add", "rope", "cumsum", "sort", "topk", "conv1d", "conv3d",
                         "scaled_dot_product_attention", "scaled_matmul", "mse_loss", "sum_to_shape"})
    expect(ops.count(op) == 1, std::string(op) + " is registered");
  for (const char* module : {"elementwise", "reduction", "service", "softmax", "matmul_wgmma_bf16", "rows", "softmax_short", "norm_backward", "norm_backward_few", "cross_entropy", "order", "convolution"}) expect(find_fatbin(module) != nullptr, std::string(module) + " is embedded");
  expect(std::string(built_archs()).find_first_of("0123456789") == 0, "the build says for which GPUs its kernels are");
}

void shapes() {
  const auto in_of = [](int64_t n) { return tensor(n, Role::in); };
  const auto out_of = [](int64_t n) { return tensor(n, Role::out); };
  expect(refusal(spec_of("add", {12}, {in_of(12), in_of(12), out_of(12)})).empty(), "add takes two tensors");
  expect(refusal(spec_of("add", {12, 4, 1}, {in_of(12), in_of(4), out_of(12)})).empty(), "a row");
  expect(refusal(spec_of("add", {12, 4, 2}, {in_of(12), in_of(3), out_of(12)})).empty(), "a column");
  expect(refusal(spec_of("add", {12, 3, 3}, {in_of(12), in_of(1), out_of(12)})).empty(), "a scalar");
  expect(refusal(spec_of("add", {12, 5, 1}, {in_of(12), in_of(5), out_of(12)})).find("internal") == 0, "columns that do not divide the elements are refused");
  expect(refusal(spec_of("exp", {12, 4, 1}, {in_of(12), out_of(12)})).find("expected 1 dims, received 3") != std::string::npos, "an operation without broadcast refuses one");
  expect(refusal(spec_of("clamp", {5}, {in_of(5), out_of(5)}, {0, 1})).empty(), "clamp takes its two limits");
  expect(refusal(spec_of("clamp", {5}, {in_of(5), out_of(5)})).find("expected 2 scalars, received 0") != std::string::npos, "and refuses to go without");
  expect(refusal(spec_of("sum", {2, 3, 4}, {in_of(24), out_of(8)})).empty(), "sum over a middle axis");
  expect(refusal(spec_of("sum", {2, 3, 4, 5}, {in_of(120), out_of(8)})).empty(), "sum over two axes");
  expect(refusal(spec_of("argmax", {2, 3, 1}, {in_of(6), tensor(2, Role::out, Storage::i32)})).empty(), "argmax gives i32");
  expect(refusal(spec_of("argmax", {2, 3, 1}, {in_of(6), out_of(2)})).find("storage") != std::string::npos, "and nothing else");
  expect(refusal(spec_of("copy", {6}, {in_of(6), in_of(6)})).find("should be out, is in") != std::string::npos, "an output that is none is refused");
  expect(refusal(spec_of("copy", {6}, {in_of(6), out_of(7)})).find("should have 6 elements, received 7") != std::string::npos, "sizes that do not fit together are refused");
  expect(refusal(spec_of("matmul", {1 << 30, 1 << 30, 1 << 30, 1 << 30, 0, 0}, {in_of(1), in_of(1), out_of(1)})).find("4e18") != std::string::npos, "dims whose product overflows are refused");
  const auto planes = [&](int64_t batch) { return refusal(spec_of("conv2d", {batch, 64, 64, 64, 1, 1, 1, 1, 0, 1, 257, 3, 1, 257, 255, 3, 1, 255}, {in_of(batch * 64 * 257 * 255), in_of(64 * 9), out_of(batch * 64 * 257 * 255)})); };
  expect(planes(1031).empty() && !planes(int64_t{1} << 40).empty(), "a convolution's dims are no factors of one tensor: each tensor is bounded by itself");
}

void attentions() {
  constexpr long long hopper_shared = 227 << 10;  // of a block
  expect(attention_splits(132, 1, 17) == 8 && attention_splits(132, 1, 1 << 20) == 128, "keys of few queries are split");
  expect(attention_splits(132, 100, 1000) == 1 && attention_splits(132, 1, 3) == 1, "those of many queries, and few keys, are not");
  const auto few = [](int lanes, long long queries, int dim) { return attention_few_vectors(lanes, {8, 8, 8, queries, 1000, queries, dim, 0, 1}); };
  expect(few(8, 1, 40) == 1 && few(8, 4, 128) == 2 && few(8, 1, 256) == 4 && few(4, 1, 16) == 2 && few(4, 1, 256) == 8, "eight threads hold a key of a few queries");
  expect(few(8, 1, 36) == 0 && few(8, 1, 264) == 0, "rows that do not start on 16 bytes take other kernels");
  // heads, queries, keys, dim, bytes of an element
  const auto sizes = [](long long heads, long long queries, long long keys, int dim) { return AttentionSizes{heads, heads, heads, queries, keys, queries, dim, 0, 1}; };
  const auto takes_few = [&](long long heads, long long queries, long long keys, int dim, int bytes) { return attention_takes_few(132, sizes(heads, queries, keys, dim), bytes); };
  expect(takes_few(32, 1, 5000, 64, 4) && takes_few(1056, 1, 2000, 128, 2) && takes_few(32, 8, 14, 128, 2), "a query, or few that read little, take their keys each");
  expect(!takes_few(32, 1, 5000, 64, 2) && !takes_few(512, 4, 4096, 128, 2) && !takes_few(64, 2, 1500, 128, 4) && takes_few(256, 2, 1500, 64, 4) && !takes_few(8, 83, 3, 32, 2), "others share them");
  const auto small = [&](long long heads, long long keys, int dim, int bytes, int warps, int together) {
    const AttentionSizes s = sizes(heads, 1, keys, dim);
    const AttentionSmallShape shape = attention_small_shape(132, s, bytes, attention_few_vectors(16 / bytes, s));
    return shape.warps == warps && shape.together == together;
  };
  expect(small(1, 16, 64, 2, 1, 4) && small(8, 20, 64, 2, 4, 4) && small(600, 30, 64, 2, 1, 8) && small(8, 33, 64, 2, 4, 4) && small(4, 200, 40, 2, 16, 4) && small(4, 15, 128, 2, 1, 4) && small(4, 20, 256, 2, 16, 1) && small(2, 14, 64, 4, 1, 4),
         "few keys of few queries all arrive at once");
  expect(small(32, 30, 128, 2, 0, 0) && small(8, 30, 128, 4, 0, 0) && small(4, 300, 40, 2, 0, 0) && small(5000, 5, 64, 2, 0, 0) && small(600, 40, 64, 2, 0, 0) && small(4, 6, 256, 4, 0, 0), "more keys or queries take loops");
  AttentionSizes causal = sizes(1, 1, 9, 64), apart = sizes(2, 3, 9, 64);
  causal.causal = apart.causal = 1;
  expect(attention_small_shape(132, causal, 2, 1).warps == 1 && attention_small_shape(132, apart, 2, 1).warps == 0, "and queries that see different keys");
  const auto stays = [&](long long heads, long long queries, long long keys, int dim, int bytes) {
    const AttentionSizes s = sizes(heads, queries, keys, dim);
    return attention_warp_staying(132, s, bytes, attention_warps(132, hopper_shared, s, bytes));
  };
  expect(stays(645, 4, 595, 128, 2) == 132 && stays(400, 4, 640, 128, 2) == 264 && stays(93, 2, 499, 128, 2) == 0 && stays(645, 4, 595, 64, 2) == 0 && stays(645, 4, 595, 128, 4) == 0, "sets of queries that are more than run at a time have blocks that stay");
  const auto takes_warps = [&](long long heads, long long queries, long long keys, int dim, int bytes) { return attention_takes_warps(132, hopper_shared, sizes(heads, queries, keys, dim), bytes); };
  expect(takes_warps(4110, 7, 7, 256, 4) && takes_warps(4096, 9, 919, 64, 4) && takes_warps(1572, 32, 32, 128, 2) && takes_warps(2948, 64, 64, 40, 2) && takes_warps(3600, 70, 70, 24, 2) && takes_warps(50, 512, 8, 256, 2) && !takes_warps(2000, 128, 128, 32, 2) && !takes_warps(300, 500, 16, 256, 2) && takes_warps(3, 7561, 8, 256, 2), "few queries, and short heads, take warps");
  expect(!takes_warps(256, 50, 4096, 128, 4) && !takes_warps(39, 2000, 13, 128, 2) && !takes_warps(912, 64, 64, 128, 2) && !takes_warps(60, 9, 9, 31, 2) && !takes_warps(60, 9, 9, 264, 2), "others take blocks, and rows that do not start on 16 bytes");
  const auto packed = [&](long long heads, long long queries, long long keys, int dim, int bytes) { return attention_together(132, sizes(heads, queries, keys, dim), bytes); };
  expect(packed(100'000, 1, 1, 16, 2) == 16 && packed(100'000, 3, 3, 16, 4) == 5 && packed(100'000, 7, 7, 128, 2) == 2 && packed(100'000, 1, 16, 64, 2) == 2, "a warp takes as many short heads as fill its tile");
  expect(packed(4000, 1, 1, 16, 2) == 1 && packed(100'000, 9, 1, 16, 2) == 1 && packed(100'000, 1, 17, 16, 2) == 1 && packed(100'000, 1, 1, 256, 4) == 1 && packed(100'000, 1, 1, 12, 2) == 1, "and one of few heads, or of longer ones");
  const auto run = [&](long long heads, long long queries, long long keys, int dim, int bytes) { return attention_stream_run(132, sizes(heads, queries, keys, dim), bytes); };
  expect(run(137, 4000, 16, 40, 2) > 10 && run(9, 2731, 16, 128, 2) >= 2 && run(4, 4096, 12, 96, 2) == 1 && run(500, 64, 12, 128, 2) > 0, "a warp goes along the queries of a few keys");
  expect(run(137, 4000, 17, 40, 2) == 0 && run(137, 4000, 9, 32, 4) == 0 && run(137, 4000, 8, 64, 4) == 0 && run(1231, 513, 2, 128, 2) == 0 && run(137, 4000, 16, 136, 2) == 0, "more keys, long heads in f32, and full blocks of wgmma are left to others");
  const auto line = [&](long long heads, long long queries, long long keys, int dim, int bytes) { return attention_line(132, sizes(heads, queries, keys, dim), bytes); };
  expect(line(141, 4096, 2, 256, 2).keys == 2 && line(141, 4096, 2, 256, 2).vectors == 32 && line(400, 1000, 3, 64, 4).keys == 4 && line(400, 1000, 3, 64, 4).vectors == 16 && line(6, 1500, 3, 200, 4).vectors == 64 && line(5, 2049, 1, 256, 2).keys == 2, "a part of a warp goes along the queries of up to four keys");
  expect(line(141, 4096, 5, 256, 2).keys == 0 && line(240, 700, 2, 64, 2).keys == 0 && line(8, 1000, 2, 256, 2).keys == 0 && line(141, 4096, 2, 264, 2).keys == 0 && line(5000, 15, 2, 128, 4).keys == 0, "more keys, short heads, and few queries are left to others");
  bool lines_cover = true;
  for (long long queries = 16; queries <= 1 << 20; queries = queries * 3 / 2 + 1)
    for (const long long heads : {1, 7, 300, 70'000})
      if (const AttentionLine l = line(heads, queries, 2, 128, 4); l.keys > 0) lines_cover = lines_cover && l.run >= 4 && l.run % 4 == 0 && (queries + l.run - 1) / l.run * l.run >= queries && ((queries + l.run - 1) / l.run - 1) * l.run < queries;
  expect(lines_cover, "runs of queries cover a head, and none is empty");
  const auto warps = [&](long long heads, long long queries, long long keys, int dim) { return attention_warps(132, hopper_shared, sizes(heads, queries, keys, dim), 2); };
  expect(warps(5000, 16, 16, 64).sharing == 1 && warps(526, 2, 3851, 128).sharing == 4 && warps(8, 4, 4096, 128).sharing == 8, "warps share keys where queries do not keep all busy");
  expect(warps(8, 4, 4096, 128).splits > 8 && warps(128, 4, 4096, 128).splits == 1, "and blocks do where heads are few");
  expect(warps(83, 32, 513, 40).sharing == 8 && warps(83, 32, 513, 40).splits == 1, "where a tile is soon met, a block that waits for no others is sooner done");
  bool warps_fit = true;
  for (int dim = 8; dim <= 256; dim += 8)
    for (const int sharing : {4, 8})
      for (const long long queries : {1, 16}) {
        const unsigned bytes = attention_warp_bytes(sizes(1, queries, 5000, dim), sharing);
        warps_fit = warps_fit && bytes <= 110 << 10 && bytes >= static_cast<unsigned>(sharing * 32 * attention_join_bytes);
      }
  expect(warps_fit, "sums of warps, and what their threads join of shares, fit into shared memory");
  constexpr long long block_bytes = 227 << 10, kept = 2048;  // of shared memory on an H200, less what barriers and the driver take
  bool fits = true, covers = true;
  for (int dim = 1; dim <= 256; dim++) {
    const AttentionSizes s = {8, 8, 8, 500, 1000, 500, dim, 1, 1};
    const AttentionTile hopper = attention_wgmma_tile(132, s), single = attention_f32_tile(132, hopper_shared, s);
    covers = covers && (dim % 8 != 0 || hopper.dim >= dim) && single.dim >= dim && (dim < 8 || attention_wgmma_tile(132, {400, 8, 8, 2000, 4000, 2000, dim, 1, 1}).dim >= dim);
    fits = fits && attention_f32_bytes(single) <= block_bytes && (hopper.dim == 0 || (attention_wgmma_bytes(hopper) <= block_bytes - kept && hopper.keys % 16 == 0 && hopper.queries % 64 == 0));
  }
  expect(covers, "tensor cores take every head dim of up to 256");
  const auto odd = [](long long heads, long long queries, long long keys) { return attention_wgmma_tile(132, {heads, heads, heads, queries, keys, queries, 65, 0, 1}).dim > 0; };
  expect(odd(16, 2048, 2048) && !odd(16, 100, 100) && !odd(1600, 64, 8) && odd(1, 1000, 20'000), "rows that do not start on 16 bytes are copied for the copy engine where keys are many");
  expect(fits, "their tiles fit into shared memory");
  expect(attention_wgmma_tile(132, {8, 8, 8, 63, 1000, 63, 64, 0, 1}).dim == 0 && attention_wgmma_tile(132, {800, 8, 8, 17, 300, 17, 128, 0, 1}).dim == 128 && attention_wgmma_tile(132, {2, 2, 2, 120, 1000, 30, 64, 0, 1}).dim == 0, "few queries, and heads that share a block, take other kernels");
  const auto dim_of = [&](int bytes, int dim, long long heads = 400) { return attention_warp_dim(132, sizes(heads, 16, 16, dim), bytes); };
  expect(dim_of(4, 80) == 96 && dim_of(4, 97) == 128 && dim_of(4, 129) == 160 && dim_of(4, 161) == 256 && dim_of(4, 64) == 64 && dim_of(2, 80) == 128 && dim_of(2, 160) == 256 && dim_of(4, 80, 300) == 128 && dim_of(4, 160, 150) == 256, "a warp's products in f32 leave less of a head dim empty");
  expect(attention_splits(132, 64, 8, attention_wgmma_least_split(256, 0)) == 1 && attention_splits(132, 1, 8, attention_wgmma_least_split(128, 0)) == 4 && attention_splits(132, 1, 8, attention_wgmma_least_split(128, 1)) == 1 && attention_splits(132, 1, 40, attention_wgmma_least_split(256, 1)) == 20, "a few tiles of keys are not worth a join");
  expect(attention_keys_seen({8, 8, 8, 65, 8192, 65, 64, 1, 1}) == 65 && attention_keys_seen({8, 8, 8, 65, 8192, 65, 64, 0, 1}) == 8192, "keys that no query sees are not shared out");
  const auto single = [](long long queries) { return attention_f32_tile(132, hopper_shared, {16, 8, 8, queries, queries, queries, 64, 0, 1}).queries; };
  expect(single(1024) == 64 && single(2048) == 128 && attention_f32_tile(132, hopper_shared, {5000, 8, 8, 64, 64, 64, 64, 0, 1}).queries == 64, "f32 blocks take more queries where these are many");
  const auto rows = [](long long heads, long long queries) { return attention_wgmma_tile(132, {heads, 16, 16, queries, queries, queries, 64, 0, 1}).queries; };
  expect(rows(64, 512) == 128 && rows(64, 2048) == 192, "blocks take fewer queries where the GPU is done sooner");
  const auto blocks = [](int causal, int dim = 64, long long keys = 8192) { return attention_wgmma_blocks(132, {64, 16, 16, keys, keys, keys, dim, causal, 1}, 704); };
  expect(blocks(0) == 132 && blocks(1) == 704 && blocks(1, 64, 4096) == 132 && blocks(1, 128, 1024) == 132 && blocks(1, 128, 2048) == 704 && attention_wgmma_blocks(132, {64, 16, 16, 250, 8192, 250, 64, 1, 1}, 704) == 132, "blocks go on from one piece of work to the next where all are as long, or short");
  const auto few_warps = [](long long heads, long long keys) { return attention_few_warps(132, {heads, 16, 16, 1, keys, 1, 64, 0, 1}, 1); };
  expect(few_warps(2048, 100) == 1 && few_warps(2048, 4096) == 4 && few_warps(512, 16) == 1 && few_warps(16, 300) == 16 && few_warps(16, 120) == 4 && few_warps(100, 300) == 16 && few_warps(140, 300) == 4, "a query has as many warps as its keys and the others leave");
  const auto few_keys = [](long long heads, long long keys, int dim) { return attention_wgmma_tile(132, {heads, 16, 16, 128, keys, 128, dim, 0, 1}).dim; };
  expect(few_keys(142, 11, 80) == 0 && few_keys(4096, 20, 16) == 0 && few_keys(4096, 64, 32) == 0 && few_keys(4096, 20, 128) == 128 && few_keys(142, 100, 80) == 80, "few keys of small heads, or of few, take smaller tiles");
  const auto tile_keys = [](long long keys, int dim) { return attention_wgmma_tile(132, {4096, 16, 16, 128, keys, 128, dim, 0, 1}).keys; };
  expect(tile_keys(60, 64) == 64 && tile_keys(20, 128) == 64 && tile_keys(67, 80) == 96 && tile_keys(97, 128) == 128 && tile_keys(175, 128) == 96 && tile_keys(256, 256) == 64 && tile_keys(1024, 256) == 80, "tiles have fewer keys where more of them would be empty");
  const auto together = [](long long keys, int causal) { return attention_heads_together({64, 16, 16, keys, keys, keys, 128, causal, 1}); };
  expect(together(2048, 0) == 1 && together(2048, 1) == 24 && together(128, 1) == 64 && together(1 << 20, 1) == 1, "blocks of several heads run together as far as their keys fit into L2");
  expect(attention_joins_wide(132, 1) && attention_joins_wide(132, 528) && !attention_joins_wide(132, 529), "a block joins the shares of each of a few queries");
}

std::string launch_refusal(const Dim3& grid, size_t arguments) {
  struct Block {
    char bytes[128];
  };
  try {
    if (arguments == 0) Launch(nullptr, grid, 256, 0);
    else if (arguments == 32) Launch(nullptr, grid, 256, 0, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{});
    else Launch(nullptr, grid, 256, 0, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, Block{}, 1);
  } catch (const Error& e) {
    return e.code + ": " + e.what();
  }
  return {};
}

void launches() {
  expect(launch_refusal({Launch::max_blocks_x, 65535, 65535}, 0).empty(), "a launch takes the largest grid");
  expect(launch_refusal({Launch::max_blocks_x + 1}, 0).find("unsupported: This size needs a grid of 2147483648") == 0, "and refuses a larger one with its size");
  expect(launch_refusal({1, 65536}, 0).find("unsupported") == 0, "along y as well");
  expect(launch_refusal({}, 32).empty() && launch_refusal({}, 33).find("unsupported: A kernel of this case takes more than a launch can pass") == 0, "arguments beyond 4096 bytes are refused");
}

// Libraries of NVIDIA are looked for by the loader first, then in the folders that were given, in their order.
void libraries() {
  const std::vector<std::string> tried = library_candidates({"liba.so.2", "liba.so.1"}, {"/x", "/y"});
  expect(tried == std::vector<std::string>{"liba.so.2", "liba.so.1", "/x/liba.so.2", "/x/liba.so.1", "/y/liba.so.2", "/y/liba.so.1"}, "a library is looked for by the loader, then in folders");
  expect(origin_of("liba.so.2") == "found by the loader" && origin_of("/e/lib/python3.12/site-packages/nvidia/cu13/lib/liba.so.2") == "from a Python environment" && origin_of("/usr/local/cuda/lib64/liba.so.2") == "from a CUDA toolkit",
         "where it was found is told without its path");
  opscope::cuda::set_library_folders({"/nowhere", OPSCOPE_TEST_LIBRARIES});
  expect(!open_library({"libopscope_none.so"}).found(), "a library that is nowhere is not found");
  const Library fake = open_library({"libopscope_none.so", "libopscope_fake_vendor.so"});
  expect(fake.found() && fake.symbol("opscope_fake_version") && !fake.symbol("other"), "one in a folder is");
  expect(not_found("cuX", {"libx.so.2", "libx.so.1"}, "nvidia-x").find("cuX was not found: no libx.so.2 or libx.so.1 on the loader's path or in 2 folders") == 0, "and one that is not there says where was looked");
}

int count_of(const std::string& text, std::string_view words) {
  int count = 0;
  for (size_t at = 0; (at = text.find(words, at)) != std::string::npos; at += words.size()) count++;
  return count;
}

// NVRTC gets each kernel as one text, without files of ours to include.
void sources() {
  const auto find = [](const std::string& path) -> std::optional<std::string_view> {
    if (path == "kernels/a.cu") return "#include \"sub/b.cuh\"\n#include <cuda_fp16.h>\nA\n";
    if (path == "kernels/sub/b.cuh") return "#pragma once\n#include \"c.h\"\n#include \"common/d.h\"\nB\n";
    if (path == "kernels/sub/c.h") return "#include \"../a.cu\"\nC\n";
    if (path == "kernels/common/d.h") return "D\n";
    return {};
  };
  expect(amalgamated("kernels/a.cu", find) == "C\nD\nB\n#include <cuda_fp16.h>\nA\n", "files are put in place of their includes, each once");
  int kernels = 0;
  std::string others, unnamed, unknown;
  std::set<int> architectures;
  for (const auto& path : source_paths()) {
    if (path.size() < 3 || path.substr(path.size() - 3) != ".cu") continue;
    const std::string text = amalgamated(path);
    kernels += count_of(text, kernel_opening);
    constexpr std::string_view asks = "__CUDA_ARCH__ >= ";
    for (size_t at = 0; (at = text.find(asks, at)) != std::string::npos; at += asks.size()) architectures.insert(std::atoi(text.c_str() + at + asks.size()));
    if (text.find("#include \"") != std::string::npos) others += " " + path;
    if (count_of(text, "__global__") != count_of(text, kernel_opening)) unnamed += " " + path;
    if (count_of(text, "#include <") != count_of(text, "#include <cuda_") + count_of(text, "#include <cstdint>") + count_of(text, "#include <type_traits>")) unknown += " " + path;
  }
  expect(kernels > 100 && others.empty(), "kernels include nothing else of ours" + others);
  expect(unnamed.empty(), "NVRTC finds every kernel by how it begins" + unnamed);
  expect(unknown.empty(), "kernels include no header that NVRTC does not have" + unknown);
  expect(architectures == std::set<int>{890, 900}, "kernels have other instructions from 8.9 and 9.0 on alone, as code_for expects");
  expect(nvrtc_arch(9, 0) == "sm_90a" && nvrtc_arch(12, 0) == "sm_120", "kernels are compiled for the very GPU");
}

}  // namespace

// `plans 9.0 400` prints the plans of 400 drawn cases of each operation on a GPU instead, for a comparison of two builds.
int main(int count, char** words) {
  if (count == 4 && std::string(words[1]) == "plans") return print_plans(words[2], std::atoi(words[3]));
  registered();
  shapes();
  row_shapes();
  staying_shapes();
  move_shapes();
  planes(expect);
  products();
  f32_products();
  panel_products();
  fitted_products();
  convolution_shapes();
  narrow_convolution_shapes();
  f32_convolutions();
  order_shapes();
  few_shapes();
  choices();
  attention_groups_of_blocks();
  composites();
  device_plans();
  attentions();
  launches();
  libraries();
  sources();
  return failed ? 1 : 0;
}
