// layer_norm by blocks that stay (layer_norm.cu), the same for host and device: vectors of a row for each thread.
#pragma once

constexpr int stay_vectors = 4;
