// Bits of the mantissa of T, with the first. For fixed.cuh and exact.cuh.
#pragma once
#include "../common/vec.cuh"

template <class T>
constexpr int MANTISSA = sizeof(T) == 4 ? 24 : 8;
template <>
constexpr int MANTISSA<f16> = 11;
