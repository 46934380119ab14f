// Every reduction, one line each: the kernels (reduction.cu) and their registration (reduction.plan.cc) are made from it, in
// f32, f16 and bf16. Included with these macros defined:
//   REDUCTION(op, start, element, joined, result)   a value in the dtype of the case
//   POSITION(op, element)                           the i32 place of the largest element, the first of several
//   PRODUCT(op, start, element, joined, result)     of two vectors: dims [n]
// An element is an expression in f32 of a (and b); joined, of two partial results p and q; the result, of p and the number n
// of elements. The order in which partial results are joined is fixed, so results repeat bit for bit.
REDUCTION(sum, 0.0f, a, p + q, p)
REDUCTION(mean, 0.0f, a, p + q, p / n)
REDUCTION(sum_to_shape, 0.0f, a, p + q, p)
REDUCTION(max, -INFINITY, a, max_or_nan(p, q), p)
REDUCTION(min, INFINITY, a, min_or_nan(p, q), p)
REDUCTION(norm_l1, 0.0f, fabsf(a), p + q, p)
REDUCTION(norm_l2, 0.0f, a * a, p + q, sqrtf(p))
REDUCTION(norm_linf, 0.0f, fabsf(a), max_or_nan(p, q), p)

POSITION(argmax, 0.0f + a)
POSITION(argmin, 0.0f - a)

PRODUCT(dot, 0.0f, a * b, p + q, p)
PRODUCT(mse_loss, 0.0f, (a - b) * (a - b), p + q, p / n)
