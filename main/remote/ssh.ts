import { spawn, type ChildProcessByStdio } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'

/** A user and machine as ssh takes them: `user@host`, a Host of its config, `ssh://user@host:port`. Never an option, never a shell's business. */
export const DESTINATION = /^(?:ssh:\/\/)?[A-Za-z0-9_](?:[\w.@:-]|\[[0-9a-fA-F:]+\]){0,199}$/

export type Ssh = ChildProcessByStdio<Writable, Readable, Readable>

/**
 * Options of every connection. Nobody is asked (BatchMode), so that no password is typed or kept here; a host key that is
 * not known or has changed ends the connection; nothing of this machine is forwarded. The rest is the user's own config.
 */
const OPTIONS = [
  'BatchMode=yes',
  'StrictHostKeyChecking=yes',
  'ConnectTimeout=10',
  'ServerAliveInterval=5',
  'ServerAliveCountMax=3',
  'ClearAllForwardings=yes',
  'ForwardAgent=no',
  'ForwardX11=no',
  'PermitLocalCommand=no',
  'RequestTTY=no',
  'EscapeChar=none',
]

/** Where tests have a config of their own. */
const configFile = (env: NodeJS.ProcessEnv) => (env['OPSCOPE_SSH_CONFIG'] ? ['-F', env['OPSCOPE_SSH_CONFIG']] : [])

/** Starts the system's ssh with a command for a POSIX shell there, whatever shell the user has. `script` has no single quotes. */
export function startSsh(destination: string, script: string, env: NodeJS.ProcessEnv = process.env): Ssh {
  if (!DESTINATION.test(destination)) throw new RangeError(`"${destination}" is no destination of ssh; expected user@host or a Host of its config`)
  if (script.includes("'")) throw new RangeError('a script for ssh must have no single quotes')
  return spawn('ssh', [...configFile(env), ...OPTIONS.flatMap((option) => ['-o', option]), '--', destination, `sh -c '${script}'`], { stdio: ['pipe', 'pipe', 'pipe'], env, windowsHide: true })
}
