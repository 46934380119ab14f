// Rows and elements of tables by index. dims: [rows, dim, indices]. An index outside the table is passed over.
#include "simd/copy.h"
#include "simd/map.h"

namespace {

inline V same(V v) { return v; }

inline bool inside(int64_t index, int64_t rows) { return index >= 0 && index < rows; }

// ---- embedding: out[i] = weight[indices[i]] ----

constexpr int64_t LINE_BYTES = 64, LONG_ROW_BYTES = 4096;
constexpr int64_t SHORTEST_STREAMED = 64;  // bytes of a row

// Copies whole lines to where a line starts, streamed.
inline void stream_lines(const Call& c, const char* from, char* to, int64_t bytes) {
  map1<true>(reinterpret_cast<const float*>(from), reinterpret_cast<float*>(to), 0, bytes / 4, same, fetching_of(c));
}

// Bytes of a long row, whose lines are streamed.
void stream_row(const Call& c, const char* from, char* to, int64_t bytes) {
  const int64_t before = least(bytes, (0 - reinterpret_cast<uintptr_t>(to)) & (LINE_BYTES - 1)), whole = (bytes - before) / LINE_BYTES * LINE_BYTES, rest = bytes - before - whole;
  if (before > 0) copy_bytes(from, to, before);
  stream_lines(c, from + before, to + before, whole);
  if (rest > 0) copy_bytes(from + before + whole, to + before + whole, rest);
}

// Shorter rows follow one another in a buffer, whose lines are streamed.
class StreamedRows {
 public:
  StreamedRows(const Call& call, char* to) : c(call), out(to) {}
  // Where the next row belongs.
  char* place() { return out + filled; }
  void add(const char* row, int64_t bytes) {
    copy_bytes(row, buffer + filled, bytes);
    filled += bytes;
    if (filled < BYTES) return;
    stream_lines(c, buffer, out, BYTES);
    out += BYTES;
    filled -= BYTES;
    if (filled > 0) copy_bytes(buffer + BYTES, buffer, filled);
  }
  void finish() {
    if (filled > 0) stream_row(c, buffer, out, filled);
  }

 private:
  static constexpr int64_t BYTES = LONG_ROW_BYTES;
  const Call& c;
  char* out;
  int64_t filled = 0;
  alignas(LINE_BYTES) char buffer[BYTES + LONG_ROW_BYTES];
};

template <class U>
void run_embedding(const Call& c) {
  const int64_t rows = c.dims[0], dim = c.dims[1];
  const int32_t* indices = input<int32_t>(c, 0);
  const U* weight = input<U>(c, 1);
  U* out = output<U>(c);
  const Range r = part(c.dims[2] * dim, IN_LINE<U>, c.thread, c.threads);
  if (dim == 1) {
    for (int64_t i = r.begin; i < r.end; i++)
      if (inside(indices[i], rows)) out[i] = weight[indices[i]];
    return;
  }
  const auto each_row = [&](auto copy) {
    int64_t place = r.begin / dim, column = r.begin - place * dim;
    for (int64_t i = r.begin; i < r.end; place++, column = 0) {
      const int64_t n = least(dim - column, r.end - i), index = indices[place];
      copy(inside(index, rows) ? reinterpret_cast<const char*>(weight + index * dim + column) : nullptr, reinterpret_cast<char*>(out + i), n * static_cast<int64_t>(sizeof(U)));
      i += n;
    }
  };
  const int64_t row_bytes = dim * static_cast<int64_t>(sizeof(U));
  if (!c.stream || !c.distant_cache || W == 1 || row_bytes < SHORTEST_STREAMED) {
    each_row([](const char* row, char* to, int64_t bytes) {
      if (row) copy_bytes(row, to, bytes);
    });
    return;
  }
  if (row_bytes >= LONG_ROW_BYTES) {
    each_row([&c](const char* row, char* to, int64_t bytes) {
      if (row) stream_row(c, row, to, bytes);
    });
  } else {
    StreamedRows streamed(c, reinterpret_cast<char*>(out + r.begin));
    each_row([&streamed](const char* row, char*, int64_t bytes) { streamed.add(row ? row : streamed.place(), bytes); });
    streamed.finish();
  }
  vfence();
}

bool embedding_shape(const int64_t* d, int, int64_t* sizes) {
  sizes[0] = d[2];
  sizes[1] = times(d[0], d[1]);
  sizes[2] = times(d[2], d[1]);
  return true;
}

// ---- gather: out[i, j] = x[index[i, j], j] ----

template <class U>
void run_gather(const Call& c) {
  const int64_t rows = c.dims[0], dim = c.dims[1];
  const U* x = input<U>(c, 0);
  const int32_t* index = input<int32_t>(c, 1);
  U* out = output<U>(c);
  const Range r = part(c.dims[2] * dim, LINE, c.thread, c.threads);
  int64_t column = r.begin % dim;
  for (int64_t i = r.begin; i < r.end; i++) {
    if (inside(index[i], rows)) out[i] = x[index[i] * dim + column];
    column = column + 1 == dim ? 0 : column + 1;
  }
}

bool gather_shape(const int64_t* d, int, int64_t* sizes) {
  sizes[0] = times(d[0], d[1]);
  sizes[1] = sizes[2] = times(d[2], d[1]);
  return true;
}

// ---- scatter_add: out = x with out[index[i]] += src[i] ----
//
// The sources of every row are listed first, by a counting sort of the indices; then each row is added up in f32 and written once.
// So threads never meet, the order of additions is that of the sources, and 16-bit rows are rounded once. Short rows of f32 are added to a copy one by
// one, which gives the same: but where threads are many for the rows, or most additions would wait for the one before.

// In the scratch: where the sources of each row end (rows + 1), then the sources.
void list_sources(const Call& c, int32_t* ends, int32_t* sources) {
  const int64_t rows = c.dims[0], n = c.dims[2];
  const int32_t* index = input<int32_t>(c, 1);
  for (int64_t row = 0; row <= rows; row++) ends[row] = 0;
  for (int64_t i = 0; i < n; i++)
    if (inside(index[i], rows)) ends[index[i] + 1]++;
  for (int64_t row = 0; row < rows; row++) ends[row + 1] += ends[row];
  // Now ends[row] is where the row begins; filling moves it to its end.
  for (int64_t i = 0; i < n; i++)
    if (inside(index[i], rows)) sources[ends[index[i]]++] = static_cast<int32_t>(i);
}

// Every thread adds what belongs to its rows.
void add_to_copy(const Call& c) {
  const int64_t dim = c.dims[1];
  const int32_t* const index = input<int32_t>(c, 1);
  const float *const x = input(c, 0), *const src = input(c, 2);
  float* const out = output(c);
  const Range r = part(c.dims[0], LINE, c.thread, c.threads);
  if (c.stream) map1<true>(x, out, r.begin * dim, r.end * dim, same), vfence();
  else map1<false>(x, out, r.begin * dim, r.end * dim, same);
  for (int64_t i = 0; i < c.dims[2]; i++)
    if (index[i] >= r.begin && index[i] < r.end) map2<false>(out + index[i] * dim, src + i * dim, out + index[i] * dim, 0, dim, [](V a, V b) { return vadd(a, b); });
}

template <class T>
inline int64_t elements_before_line(const T* p) {
  return static_cast<int64_t>((0 - reinterpret_cast<uintptr_t>(p)) & (LINE_BYTES - 1)) / static_cast<int64_t>(sizeof(T));
}

// Elements `columns` of x and of the rows of src that `sources` lists, added in this order, to out, where each is written once.
template <bool STREAM, class T>
void add_sources(const T* x, const T* src, int64_t stride, const int32_t* sources, int64_t count, T* out, Range columns) {
  constexpr int64_t CHUNK = 1024;
  const auto add = [](V a, V b) { return vadd(a, b); };
  const auto add_two = [](V a, V b, V c) { return vadd(vadd(a, b), c); };
  alignas(64) float sums[CHUNK];
  for (int64_t from = columns.begin; from < columns.end; from += CHUNK) {
    const int64_t n = least(CHUNK, columns.end - from);
    const auto source = [=](int64_t i) { return src + sources[i] * stride + from; };
    if (count == 0) {
      map1<STREAM>(x + from, out + from, 0, n, same);
    } else if (count == 1) {
      map2<STREAM>(x + from, source(0), out + from, 0, n, add);
    } else if (count == 2) {
      map3<STREAM>(x + from, source(0), source(1), out + from, 0, n, add_two);
    } else {
      map3<false>(x + from, source(0), source(1), sums, 0, n, add_two);
      for (int64_t i = 2; i < count - 1; i++) map2<false>(sums, source(i), sums, 0, n, add);
      map2<STREAM>(sums, source(count - 1), out + from, 0, n, add);
    }
  }
}

template <class T>
void run_scatter_add(const Call& c) {
  constexpr int64_t LONG_ROW = 512;  // is written once, where threads wait for its sources to be listed
  const int64_t rows = c.dims[0], dim = c.dims[1];
  if constexpr (sizeof(T) == sizeof(float))
    if ((c.threads == 1 || rows >= LINE * c.threads) && (dim > 1 || c.dims[2] <= 64 * rows) && dim < LONG_ROW) return add_to_copy(c);
  int32_t* const ends = reinterpret_cast<int32_t*>(c.scratch);
  int32_t* const sources = ends + rows + 1;
  if (c.thread == 0) list_sources(c, ends, sources);
  c.barrier(c.team);
  const T *x = input<T>(c, 0), *src = input<T>(c, 2);
  T* out = output<T>(c);
  // Whole rows; of a few long ones, columns.
  const bool by_row = rows >= c.threads || dim == 1, streams = sizeof(T) == sizeof(float) && c.stream && c.distant_cache && dim >= LONG_ROW;
  const Range of_rows = by_row ? part(rows, 1, c.thread, c.threads) : Range{0, rows}, of_cols = by_row ? Range{0, dim} : part(dim, LINE, c.thread, c.threads);
  for (int64_t row = of_rows.begin; row < of_rows.end; row++) {
    const int32_t begin = row == 0 ? 0 : ends[row - 1], count = ends[row] - begin;
    if (dim == 1) {
      float sum = to_float(x[row]);
      for (int32_t i = 0; i < count; i++) sum += to_float(src[sources[begin + i]]);
      set(out + row, sum);
      continue;
    }
    const T* const from = x + row * dim;
    T* const to = out + row * dim;
    // What is streamed starts with a line.
    const int64_t whole = streams ? least(of_cols.end, of_cols.begin + elements_before_line(to + of_cols.begin)) : of_cols.end;
    add_sources<false>(from, src, dim, sources + begin, count, to, {of_cols.begin, whole});
    if (streams) add_sources<true>(from, src, dim, sources + begin, count, to, {whole, of_cols.end});
  }
  if (streams) vfence();
}

bool scatter_shape(const int64_t* d, int, int64_t* sizes) {
  sizes[0] = sizes[3] = times(d[0], d[1]);
  sizes[1] = d[2];
  sizes[2] = times(d[2], d[1]);
  return d[2] < INT32_MAX;
}

size_t scatter_scratch(const int64_t* d, int, int, size_t) { return static_cast<size_t>(d[0] + 1 + d[2]); }

// ---- rope: dims [tokens, heads, headDim, interleaved] ----

template <class T>
void run_rope(const Call& c) {
  const int64_t heads = c.dims[1], dim = c.dims[2], half = dim / 2;
  const bool interleaved = c.dims[3] != 0;
  constexpr int64_t CHUNK = 128;  // pairs
  float pairs[2 * CHUNK], cosines[CHUNK], sines[CHUNK], out[2 * CHUNK];
  const auto plain = [](V v) { return v; };
  const Range r = part(c.dims[0] * heads, 1, c.thread, c.threads);
  for (int64_t head = r.begin; head < r.end; head++) {
    const T *x = input<T>(c, 0) + head * dim, *cos = input<T>(c, 1) + head / heads * half, *sin = input<T>(c, 2) + head / heads * half;
    T* y = output<T>(c) + head * dim;
    if (!interleaved) {
      int64_t i = 0;
      for (; i + W <= half; i += W) {
        const V first = vload(x + i), second = vload(x + half + i), cosine = vload(cos + i), sine = vload(sin + i);
        vstore(y + i, vsub(vmul(first, cosine), vmul(second, sine)));
        vstore(y + half + i, vadd(vmul(second, cosine), vmul(first, sine)));
      }
      if (const int n = static_cast<int>(half - i); n > 0) {
        const V first = vload_n(x + i, n, 0), second = vload_n(x + half + i, n, 0), cosine = vload_n(cos + i, n, 0), sine = vload_n(sin + i, n, 0);
        vstore_n(y + i, vsub(vmul(first, cosine), vmul(second, sine)), n);
        vstore_n(y + half + i, vadd(vmul(second, cosine), vmul(first, sine)), n);
      }
      continue;
    }
    for (int64_t from = 0; from < half; from += CHUNK) {
      const int64_t n = least(CHUNK, half - from);
      map1<false>(x + 2 * from, pairs, 0, 2 * n, plain);
      map1<false>(cos + from, cosines, 0, n, plain);
      map1<false>(sin + from, sines, 0, n, plain);
      for (int64_t i = 0; i < n; i++) {
        out[2 * i] = pairs[2 * i] * cosines[i] - pairs[2 * i + 1] * sines[i];
        out[2 * i + 1] = pairs[2 * i + 1] * cosines[i] + pairs[2 * i] * sines[i];
      }
      map1<false>(out, y + 2 * from, 0, 2 * n, plain);
    }
  }
}

bool rope_shape(const int64_t* d, int, int64_t* sizes) {
  sizes[0] = sizes[3] = times(times(d[0], d[1]), d[2]);
  sizes[1] = sizes[2] = times(d[0], d[2] / 2);
  return d[2] % 2 == 0;
}

}  // namespace

OPSCOPE_KERNEL(embedding, "it>t", 3, 3, 0, embedding_shape, nullptr, {run_embedding<uint32_t>, run_embedding<uint16_t>, run_embedding<uint16_t>})
OPSCOPE_KERNEL(gather, "ti>t", 3, 3, 0, gather_shape, nullptr, {run_gather<uint32_t>, run_gather<uint16_t>, run_gather<uint16_t>})
OPSCOPE_TYPED(scatter_add, run_scatter_add, "tit>t", 3, 3, 0, scatter_shape, scatter_scratch)
OPSCOPE_ROUNDED(rope, run_rope, "ttt>t", 4, 4, 0, rope_shape, nullptr)
