// What the kernel tool checks against: inputs by the rule in core/random.ts and float64 results of single output elements.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "prepared.h"

namespace opscope::cuda::tools {

// Element `index` of input `stream`, rounded to the dtype, with seed 20260101 and unit normal fill.
double input_value(int stream, int64_t index, Dtype dtype);

// Element `index` of an input filled by `fill`, rounded to the dtype.
double filled_value(const Fill& fill, int64_t index, Dtype dtype);

// A case with the inputs and output size that core/ops states for it.
CaseSpec make_case(const std::string& op, Dtype dtype, std::vector<int64_t> dims);

// float64 results of the output elements `indices`, which lie in as few rows as possible for row-wise ops.
std::vector<double> reference(const CaseSpec& spec, const std::vector<int64_t>& indices);

// Relative error allowed, ‖out - ref‖ / ‖ref‖, as core/ops states it.
double tolerance(const CaseSpec& spec);

// Raw output element as a number.
double decode(const void* raw, int64_t index, Dtype dtype);

// Bytes and operations of a case, as core/ops counts them.
double bytes(const CaseSpec& spec);
double flops(const CaseSpec& spec);

}  // namespace opscope::cuda::tools
