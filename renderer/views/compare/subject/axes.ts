import { COMPARE_AXES, type CompareAxis } from '@core/compare'
import type { SessionSummary } from '@core/session/types'

/** What the cases of one session can be compared by, as users read it. */
export interface AxisWords {
  id: CompareAxis
  title: string
  noun: string
  about: string
}

const WORDS: Readonly<Record<CompareAxis, Omit<AxisWords, 'id'>>> = {
  impl: { title: 'Implementation', noun: 'an implementation', about: 'Implementations of any backend, with the same operation, sizes, dtype and mode' },
  backend: { title: 'Backend', noun: 'a backend', about: 'Backends with their preferred implementation' },
  dtype: { title: 'Dtype', noun: 'a dtype', about: 'Element types with the same implementation' },
  mode: { title: 'Mode', noun: 'a mode', about: 'Cold, hot and other modes of the same case' },
  device: { title: 'Device', noun: 'a device', about: 'The same implementation on several devices of one backend, such as two GPUs' },
  host: { title: 'Host', noun: 'a host', about: 'The same case on several machines' },
  threads: { title: 'Threads', noun: 'a choice of threads', about: 'Thread counts of the same CPU implementation' },
}

export const axisOf = (id: CompareAxis): AxisWords => ({ id, ...WORDS[id] })
export const AXES: readonly AxisWords[] = COMPARE_AXES.map(axisOf)

/** Whether a session has cases of its own to compare: blocks of pairs and of self-checks count for their pair only. */
export const hasCases = ({ about }: Pick<SessionSummary, 'about'>): boolean => about?.kind !== 'interleaved' && about?.kind !== 'self-check'
