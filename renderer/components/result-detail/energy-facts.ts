import { perJoule } from '@core/measure/energy/windows'
import type { Result } from '@core/result'
import { formatBytesPerJoule, formatEnergy, formatFlopsPerJoule, localNumber } from '@core/units'
import type { Fact } from './facts'

/** Energy of a call and what follows from it; empty where it was not measured. */
export function energyFacts(result: Pick<Result, 'energy' | 'flops' | 'bytes'>): Fact[] {
  const { energy, flops, bytes } = result
  if (!energy) return []
  const { joulesPerCall, lowJ, highJ, watts, idleWatts, seconds, windows, sampledJoulesPerCall: sampled, source } = energy
  const { flopsPerJoule, bytesPerJoule, energyDelay } = perJoule({ energy, flops, bytes })
  return [
    { name: 'Energy of a call', value: formatEnergy(joulesPerCall) },
    { name: '95 % CI', value: `${formatEnergy(lowJ)} to ${formatEnergy(highJ)}, over ${windows} windows of ${localNumber((seconds / windows).toFixed(1))} s` },
    { name: 'Mean power', value: `${watts.toFixed(0)} W` },
    ...(idleWatts === undefined ? [] : [{ name: 'Idle power', value: `${idleWatts.toFixed(0)} W, included in the energy` }]),
    ...(flopsPerJoule === undefined ? [] : [{ name: 'Operations per joule', value: formatFlopsPerJoule(flopsPerJoule) }]),
    { name: 'Traffic per joule', value: formatBytesPerJoule(bytesPerJoule) },
    { name: 'Energy-delay product', value: localNumber(`${energyDelay.toExponential(2)} J s`) },
    ...(sampled === undefined ? [] : [{ name: 'By sampled power', value: `${formatEnergy(sampled)} (${localNumber(((sampled / joulesPerCall - 1) * 100).toFixed(1))} %)` }]),
    { name: 'Counter', value: source },
  ]
}
