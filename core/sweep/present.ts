import type { Device } from '../backend'
import type { SweepSpec, Target } from '../session/sweep-spec'

/** The part of a target that these devices have now, with why the rest is missing. */
function presentPart(target: Target, devices: readonly Device[]): { target?: Target; missing: string[] } {
  const device = devices.find((one) => one.backend === target.backend && one.id === target.device)
  if (!device) return { missing: [`there is no device ${target.device} here`] }
  if (!device.available.ok) return { missing: [`${device.name}: ${device.available.reason}`] }
  const missing = target.impls.flatMap((id) => {
    const impl = device.impls.find((one) => one.id === id)
    return impl?.available.ok ? [] : [impl && !impl.available.ok ? `${impl.title} on ${device.name}: ${impl.available.reason}` : `${device.name} has no implementation ${id}`]
  })
  const impls = target.impls.filter((id) => device.impls.some((impl) => impl.id === id && impl.available.ok))
  if (impls.length === 0) return { missing }
  const threads = target.threads?.filter((count) => device.threads.includes(count))
  return { target: { backend: target.backend, device: target.device, impls, ...(threads?.length ? { threads } : {}) }, missing }
}

/**
 * A sweep without the devices, implementations and thread counts that this machine lacks: those come and go between starts,
 * and saved sweeps travel. `missing` says what was taken out.
 */
export function presentSweep(spec: SweepSpec, devices: readonly Device[]): { spec: SweepSpec; missing: string[] } {
  const parts = spec.targets.map((target) => presentPart(target, devices))
  return { spec: { ...spec, targets: parts.flatMap(({ target }) => target ?? []) }, missing: parts.flatMap(({ missing }) => missing) }
}
