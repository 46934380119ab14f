import type { SessionSummary } from '@core/session/types'

/** Whether a session has cases of its own to compare: blocks of pairs and of self-checks count for their pair only. */
export const hasCases = ({ about }: Pick<SessionSummary, 'about'>): boolean => about?.kind !== 'interleaved' && about?.kind !== 'self-check'
