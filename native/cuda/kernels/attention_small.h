// Attention of few queries whose keys all arrive at once (attention_small.cu), the same for host and device.
#pragma once
#include "scaled_dot_product_attention.h"

struct AttentionSmall {
  int dim, vectors, seen;      // elements of a head, in vectors of 16 bytes; keys that every query sees
  float scale;                 // of scores, whose weights are powers of two
  long long of_head;           // elements of the keys of a head
  Divide by_queries, by_group; // of a head; heads that share their keys
};
