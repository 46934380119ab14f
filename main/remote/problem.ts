/** Why another machine cannot be used. `passing`: it may be gone by itself, so that a run waits for it. */
export class RemoteProblem extends Error {
  override name = 'RemoteProblem'
  constructor(
    message: string,
    readonly passing: boolean,
  ) {
    super(message)
  }
}

interface Sign {
  /** In what ssh, a shell or tar wrote there. */
  said: RegExp
  /** One sentence for the user. */
  means(name: string, destination: string): string
  passing?: boolean
}

const SIGNS: readonly Sign[] = [
  {
    said: /REMOTE HOST IDENTIFICATION HAS CHANGED|Offending .* key in|Host key verification failed[^]*changed/i,
    means: (name, destination) => `The host key of ${name} is not the one in known_hosts: it was installed anew, or another machine answers in its place. Compare its fingerprint, then replace the key yourself (ssh-keygen -R, then ssh ${destination}).`,
  },
  { said: /Host key verification failed|No \S+ host key is known|authenticity of host/i, means: (name, destination) => `The host key of ${name} is not known to ssh. Connect once by hand (ssh ${destination}), compare the fingerprint and accept it; Opscope accepts none by itself.` },
  { said: /Permission denied \(|Permission denied, please|Too many authentication failures|no mutual signature/i, means: (name, destination) => `${name} refused the login. Set up a key for it in ssh (ssh ${destination} must work without a password).` },
  { said: /No space left on device|Disk quota exceeded/i, means: (name) => `The disk of ${name} is full: Opscope's agent needs about 170 MB in ~/.cache/opscope there.` },
  { said: /Read-only file system|cannot create directory|Permission denied/i, means: (name) => `Opscope's agent could not be copied to ${name}: its ~/.cache/opscope cannot be written.` },
  { said: /Could not resolve hostname/i, means: (name, destination) => `The name of ${name} could not be resolved (${destination}).`, passing: true },
  { said: /Connection refused/i, means: (name) => `${name} refused the connection.`, passing: true },
  { said: /timed out|No route to host|Network is unreachable|Host is down/i, means: (name) => `${name} did not answer.`, passing: true },
  { said: /Connection (?:reset|closed)|closed by remote host|Broken pipe|kex_exchange_identification|not responding/i, means: (name) => `The connection to ${name} was closed.`, passing: true },
]

/** What the end of an ssh means, from its own words. `otherwise` where they are none of the known ones. */
export function remoteProblemOf(name: string, destination: string, stderr: string, otherwise: string): RemoteProblem {
  const sign = SIGNS.find(({ said }) => said.test(stderr))
  if (sign) return new RemoteProblem(sign.means(name, destination), sign.passing ?? false)
  const last = stderr.trim().split('\n').at(-1)?.trim() ?? ''
  return new RemoteProblem(last === '' ? otherwise : `${otherwise.replace(/\.$/, '')}: ${last.slice(0, 400)}`, true)
}
