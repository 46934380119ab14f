#include "cumsum/shape.h"
#include "cumsum/slots.h"
#include "plan.h"
#include "rows/launch.h"

namespace opscope::cuda {
// dims: [rows, cols].
static const Register registered({"cumsum", real_dtypes, {2}, [](const OpKernels&, const Dims& d) { return std::vector{in(d[0] * d[1]), out(d[0] * d[1])}; }, [](Planner& p) {
  const auto rows = static_cast<long long>(p.dim(0)), cols = static_cast<long long>(p.dim(1));
  if (launch_narrow_rows(p, arguments_of(p, rows, cols))) return;
  const int64_t lanes = 16 / static_cast<int64_t>(dtype_bytes(p.spec.dtype));
  const std::string name = "cumsum_" + p.dtype();
  if (launch_few_rows(p, rows, cols, std::max(few_most, cumsum_few_most(p.device.sm_count, cols)), 1, 1, 1, "cumsum_few")) return;
  if (const CumsumTile t = cumsum_tiles(p.device.sm_count, lanes, rows, cols); t.rows > 0) {
    p.launch(p.kernel(name + "_tile"), {t.blocks}, 256, static_cast<unsigned>(t.shared), p.input(0), p.output(), rows, static_cast<int>(cols), static_cast<int>(t.rows), t.group, t.each);
    return;
  }
  if (const CumsumSlots s = cumsum_slots(p.device.sm_count, rows, cols); s.rounds > 0) {
    const CUdeviceptr slots = s.parts > 1 ? p.workspace(rows * (s.parts + 1) * 8) : 0;
    p.launch(p.kernel_in("cumsum_slots", "cumsum_slots_" + p.dtype() + "_" + std::to_string(s.rounds)), {s.blocks}, cumsum_slot_threads, 0, p.input(0), p.output(), static_cast<int>(cols), static_cast<int>(s.parts), slots);
    return;
  }
  const RowsSplit split = rows_split(p.device.sm_count, lanes, rows, cols);
  constexpr CUdeviceptr absent = 0;
  const auto part = static_cast<long long>(split.part);
  if (split.parts > 1) {
    const CUdeviceptr sums = p.workspace(split.blocks * 4);
    p.launch(p.kernel(name + "_part"), {split.blocks}, split.threads, 0, p.input(0), sums, cols, split.parts, part);
    p.launch(p.kernel(name), {split.blocks}, split.threads, 0, p.input(0), p.output(), rows, cols, split.group, split.parts, part, sums);
    return;
  }
  // A warp at least. Few rows: a block for each that takes the row at once, four elements a thread, for steps would wait for memory one by one.
  int group = split.group < 32 ? 32 : split.group;
  unsigned threads = group == 32 ? 128 : split.threads;
  if (cols > 128 && rows <= p.device.sm_count) {
    threads = 64;
    while (threads < 1024 && threads * 4 < cols) threads *= 2;
    group = static_cast<int>(threads);
  }
  p.launch(p.kernel(name), {ceil_div(rows, threads / static_cast<unsigned>(group))}, threads, 0, p.input(0), p.output(), rows, cols, group, 1, cols, absent);
}});
}
