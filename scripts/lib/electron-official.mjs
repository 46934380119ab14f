/**
 * Fetches Electron's own binary into @electron/get's cache, or fails within seconds when its server cannot be reached.
 * Run with Node 24: node electron-official.mjs
 */
import { createRequire } from 'node:module'
import { FetchDownloader, downloadArtifact } from '@electron/get'

const PROBE_MS = 5000
const require = createRequire(import.meta.url)
const { version } = require('electron/package.json')

/** Asks for the first byte before the whole, because a blocked connection would otherwise wait for minutes. */
class ProbingDownloader {
  async download(url, target, options) {
    const answer = await fetch(url, { method: 'HEAD', signal: AbortSignal.timeout(PROBE_MS) })
    if (!answer.ok) throw new Error(`${new URL(url).host} answered ${answer.status}`)
    await new FetchDownloader().download(url, target, options)
  }
}

try {
  await downloadArtifact({ version, artifactName: 'electron', cacheRoot: process.env.electron_config_cache, checksums: require('electron/checksums.json'), platform: process.platform, arch: process.arch, downloader: new ProbingDownloader() })
} catch (error) {
  process.stderr.write(`${error.cause?.message ?? error.message}\n`)
  process.exit(1)
}
