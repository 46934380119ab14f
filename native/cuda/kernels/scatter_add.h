// Threads of a block of scatter_add.cu that has columns in shared memory, the same for host and device.
#pragma once

constexpr int column_threads = 512;
