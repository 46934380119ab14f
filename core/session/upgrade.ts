import { SCHEMA_VERSION } from './types'

/** A session file as parsed JSON, of whatever version; only `schemaVersion` is known about it. */
export type RawSessionFile = Record<string, unknown>

/** `steps[n]` turns a file of version n into one of version n + 1, without looking at anything it does not change. */
export type UpgradeSteps = Readonly<Record<number, (file: RawSessionFile) => RawSessionFile>>

/** One entry per version that was ever written, up to the one before SCHEMA_VERSION. */
const STEPS: UpgradeSteps = {
  // Sweeps called attributes variants; core/session/sweep-spec.ts reads both.
  1: (file) => file,
}

export type Upgrade = { ok: true; file: RawSessionFile } | { ok: false; message: string }

/** Brings a file to the current version one step at a time. Refuses versions that never existed or are newer than this app. */
export function upgradeSessionFile(file: RawSessionFile, steps: UpgradeSteps = STEPS, current: number = SCHEMA_VERSION): Upgrade {
  const version = file['schemaVersion']
  if (typeof version !== 'number' || !Number.isInteger(version) || version < 1) return { ok: false, message: `schemaVersion: expected a whole number from 1 to ${current}, received ${JSON.stringify(version)?.slice(0, 60) ?? 'nothing'}` }
  if (version > current) return { ok: false, message: `schemaVersion: written by a newer Opscope (version ${version}); this one reads up to ${current}` }
  let upgraded = file
  for (let at = version; at < current; at++) {
    const step = steps[at]
    if (!step) return { ok: false, message: `schemaVersion: files of version ${at} can no longer be read` }
    upgraded = { ...step(upgraded), schemaVersion: at + 1 }
  }
  return { ok: true, file: upgraded }
}
