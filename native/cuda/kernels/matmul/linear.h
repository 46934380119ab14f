// What a product does with its results beside storing them, the same for host and device: the parts of a composite operation that follow it
// (linear.plan.h), of results [m, n] whose columns each have an element of `bias`.
#pragma once
#include "../common/divide.h"

// Which kernel makes a product whose store does more.
enum class LinearKernel { none, few, f32_small, wgmma };

enum class LinearKind {
  none,
  gelu,      // gelu(result + bias)
  residual,  // result + bias + residual[row, column]
  heads,     // result + bias, in views: `views` thirds (or so) of a row, each [batch, heads, seq, width] in a tensor of its own
};

struct LinearStore {
  const void* bias;
  const void* residual;
  void* views[3];
  int seq, width, heads;  // rows of a batch; elements of a head; heads of a view
  Divide by_seq, by_width, by_heads;
  LinearKind kind;
};
