import { mix32 } from '../../random'
import { summarize } from '../../stats/summarize'
import type { SessionFile } from '../../session/types'
import { randomSession } from '../random-session'

/**
 * A random session whose times a clock could give (a picosecond to 20 minutes per call), with statistics that fit its
 * samples: for formats that are read with bounds on times.
 */
export function plausibleSession(seed: number): SessionFile {
  let state = seed
  const time = () => 1e-3 * 10 ** (((state = mix32((state + 1) >>> 0)) / 2 ** 32) * 15)
  const file = randomSession(seed)
  for (const result of file.results) {
    result.samplesNs = result.samplesNs.map(time)
    delete result.labels
    delete result.stated
    if (result.summary) result.summary = summarize(result.samplesNs)
    result.bytes = Math.floor(time())
    result.flops = Math.floor(time())
    if (result.caseBytes !== undefined) result.caseBytes = Math.floor(time())
    if (result.libraryPeakBytes !== undefined) result.libraryPeakBytes = Math.floor(time())
    if (result.hostCallNs !== undefined) result.hostCallNs = time()
  }
  return file
}
