/** Columns of the table behind the operation and its parameters; times in ns per call. */
export const AFTER_PARAMS = [
  'dtype', 'backend', 'impl', 'device', 'mode', 'threads', 'status', 'samples', 'median_ns', 'ci_low_ns', 'ci_high_ns', 'mad_ns', 'p05_ns', 'p95_ns', 'min_ns', 'max_ns', 'mean_ns',
  'stddev_ns', 'bytes', 'flops', 'gbps', 'gflops', 'efficiency', 'ceiling_gbps', 'ceiling_gflops', 'speedup', 'peak_memory_bytes', 'library_peak_bytes', 'launch_overhead_ns', 'max_rel_error', 'converged', 'grade', 'message', 'started_at', 'result_id',
] as const

/** Before the name of a parameter that is called as a column is. */
export const PARAM_PREFIX = 'param_'
