// The parts of the CUDA backend that need no GPU:
//   cmake --build native/build --target opscope_cuda_test && native/build/opscope_cuda_test
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <string>

#include "buffers/room.h"
#include "buffers/rotation.h"
#include "kernels/reduction/shape.h"
#include "module/archs.h"
#include "nvml/holders.h"
#include "nvml/window.h"
#include "prepared.h"
#include "timing/clock.h"
#include "timing/queue.h"
#include "words.h"

using namespace opscope;
using namespace opscope::cuda;

namespace {

int failed = 0;

void expect(bool right, const char* what) {
  std::printf("%s: %s\n", what, right ? "right" : "WRONG");
  failed += !right;
}

bool near(double value, double expected, double share) { return std::fabs(value / expected - 1) <= share; }

// Stamps `apart_ns` from each other at `mhz`, as a timer of 32 ns steps shows them.
std::vector<Stamp> stamps_at(double mhz, uint64_t apart_ns, int count) {
  std::vector<Stamp> list;
  for (int i = 0; i < count; i++) {
    const uint64_t ns = 1'000'000 + apart_ns * static_cast<uint64_t>(i);
    list.push_back({static_cast<uint64_t>(static_cast<double>(ns) * mhz / 1e3), ns / 32 * 32, 5, 0});
  }
  return list;
}

// One stamp before each sample and one after the last.
std::vector<double> clocks_of(const std::vector<Stamp>& stamps) {
  std::vector<int> before(stamps.size());
  std::iota(before.begin(), before.end(), 0);
  return clocks_mhz(stamps, before, 32);
}

void clocks() {
  const auto slow = clocks_of(stamps_at(1980, 100'000, 11));
  expect(slow.size() == 10 && near(slow[0], 1980, 0.001) && near(slow[9], 1980, 0.001), "a clock per sample");
  // Samples of 2 us alone would be off by up to 1.6 %.
  const auto quick = clocks_of(stamps_at(1500, 2'000, 41));
  bool close = quick.size() == 40;
  for (const double mhz : quick) close = close && near(mhz, 1500, 0.005);
  expect(close, "short samples reach over their neighbours");
  auto moved = stamps_at(1980, 100'000, 6);
  moved[2].sm = 7;
  moved[2].cycles += 999'999'999;
  const auto skipped = clocks_of(moved);
  bool sane = skipped.size() == 5;
  for (const double mhz : skipped) sane = sane && near(mhz, 1980, 0.001);
  expect(sane, "a stamp of another multiprocessor is passed over");
  auto changing = stamps_at(1980, 100'000, 5);
  for (int i = 3; i < 5; i++) changing[static_cast<size_t>(i)].cycles -= static_cast<uint64_t>(i - 2) * 80'000;
  const auto drop = clocks_of(changing);
  expect(drop.size() == 4 && near(drop[1], 1980, 0.001) && near(drop[2], 1180, 0.001), "a drop shows at its sample");
  const std::vector<int> sparse_at = {0, 3, 4};
  const auto sparse = clocks_mhz(stamps_at(1000, 900'000, 3), sparse_at, 32);
  expect(sparse.size() == 4 && near(sparse[0], 1000, 0.001) && near(sparse[3], 1000, 0.001), "samples between two stamps share their clock");
  auto scattered = stamps_at(1980, 100'000, 3);
  for (size_t i = 0; i < 3; i++) scattered[i].sm = static_cast<uint32_t>(i);
  expect(clocks_of(scattered).empty() && clocks_of({}).empty(), "no pair, no clock");
}

std::string refusal(int64_t tensors, int64_t set, int64_t cache, int64_t free) {
  try {
    sets_to_rotate(tensors, set, cache, free);
  } catch (const Error& e) {
    return e.code + ": " + e.what();
  }
  return {};
}

void rotation() {
  constexpr int64_t mi = 1 << 20, gi = 1 << 30;
  expect(sets_to_rotate(12 * mi, 12 * mi, 60 * mi, 100 * gi) == 10, "twice the cache");
  expect(sets_to_rotate(7 * mi, 8 * mi, 60 * mi, 100 * gi) == 18, "rounded up, without workspace");
  expect(sets_to_rotate(gi, gi, 60 * mi, 100 * gi) == 2, "at least two");
  expect(refusal(mi / 4, mi / 4, 60 * mi, 100 * gi).find("480 sets of 0.25 MiB; at most 256") != std::string::npos, "too small is refused with the figures");
  expect(refusal(10 * gi, 10 * gi, 60 * mi, 40 * gi).find("20480 MiB, more than a quarter") != std::string::npos, "too large is refused with the figures");
}

void window() {
  constexpr double absent = std::numeric_limits<double>::quiet_NaN();
  StateWindow w;
  expect(std::isnan(w.state().sm_clock_mhz) && std::isnan(w.state().power_w) && std::isnan(w.state().temperature_c) && w.state().foreign_processes == -1, "no reading, no state");
  DeviceState a{}, b{};
  a.sm_clock_mhz = 1980, a.mem_clock_mhz = 3201, a.temperature_c = 40, a.power_w = 300, a.has_throttle = true;
  b.sm_clock_mhz = 1500, b.mem_clock_mhz = absent, b.temperature_c = 45, b.power_w = 700, b.has_throttle = true, b.foreign_processes = 2;
  b.throttle = {"power limit"};
  w.add(a), w.add(b), w.add(a);
  const DeviceState s = w.state();
  expect(s.sm_clock_mhz == 1820 && s.mem_clock_mhz == 3201, "clocks are means of what was read");
  expect(s.temperature_c == 45 && s.foreign_processes == 2, "temperature and processes are the highest");
  expect(s.has_throttle && s.throttle == std::vector<std::string>{"power limit"}, "a throttle seen once is not missed");
}

void holders() {
  using Pids = std::vector<unsigned>;
  expect(tell_apart({10, 20, 30, 40}, 10, {20}, {10, 30}, true).others == Pids{40}, "processes of this app are no foreign ones");
  expect(tell_apart({7, 8, 9}, 10, {}, {10, 11}, true).count() == 1 && tell_apart({7, 8, 9}, 10, {}, {10, 11}, true).others.empty(), "in a container the holders are taken off the number");
  expect(tell_apart({7, 8}, 10, {}, {}, true).count() == 1, "in a container this process is one of those listed");
  expect(tell_apart({7}, 10, {}, {11}, false).others == Pids{7}, "without a context those listed are others");
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / ("opscope-holders-" + std::to_string(own_pid()));
  const std::filesystem::path stale = folder / "4242", note = folder / "notes.txt";
  expect(hold_in(folder.string(), 4711), "a process registers");
  std::ofstream(stale) << "";
  std::ofstream(note) << "";
  expect(holders_in(folder.string()) == Pids{4711}, "a file that nobody holds is no process");
  expect(!std::filesystem::exists(stale) && std::filesystem::exists(note), "stale files are removed, others are not");
  expect(holders_in((folder / "absent").string()).empty(), "no folder, no holders");
  std::filesystem::remove_all(folder);
}

void queue() {
  const CallCost quick{1, 0}, two{2, 0}, guest{4, 1e6};
  expect(calls_per_sample(Mode::hot, 3, quick) == 3 && calls_per_sample(Mode::hot, 1 << 20, quick) == queue_budget, "a sample has as many calls as the queue takes at most");
  expect(calls_per_sample(Mode::graph, 1000, two) == queue_budget / 2 && calls_per_sample(Mode::rotated, 1000, guest) == 100, "calls that take more of the queue or of the host are fewer");
  expect(calls_per_sample(Mode::cold, 700, quick) == 1 && calls_per_sample(Mode::hot, 1, CallCost{1, 1e9}) == 1, "a cold sample has one call, and no sample has none");
  expect(samples_at_once(Mode::hot, queue_budget, quick) == 1 && samples_at_once(Mode::hot, 1, quick) == queue_budget / 4, "samples fit into the queue with their events and stamps");
  expect(samples_at_once(Mode::cold, 1, quick) == queue_budget / 6 && samples_at_once(Mode::graph, queue_budget, quick) == queue_budget / 4, "a flush takes room, and a graph is one entry");
}

void words() {
  LaunchInfo launch;
  launch.kernel = "softmax_f32_join", launch.blocks[0] = 4096, launch.threads = 256;
  expect(fault_words("softmax", launch, 1, 2) == " It was softmax_f32_join of softmax, launch 2 of 2: 4096 blocks of 256 threads.", "which launch faulted");
  launch.blocks[1] = 3;
  expect(fault_words("softmax", launch, 0, 1).find("4096x3x1 blocks") != std::string::npos, "a grid of several axes");
  LaunchInfo second;
  second.kernel = "softmax_f32_scale", second.blocks[0] = 8, second.threads = 128;
  expect(fault_words("softmax", {launch}) == fault_words("softmax", launch, 0, 1) && fault_words("softmax", {}).empty(), "a fault while timing a call of one launch");
  expect(fault_words("softmax", {launch, second}) == " It was one of the 2 launches of softmax: 1. softmax_f32_join, 4096x3x1 blocks of 256 threads; 2. softmax_f32_scale, 8 blocks of 128 threads.", "a fault while timing a call of several launches");
  expect(fault_words("softmax", std::vector<LaunchInfo>(11, second)).find("; and 3 more.") != std::string::npos, "a call of many launches");
}

void room() {
  constexpr double gib = 1 << 30;
  expect(room_bytes(140 * gib, 20 * gib, true, 0) < 20 * gib && room_bytes(140 * gib, 20 * gib, true, 0) > 19.5 * gib, "a case gets what is free, not what the card has");
  expect(room_bytes(140 * gib, 20 * gib, false, gib) < room_bytes(140 * gib, 20 * gib, true, 0) - 1.5 * gib, "a context and a flush that are still to come take their part");
  expect(room_bytes(8 * gib, std::nan(""), true, 0) > 7 * gib && room_bytes(8 * gib, 0.1 * gib, false, 0) == 0, "a driver that does not tell has all free, and a full card has none");
}

void archs() {
  const auto is = [](const char* archs, int major, int minor, bool compiles, CodeOrigin origin, int code, bool asked = false) {
    const KernelCode found = code_for(archs, major, minor, [&] { return compiles; }, asked);
    return found.origin == origin && found.major * 10 + found.minor == code;
  };
  constexpr CodeOrigin none = CodeOrigin::none, built = CodeOrigin::built, compiled = CodeOrigin::compiled, translated = CodeOrigin::translated;
  const char* package = "80;90a;100";
  expect(is("90a", 9, 0, true, built, 90) && is("90a", 8, 0, false, none, 80) && is("90a", 10, 0, true, compiled, 100), "kernels with Hopper's own instructions run on Hopper alone");
  expect(is("86", 8, 9, false, built, 86) && is("86", 8, 0, false, none, 80) && is("86", 9, 0, false, none, 90), "machine code runs on its generation from its own number up");
  expect(is(package, 8, 6, true, built, 80) && is(package, 9, 0, true, built, 90) && is(package, 10, 3, true, built, 100), "code of a generation serves its GPUs, and plans see its number");
  expect(is(package, 8, 9, true, compiled, 89) && is(package, 8, 9, false, built, 80) && is("89", 8, 9, true, built, 89), "code without fp8 serves a GPU that has it where NVRTC is not found");
  expect(is(package, 12, 0, true, compiled, 120) && is(package, 12, 0, false, translated, 80) && is("90a", 12, 0, false, none, 120), "a GPU without code of its own has it compiled, and PTX only where that cannot be");
  expect(is(package, 7, 5, false, none, 75) && is(package, 9, 0, true, compiled, 90, true) && is(package, 9, 0, false, none, 90, true), "the user may ask for NVRTC");
}

// Every element is in one part of one row, and no launch is empty.
void reductions() {
  bool rows_covered = true, tiles_aligned = true, columns_covered = true, flat_whole = true, rows_held = true;
  for (const auto& [bytes, clusters] : {std::pair<int64_t, bool>{2, false}, {4, false}, {2, true}, {4, true}})
    for (const int64_t outer : {1, 3, 131, 70'001, 3'000'017})
      for (const int64_t length : {1, 2, 3, 7, 31, 64, 511, 513, 4099, 1'000'003}) {
        const RowSplit row = row_split(132, bytes, outer, length, 4, clusters);
        if (row.kind == RowSplit::Kind::block) rows_covered = rows_covered && (row.splits > 1) == (row.cluster || row.slots);
        if (row.slots) rows_covered = rows_covered && !row.cluster && row.splits > 1 && row.splits * outer <= most_slots + outer && row.threads == slot_threads && row.chunk % (slot_threads * slot_vectors) == 0;
        if (row.cluster) rows_covered = rows_covered && clusters && (row.splits == 2 || row.splits == 4 || row.splits == 8);
        if (row.kind == RowSplit::Kind::block)
          rows_covered = rows_covered && row.threads % 32 == 0 && row.threads >= 32 && row.threads <= 1024 && row.chunk * row.splits >= length && row.chunk * (row.splits - 1) < length &&
                         (row.splits == 1 || row.chunk * bytes % 16 == 0) && row.splits <= 65535;
        else
          tiles_aligned = tiles_aligned && row.group >= 1 && row.group <= 32 && (row.group & (row.group - 1)) == 0 &&
                          (row.kind == RowSplit::Kind::group ? length * bytes % 16 == 0 : row.chunk >= 8 && row.chunk % 8 == 0 && row.chunk * length * bytes <= 48 << 10);
        if (const ReducedRowsShape lanes = reduced_rows_shape(132, 16 / bytes, outer, length, clusters); lanes.vectors > 0) {
          const int64_t group = int64_t{1} << lanes.log2, reach = length * bytes % 16 == 0 ? length : length + 16 / bytes - 1;
          rows_held = rows_held && lanes.vectors <= (lanes.log2 == 5 ? reduced_long_vectors : reduced_vectors) && lanes.log2 <= 5 && lanes.vectors * group * 16 / bytes >= reach && lanes.blocks * reduced_threads >= outer * group && (lanes.blocks - 1) * reduced_threads < outer * group;
        } else {
          rows_held = rows_held && (outer == 1 || length * bytes <= (clusters ? 8 : 4) * 16 || length * bytes > 128 * 16 - 16);
        }
        if (const int log2 = spread_rows_log2(132, 16 / bytes, outer, length, 7); log2 >= 0)
          rows_held = rows_held && length * bytes % 16 == 0 && log2 <= 5 && length * bytes / 16 <= int64_t{1} << log2 && length * bytes / 16 * 2 > int64_t{1} << log2 && outer << log2 >= 132 * 256;
        for (const bool placed : {false, true})
          if (const int log2 = several_rows_log2(132, 16 / bytes, outer, length, placed); log2 >= 0)
            rows_held = rows_held && length * bytes % 16 == 0 && log2 <= 3 && length * bytes / 16 <= int64_t{1} << log2 && reduced_rows_shape(132, 16 / bytes, outer, length, placed).vectors == 0;
        for (const int64_t inner : {2, 3, 8, 33, 64, 129, 256, 1000, 4096}) {
          const ColumnSplit column = column_split(132, bytes, outer, length, inner, 6, clusters, clusters);
          const bool aligned = inner * bytes % 16 == 0 || column.width == 1;
          columns_covered = columns_covered && (column.kind == ColumnSplit::Kind::tiled || column.kind == ColumnSplit::Kind::strips || !column.shifted) && (column.kind != ColumnSplit::Kind::strip || (aligned && column.splits == 1));
          if (column.kind == ColumnSplit::Kind::each) columns_covered = columns_covered && (!column.few ? column.tiles * column.width == outer * inner : column.tiles * each_columns >= outer * inner && (column.tiles - 1) * each_columns < outer * inner && length <= each_few_rows) && aligned;
          else columns_covered = columns_covered && column.tile * column.tiles >= inner && column.tile * (column.tiles - 1) < inner && column.rows * column.splits >= length && column.rows * (column.splits - column.cluster) < length && column.splits % column.cluster == 0 && column.splits <= 65535;
          if (column.kind == ColumnSplit::Kind::tiled)
            columns_covered = columns_covered && (column.shifted ? column.width == 16 / bytes && inner % column.width != 0 && column.tile == 31 * column.width && length >= shifted_rows : aligned && column.tile == 32 * column.width);
          if (column.kind == ColumnSplit::Kind::cluster) columns_covered = columns_covered && clusters && aligned && column.width > 1 && (column.splits == 4 || column.splits == 8);
          if (column.kind == ColumnSplit::Kind::strips)
            columns_covered = columns_covered && clusters && column.width == 16 / bytes && column.shifted == (inner % column.width != 0) && column.tile == (column.shifted ? 7 : 8) * column.width && column.cluster <= 8 && column.rows >= 64 && column.tiles * outer * column.splits <= (column.splits > 1 ? 132 : 264);
          // Steps are of whole rows and whole accesses, and slices and shares start at one.
          if (column.kind == ColumnSplit::Kind::flat)
            flat_whole = flat_whole && inner <= (column.cluster > 1 ? longest_flat_columns : flat_columns) && column.step > 0 && column.step <= 256 * column.width && column.step % inner == 0 && column.step % column.width == 0 && column.rows * inner % column.step == 0 && column.width == 16 / bytes;
        }
      }
  expect(rows_held, "lanes of a warp hold rows of several vectors");
  expect(spread_rows_log2(132, 4, 65'537, 16, 32) == 2 && spread_rows_log2(132, 4, 65'537, 15, 32) < 0 && spread_rows_log2(132, 4, 65'537, 16, 1) < 0 && spread_rows_log2(132, 4, 40'000, 40, 3, true) < 0 && spread_rows_log2(132, 4, 40'000, 64, 3, true) == 4 && spread_rows_log2(132, 4, 1000, 16, 32) < 0, "short rows of several groups are met one after the other where they are many");
  expect(several_rows_log2(132, 4, 65'537, 16, true) == 2 && several_rows_log2(132, 8, 1 << 20, 8, false) == 0 && several_rows_log2(132, 4, 65'537, 17, true) < 0 && several_rows_log2(132, 4, 1000, 16, true) < 0, "many short rows are met several by a thread");
  expect(rows_covered, "blocks of rows cover each row once");
  expect(tiles_aligned, "short rows take part of a warp, and their tiles start on 16 bytes and fit in shared memory");
  expect(columns_covered, "tiles and shares cover each column once");
  expect(flat_whole, "few columns are met in steps of whole rows");
  expect(row_split(132, 4, 1, 64 << 20).splits > 132 && row_split(132, 4, 100'000, 4096).splits == 1, "few long rows are split, many are not");
  expect(row_split(132, 4, 1, 16 << 20, 4, true).splits == 2048 && row_split(132, 2, 1, int64_t{1} << 31, 4, true).splits == most_slots && !row_split(132, 4, 1, 32768, 4, true).slots, "long rows are taken by many blocks of one round");
  expect(row_split(132, 4, 1, 32768, 4, true).cluster && row_split(132, 4, 1, 65536, 4, true).cluster && row_split(132, 4, 263, 40'000, 4, true).cluster && !row_split(132, 4, 1, 64 << 20, 4, true).cluster, "a row of a few blocks is a cluster");
  expect(row_split(132, 4, 77, 2'097'153, 4, true).slots && row_split(132, 4, 66, 250'000, 4, true).slots && row_split(132, 2, 560, 300'001, 4, true).slots && !row_split(132, 4, 600, 100'000, 4, true).slots && !row_split(132, 4, 2000, 262'144, 4, true).slots, "long rows that clusters or a block each would leave to few blocks at the end are taken by slots");
  expect(row_split(132, 4, 1000, 16).group == 4 && row_split(132, 4, 1 << 20, 8).group == 2 && row_split(132, 4, 1 << 20, 3).kind == RowSplit::Kind::tile, "short rows take as many threads as they have vectors, or share a tile");
  using Kind = ColumnSplit::Kind;
  expect(column_split(132, 4, 1, 3, 1 << 20).kind == Kind::each && column_split(132, 4, 1, 1 << 20, 3).kind == Kind::flat && column_split(132, 4, 1, 4096, 4096).kind == Kind::strip && column_split(132, 4, 1, 4096, 3000).kind == Kind::tiled && column_split(132, 2, 1, 48, 524'288).kind == Kind::each && column_split(132, 2, 1, 48, 4096).kind == Kind::tiled, "few rows, few columns and many of both each have their kernel");
  const auto clustered = [](int64_t reduce, int64_t inner, int64_t bytes) { return column_split(132, bytes, 1, reduce, inner, 6, true).kind; };
  expect(clustered(9209, 65, 2) == Kind::flat && clustered(2000, 65, 2) == Kind::tiled && clustered(9209, 65, 4) == Kind::tiled && clustered(9209, 129, 2) == Kind::tiled, "blocks in clusters join the shares of up to 128 columns of 16 bits");
  const auto longest = [](int64_t reduce, int64_t inner, int64_t bytes, bool values) { return column_split(132, bytes, 1, reduce, inner, 6, true, values).kind == Kind::flat; };
  expect(longest(1'048'577, 131, 4, true) && longest(200'000, 200, 4, true) && longest(1'000'000, 129, 2, true) && !longest(200'000, 131, 4, true) && !longest(700'001, 255, 4, true) && !longest(400'001, 200, 2, true) && !longest(1'048'577, 131, 4, false) &&
             !longest(1'000'000, 128, 4, true),
         "and of more columns of values where there are very many rows, unless tiles of vectors are nearly full");
  expect(column_split(132, 4, 1, 1000, 4096, 6, true, true).splits == 8 && column_split(132, 2, 1, 4096, 4096, 6, true, true).kind == Kind::cluster && column_split(132, 4, 1, 65'536, 1024, 6, true, false).kind == Kind::tiled &&
             column_split(132, 4, 1, 4096, 4098, 6, true).kind == Kind::tiled,
         "the shares of a tile are a cluster where so many blocks fill the GPU");
  const auto strips = [](int64_t reduce, int64_t inner, int64_t bytes) { return column_split(132, bytes, 1, reduce, inner, 6, true, true); };
  expect(strips(2048, 512, 4).kind == Kind::strips && strips(2048, 512, 4).cluster == 8 && strips(4096, 768, 4).splits == 5 && strips(100'000, 128, 4).splits > 8 && strips(65'537, 300, 2).shifted && strips(512, 2048, 4).kind == Kind::cluster && strips(300, 132, 4).kind == Kind::tiled,
         "few strips of columns are shared by blocks");
  expect(strips(1025, 11'427, 2).splits == 1 && strips(300, 7001, 4).kind == Kind::strips && strips(100, 11'427, 2).kind == Kind::tiled && strips(1025, 5001, 4).kind == Kind::tiled && strips(1025, 11'424, 2).kind != Kind::strips, "more of them off 16 bytes have a block each, where these are as many as multiprocessors, or nearly");
  const auto shifts = [](int64_t outer, int64_t reduce, int64_t inner) { return column_split(132, 2, outer, reduce, inner, 6, true, true).shifted; };
  expect(shifts(1, 887, 65'537) && shifts(5, 66, 109'013) && shifts(1, 100, 15'001) && !shifts(1, 400, 9001) && !shifts(1, 887, 65'536) && !shifts(1, 2, 692'644) && !shifts(1, 1731, 167) && !shifts(3000, 9, 301),
         "rows of columns that do not start on 16 bytes are read in vectors, unless they are few or short");
  expect(column_split(132, 2, 1, 17, 65'537).kind == Kind::each && column_split(132, 2, 1, 17, 20'001).kind == Kind::tiled && column_split(132, 2, 1, 40, 65'537).kind == Kind::tiled, "some rows of single columns are met by a thread each where columns are many");
  expect(column_split(132, 2, 1, 2'763'663, 79, 6, true, true).cluster == 8 && column_split(132, 2, 1, 2'763'663, 79, 6, false, true).kind == Kind::tiled && column_split(132, 4, 1, 1000, 79, 6, true, true).kind == Kind::tiled, "columns of less than a tile of very many rows are met as few are");
  expect(column_split(132, 4, 1, 1 << 20, 3).splits > 132, "few columns of many rows take the whole GPU");
}

}  // namespace

int main() {
  archs();
  reductions();
  queue();
  room();
  words();
  holders();
  clocks();
  rotation();
  window();
  return failed ? 1 : 0;
}
