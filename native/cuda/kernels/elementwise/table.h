// Every element-wise operation, one line each: the kernels (elementwise.cu) and their registration (elementwise.plan.cc) are
// made from it, in f32, f16 and bf16. Included with these macros defined:
//   ELEMENTWISE(op, inputs, scalars, one element of the result)
//   BROADCAST(op, one element)    two inputs; the second may be a row, a column or a scalar
//   COPY(op)                      moves bits, so that every value survives
// An element is an expression in f32 of a, b, c (the inputs in order) and s, t (the scalars in order); T is the dtype.
// What one line cannot hold is a function in functions.cuh.
COPY(copy)

ELEMENTWISE(fill, 0, 1, s)

BROADCAST(add, __fadd_rn(a, b))
BROADCAST(sub, __fsub_rn(a, b))
BROADCAST(mul, __fmul_rn(a, b))
BROADCAST(div, quotient<T>(a, b))
BROADCAST(add_gelu, gelu<T>(__fadd_rn(a, b)))

ELEMENTWISE(fma, 3, 0, fmaf(a, b, c))
ELEMENTWISE(lerp, 2, 1, fmaf(s, b - a, a))
ELEMENTWISE(scale, 1, 1, a * s)
ELEMENTWISE(clamp, 1, 2, min_or_nan(max_or_nan(a, s), t))

ELEMENTWISE(abs, 1, 0, fabsf(a))
ELEMENTWISE(neg, 1, 0, -a)
ELEMENTWISE(exp, 1, 0, exponential<T>(a))
ELEMENTWISE(log, 1, 0, logarithm<T>(a))
ELEMENTWISE(sqrt, 1, 0, square_root<T>(a))
ELEMENTWISE(rsqrt, 1, 0, rsqrtf(a))

ELEMENTWISE(relu, 1, 0, max_or_nan(a, 0.0f))
ELEMENTWISE(hardswish, 1, 0, a * min_or_nan(max_or_nan(a + 3.0f, 0.0f), 6.0f) * (1.0f / 6.0f))
ELEMENTWISE(sigmoid, 1, 0, sigmoid<T>(a))
ELEMENTWISE(tanh, 1, 0, hyperbolic_tangent<T>(a))
ELEMENTWISE(gelu, 1, 0, gelu<T>(a))
// As a times a sigmoid. The division of 2 ulp gives 0 where its divisor is above 2^126 and the result below 1e-36; a rounded one takes longer (H200, in graphs, f32 65536 1200 to 1105 ns).
ELEMENTWISE(gelu_tanh, 1, 0, __fdividef(a, 1.0f + exponential<T>(-1.5957691216f * fmaf(0.044715f * a * a, a, a))))
ELEMENTWISE(silu, 1, 0, silu<T>(a))

ELEMENTWISE(swiglu, 2, 0, silu<T>(a) * b)

ELEMENTWISE(gelu_backward, 2, 0, a * gelu_slope<T>(b))
ELEMENTWISE(silu_backward, 2, 0, a * silu_slope<T>(b))
