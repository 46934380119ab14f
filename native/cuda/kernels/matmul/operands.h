// A product and its operands as tiles of products take them (matmul.plan.cc, matmul_wgmma.plan.cc): as they lie, copied to rows that start on 16 bytes, or turned.
#pragma once
#include <string>

#include "../plan.h"
#include "shape.h"
#include "spaced.h"

namespace opscope::cuda {

// A product of the case's dtype, and where its operands lie.
struct Product {
  ProductShape s;
  CUdeviceptr a, b, c;
  int64_t results() const { return s.batch * s.m * s.n; }
};

inline std::string layout_of(const ProductShape& s) { return std::string(s.trans_a ? "t" : "n") + (s.trans_b ? "t" : "n"); }

// An operand as the copy engine takes it: [batch, rows, cols] with rows `pitch` apart.
struct Operand {
  CUdeviceptr address;
  int64_t batch;
  int rows, cols;
  int64_t pitch;
};
inline Operand left(const Product& p) { return p.s.trans_a ? Operand{p.a, p.s.batch_a, p.s.k, p.s.m, p.s.m} : Operand{p.a, p.s.batch_a, p.s.m, p.s.k, p.s.k}; }
inline Operand right(const Product& p) { return p.s.trans_b ? Operand{p.b, p.s.batch, p.s.n, p.s.k, p.s.k} : Operand{p.b, p.s.batch, p.s.k, p.s.n, p.s.n}; }

inline int64_t lanes_of(const Planner& p) { return 16 / static_cast<int64_t>(dtype_bytes(p.spec.dtype)); }
inline int64_t spaced_pitch(const Planner& p, int64_t cols) { return ceil_div(cols, lanes_of(p)) * lanes_of(p); }

// The rows of both made to start on 16 bytes, by copies in one launch of those that do not. Whether there was one.
inline bool space(Planner& p, Operand& a, Operand& b) {
  SpacedOperand work[2] = {};
  int64_t blocks = 0;
  for (Operand* x : {&a, &b}) {
    SpacedOperand& w = work[x == &b];
    if (x->pitch % lanes_of(p) == 0) continue;
    x->pitch = spaced_pitch(p, x->cols);
    w.from = x->address;
    w.rows = x->batch * x->rows;
    w.cols = x->cols;
    w.vectors = static_cast<int>(x->pitch / lanes_of(p));
    w.blocks = ceil_div(w.rows * w.vectors, spaced_threads * spaced_each);
    w.out = x->address = p.workspace(w.rows * w.vectors * 16);
    blocks += w.blocks;
  }
  if (blocks > 0) p.launch(p.kernel_in("matmul_parts", "matmul_spaced_" + std::to_string(dtype_bytes(p.spec.dtype))), {blocks}, spaced_threads, 0, work[0], work[1]);
  return blocks > 0;
}

// An f32 operand turned (and rounded, in tf32).
inline void turn(Planner& p, Operand& x) {
  const int64_t pitch = spaced_pitch(p, x.rows);
  const CUdeviceptr out = p.workspace(x.batch * x.cols * pitch * 4);
  const bool wide = x.cols % 4 == 0;
  const int side = wide ? 64 : 32;
  p.launch(p.kernel_in("matmul_parts", "matmul_turned_" + p.dtype() + (wide ? "_wide" : "")), {ceil_div(x.cols, side), ceil_div(x.rows, side), x.batch}, 256, 0, x.address, out, x.rows, x.cols, static_cast<int>(pitch));
  x = {out, x.batch, x.cols, x.rows, pitch};
}

}  // namespace opscope::cuda
