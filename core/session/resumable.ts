import type { Session } from './types'

/**
 * Whether what a session has left can be measured later. Blocks measured interleaved only tell something beside each
 * other: a interleaved comparison that was cut off is started anew.
 */
export const isResumable = ({ about }: Pick<Session, 'about'>): boolean => about === undefined || about.kind === 'ceilings'
