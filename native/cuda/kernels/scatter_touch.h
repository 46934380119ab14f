// What scatter_touch.cu takes, the same for host and device: threads of a block, vectors of each, and most indices.
#pragma once

constexpr int touch_threads = 256, touch_vectors = 2, touch_indices = 128;
