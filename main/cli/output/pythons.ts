import type { Device, Interpreter } from '@core/backend'

/** A Python that was found, and whether it is measured with. */
export interface ListedPython extends Interpreter {
  used: boolean
  /** Why it is not. */
  reason?: string
}

/** The Pythons of devices, each once, in the order listed. */
export function pythonsOf(devices: readonly Device[]): ListedPython[] {
  const byPath = new Map<string, ListedPython>()
  for (const { interpreter, available } of devices) {
    if (!interpreter || byPath.get(interpreter.path)?.used) continue
    const known = byPath.get(interpreter.path)
    if (available.ok) byPath.set(interpreter.path, { ...interpreter, used: true })
    else if (!known) byPath.set(interpreter.path, { ...interpreter, used: false, reason: available.reason })
  }
  return [...byPath.values()]
}

/** Lines that say what a Python is, what it has, and the commands that install what it lacks. */
export function pythonText({ path, source, version, packages, used, reason }: ListedPython): string {
  const width = Math.max(0, ...packages.map(({ name }) => name.length))
  const lines = packages.map(({ name, version: of, detail, problem, install }) => {
    const has = of === undefined ? (problem ?? 'not installed') : `${of}${detail ? ` (${detail})` : ''}${problem ? `: ${problem}` : ''}`
    return `  ${name.padEnd(width)}  ${has}${install ? `; install it with: ${install}` : ''}`
  })
  return ['', `Python ${version ?? 'of unknown version'}, ${path} (${source}): ${used ? 'used' : (reason ?? 'not used')}`, ...lines].join('\n')
}
