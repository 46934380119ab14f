// Rows taken and added by index, as calls beyond the caches write them: with non-temporal stores, by whole lines.
#include "streamed.h"

#include <cstdio>
#include <cstdint>
#include <thread>
#include <vector>

#include "isa.h"
#include "registry.h"

namespace opscope {

namespace {

constexpr int64_t ROWS = 5;
const std::vector<int32_t> INDICES{3, 0, 4, 0, -1, 2, 0, 5, 3, 0, 4};  // two of them outside

struct Case {
  const cpu::Entry& entry;
  cpu::Run run;
  int64_t dim;
  int threads;
};

// A tensor of `n` elements that starts a line and is followed by one that must stay as it is.
template <class T>
class Lines {
 public:
  explicit Lines(size_t n) : lines_((n * sizeof(T)) / sizeof(Line) + 2), count_(n) { data()[n] = GUARD; }
  T* data() { return reinterpret_cast<T*>(lines_.data()); }
  bool intact() { return data()[count_] == GUARD; }

 private:
  static constexpr T GUARD = T{77};
  struct alignas(64) Line {
    std::byte bytes[64]{};
  };
  std::vector<Line> lines_;
  size_t count_;
};

// What every thread of a team does, one after the other: neither kernel waits for another thread but to list sources, which thread 0 does.
void call(const Case& c, std::vector<const void*> in, void* out) {
  const std::vector<int64_t> dims{ROWS, c.dim, static_cast<int64_t>(INDICES.size())};
  const size_t floats = c.entry.kernel->scratch ? c.entry.kernel->scratch(dims.data(), 3, c.threads, sizeof(float)) : 0;
  std::vector<float> scratch(floats + 1);
  std::thread([&] {
    cpu::denormals_off();
    for (int thread = 0; thread < c.threads; thread++) {
      cpu::Call call{};
      call.in = in.data();
      call.out = &out;
      call.dims = dims.data();
      call.dim_count = 3;
      call.scratch = scratch.data();
      call.thread = thread;
      call.threads = c.threads;
      call.barrier = [](void*) {};
      call.parts = call.most_parts = 1;
      call.stream = call.stream_of_many = call.distant_cache = true;
      c.run(call);
    }
  }).join();
}

// Whether each output is what at(row, column, i) says of output row i.
template <class T, class At>
bool holds(Lines<T>& out, int64_t rows, int64_t dim, At at) {
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < dim; j++)
      if (out.data()[i * dim + j] != at(i, j)) return false;
  return out.intact();
}

// Elements are moved, whatever they mean.
template <class T>
bool embeds(const Case& c) {
  const auto count = static_cast<int64_t>(INDICES.size());
  const auto value = [&](int64_t row, int64_t column) { return static_cast<T>(row * 1009 + column + 100); };
  Lines<T> weight(static_cast<size_t>(ROWS * c.dim)), out(static_cast<size_t>(count * c.dim));
  for (int64_t i = 0; i < ROWS * c.dim; i++) weight.data()[i] = value(i / c.dim, i % c.dim);
  for (int64_t i = 0; i < count * c.dim; i++) out.data()[i] = T{9};
  call(c, {INDICES.data(), weight.data()}, out.data());
  return holds(out, count, c.dim, [&](int64_t i, int64_t j) {
    const int32_t row = INDICES[static_cast<size_t>(i)];
    return row >= 0 && row < ROWS ? value(row, j) : T{9};
  });
}

bool scatters(const Case& c) {
  const auto count = static_cast<int64_t>(INDICES.size());
  Lines<float> x(static_cast<size_t>(ROWS * c.dim)), src(static_cast<size_t>(count * c.dim)), out(static_cast<size_t>(ROWS * c.dim));
  for (int64_t i = 0; i < ROWS * c.dim; i++) x.data()[i] = static_cast<float>(i % 101);
  for (int64_t i = 0; i < count * c.dim; i++) src.data()[i] = static_cast<float>(i % 89);
  call(c, {x.data(), INDICES.data(), src.data()}, out.data());
  return holds(out, ROWS, c.dim, [&](int64_t row, int64_t j) {
    float sum = x.data()[row * c.dim + j];
    for (int64_t i = 0; i < count; i++)
      if (INDICES[static_cast<size_t>(i)] == row) sum += src.data()[i * c.dim + j];
    return sum;
  });
}

bool usable(const cpu::Entry& entry) {
  for (const cpu::Isa& isa : cpu::isas())
    if (isa.id == entry.isa && isa.available) return true;
  return false;
}

}  // namespace

int check_streamed() {
  int wrong = 0;
  for (const cpu::Entry& entry : cpu::all_kernels()) {
    if (!usable(entry) || (entry.op != "embedding" && entry.op != "scatter_add")) continue;
    for (const int64_t dim : {int64_t{2}, int64_t{17}, int64_t{41}, int64_t{300}, int64_t{1024}, int64_t{2049}, int64_t{5003}})
      for (const int threads : {1, 3}) {
        const bool right = entry.op == "scatter_add" ? scatters({entry, entry.kernel->run.f32, dim, threads}) : embeds<uint32_t>({entry, entry.kernel->run.f32, dim, threads}) && embeds<uint16_t>({entry, entry.kernel->run.f16, dim, threads});
        if (right) continue;
        wrong++;
        std::printf("WRONG %.*s %.*s of rows of %lld elements by %d threads, streamed\n", static_cast<int>(entry.isa.size()), entry.isa.data(), static_cast<int>(entry.op.size()), entry.op.data(), static_cast<long long>(dim), threads);
      }
  }
  return wrong > 0;
}

}  // namespace opscope
