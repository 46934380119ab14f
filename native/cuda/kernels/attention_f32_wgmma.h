// Sizes of attention_f32_wgmma.cu, the same for host and device.
#pragma once

// The head dims that the kernel is built for, the columns of such a head that a slot of its ring has, keys and bytes of a slot (whole boxes of 32 columns, or a row of 128 bytes for each column; twice), and slots.
constexpr int attention_f32_wgmma_queries = 128, attention_f32_wgmma_keys = 32;
constexpr int attention_f32_wgmma_dim(int dim) { return dim <= 64 ? 64 : dim <= 96 ? 96 : dim <= 128 ? 128 : dim <= 160 ? 160 : dim <= 192 ? 192 : 256; }
constexpr int attention_f32_wgmma_columns(int dim) { return dim <= 128 ? dim : dim / 2; }
constexpr int attention_f32_wgmma_slot(int columns) { return (columns + 31) / 32 * 32 * 128 * 2; }
constexpr int attention_f32_wgmma_q_bytes(int dim) { return (dim + 31) / 32 * 128 * attention_f32_wgmma_queries; }
constexpr int attention_f32_wgmma_stages(int dim) { return (225 * 1024 - attention_f32_wgmma_q_bytes(dim)) / attention_f32_wgmma_slot(attention_f32_wgmma_columns(dim)); }
constexpr int attention_f32_wgmma_bytes(int dim) { return attention_f32_wgmma_q_bytes(dim) + attention_f32_wgmma_stages(dim) * attention_f32_wgmma_slot(attention_f32_wgmma_columns(dim)) + 1024; }
