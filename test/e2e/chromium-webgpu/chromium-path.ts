import { existsSync } from 'node:fs'

/** Debian's Chromium, or the one named in OPSCOPE_CHROMIUM; undefined where there is none. */
export function chromiumPath(): string | undefined {
  const named = process.env['OPSCOPE_CHROMIUM']
  if (named) return existsSync(named) ? named : undefined
  return ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) => existsSync(path))
}

export const NO_CHROMIUM = 'there is no Chromium: apt-get install chromium, or set OPSCOPE_CHROMIUM'
