// The extents of an attention, for host and device.
#pragma once

struct AttentionSizes {
  long long heads, kv_heads, queries, keys;
  int dim, causal;
};
