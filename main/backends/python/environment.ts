/** Python's own switches (paths, warnings, hash seeds), and thread counts and pinning of the libraries, which a case states itself. */
const REMOVED = /^(PYTHON.*|OPSCOPE_PYTHON.*|OMP_(NUM_THREADS|THREAD_LIMIT|PROC_BIND|PLACES|DYNAMIC|NESTED|MAX_ACTIVE_LEVELS)|(MKL|OPENBLAS|BLIS|NUMEXPR|VECLIB)_(NUM|MAXIMUM)_THREADS|GOMP_CPU_AFFINITY|KMP_AFFINITY)$/i

/** The environment of a Python that measures: the user's (GPUs made visible, library paths), less what would change behind the back of a case. */
export function pythonEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.fromEntries(Object.entries(env).filter(([name]) => !REMOVED.test(name)))
  // As many threads as were asked for, whatever else runs.
  return { ...kept, OMP_DYNAMIC: 'FALSE', MKL_DYNAMIC: 'FALSE' }
}

/**
 * Switches of every Python that is started: no PYTHON* variables, nothing buffered, no files written beside ours. Packages
 * that `pip install` put into the user's own folder do count, so it is not `-I`.
 */
export const PYTHON_SWITCHES = ['-E', '-u', '-B'] as const
