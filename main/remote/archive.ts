import { createHash } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { version } from '../../package.json'
import { RemoteProblem } from './problem'

/** The agent as one file for the machines it can run on. */
export interface Archive {
  path: string
  /** Folder that it is unpacked to there: version, and the beginning of its hash. */
  id: string
}

const nameOf = (platform: string) => `opscope-agent-${version}-${platform}.tar.gz`

/** What `uname -sm` says, as archives are called. */
const PLATFORMS: Readonly<Record<string, string>> = { 'Linux x86_64': 'linux-x64', 'Linux aarch64': 'linux-arm64' }

/** Where `npm run package -- --agent` leaves archives, and where a packed app has them. */
function places(env: NodeJS.ProcessEnv): string[] {
  const here = dirname(fileURLToPath(import.meta.url))
  const { resourcesPath } = process as { resourcesPath?: string }
  const own = env['OPSCOPE_AGENT_FOLDER']
  return [...(own ? [own] : []), ...(resourcesPath ? [join(resourcesPath, 'agents')] : []), join(here, '..', '..', 'dist'), join(here, '..', '..', '..', 'dist')]
}

/** The archive for a machine of which `uname -sm` says this. Throws a RemoteProblem where there is none. */
export async function findArchive(uname: string, env: NodeJS.ProcessEnv = process.env): Promise<Archive> {
  const platform = PLATFORMS[uname]
  if (platform === undefined) throw new RemoteProblem(`Opscope's agent runs on Linux (x86_64, aarch64), not on ${uname}.`, false)
  const path = places(env).map((folder) => join(folder, nameOf(platform))).find((file) => existsSync(file))
  if (path === undefined) throw new RemoteProblem(`There is no agent to copy: make ${nameOf(platform)} with "npm run package -- --agent" on a ${platform} machine and put it into dist.`, false)
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer)
  return { path, id: `${version}-${hash.digest('hex').slice(0, 16)}` }
}
