import { version } from '../../package.json'
import { readEnvironment } from '../environment'
import { nativeHostKind, pythonHostKind } from '../measurement/host'
import { serveAgent } from './serve-agent'

/** `opscope agent`: serves the devices of this machine over the standard streams until they close. */
export async function runAgent(env: NodeJS.ProcessEnv): Promise<string> {
  const { devices: _devices, noiseFloors: _floors, ...environment } = readEnvironment([])
  return serveAgent(
    { input: process.stdin, output: process.stdout },
    { version, environment, hostKind: (host) => (host === 'native' ? nativeHostKind(env) : pythonHostKind(() => undefined, env)) },
  )
}
