/** The distribution's own name for itself out of os-release text (freedesktop.org), or undefined. */
export function parseOsRelease(text: string): string | undefined {
  const value = /^PRETTY_NAME=(.*)$/m.exec(text)?.[1]?.trim()
  return value?.replace(/^(["'])(.*)\1$/, '$2') || undefined
}

/** The processor's name out of /proc/cpuinfo, which some architectures give under other keys, or undefined. */
export function parseCpuInfo(text: string): string | undefined {
  for (const key of ['model name', 'Hardware', 'cpu model', 'Model']) {
    const value = new RegExp(`^${key}\\s*:\\s*(.+)$`, 'm').exec(text)?.[1]?.trim()
    if (value) return value
  }
  return undefined
}
