import type { Device, Interpreter } from '@core/backend'
import type { PythonSettings } from '@core/settings'

/** Packages as their makers write them, by the name that Python imports. */
export const PACKAGE_TITLES: Readonly<Record<string, string>> = { numpy: 'NumPy', torch: 'PyTorch', triton: 'Triton', jax: 'JAX', cupy: 'CuPy' }

/** `NumPy 2.1.0, PyTorch 2.5.1` of the packages that can be used. */
export const packagesText = (packages: Interpreter['packages']): string => packages.flatMap(({ name, version }) => (version === undefined ? [] : [`${PACKAGE_TITLES[name] ?? name} ${version}`])).join(', ')

/** One Python with the devices it computes on. */
export interface FoundPython {
  interpreter: Interpreter
  devices: Device[]
  /** It is among the devices to measure on. */
  chosen: boolean
  /** At least one of its devices can be used. */
  usable: boolean
}

/** How the list names a Python that was found and that nobody asked for. */
const NOT_CHOSEN = 'found, not chosen'

/**
 * The Pythons of this machine among the devices, in the order listed. Without a choice of the user the first one, which the machine chose, is
 * the chosen one. One that the user chose is known by its path, or by its devices: main finds one Python under several paths.
 */
export function foundPythons(devices: readonly Device[], chosen: PythonSettings['chosen']): FoundPython[] {
  const byPath = new Map<string, Device[]>()
  for (const device of devices) if (device.interpreter && device.host === undefined) byPath.set(device.interpreter.path, [...(byPath.get(device.interpreter.path) ?? []), device])
  return [...byPath.values()].map((own, place) => ({
    interpreter: own[0]!.interpreter!,
    devices: own,
    chosen: own.some((device) => device.available.ok) || (chosen?.length ? chosen.includes(own[0]!.interpreter!.path) : place === 0 && own.some((device) => !device.available.ok && device.available.reason !== NOT_CHOSEN)),
    usable: own.some((device) => device.available.ok),
  }))
}

/** The settings with one more or one fewer Python to measure with. The last one cannot be taken out: none means the best one found. */
export function withChoice(settings: PythonSettings | undefined, found: readonly FoundPython[], path: string, chosen: boolean): PythonSettings {
  const now = settings?.chosen?.length ? settings.chosen : found.filter((one) => one.chosen).map((one) => one.interpreter.path)
  const next = chosen ? [...now.filter((one) => one !== path), path] : now.filter((one) => one !== path)
  return { extra: settings?.extra ?? [], ...(next.length ? { chosen: next } : {}) }
}
