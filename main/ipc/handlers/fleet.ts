import type { Services } from '../../app/services'
import type { FleetSettings } from '../../fleet/connect'
import { RequestError, type Handlers } from '../answer'

const sentence = (error: unknown) => {
  const text = error instanceof Error ? error.message : String(error)
  return `${text[0]?.toUpperCase()}${text.slice(1).replace(/[.]$/, '')}.`
}

const failed = (error: unknown): never => {
  throw new RequestError('failed', sentence(error))
}

/** A fleet. A page cannot have main connect to anything: the user agrees to a server, and picks the file of its credentials, in dialogs of main's. */
export const fleetHandlers = ({ fleet, dialogs }: Pick<Services, 'fleet' | 'dialogs'>) =>
  ({
    'fleet:watch': async ({ on }) => (await fleet()).watch(on),
    'fleet:use': async ({ server, credentials, ownAuthority, insecure }) => {
      const { checkSettings } = await import('../../fleet/connect')
      const settings: FleetSettings = { server, ...(insecure ? { insecure } : {}) }
      try {
        checkSettings(settings)
      } catch (error) {
        throw new RequestError('bad-request', sentence(error).replace('use --creds or --nkey', 'choose a credentials file instead').replace(', or --insecure on a network that you trust', ', or allow an unencrypted connection on a network that you trust'))
      }
      if (!(await dialogs.confirm({ message: 'Connect to this NATS server?', detail: `${server}\n\nOpscope sends sweeps to it and takes results from it. Use only a server that you trust.`, action: 'Connect' }))) return { done: false }
      if (credentials !== 'none') {
        const [file] = await dialogs.open(credentials === 'creds' ? 'Credentials of NATS' : 'Seed of an nkey', { name: credentials === 'creds' ? 'Credentials' : 'Seed', extensions: ['*'] })
        if (file === undefined) return { done: false }
        settings[credentials] = file
      }
      if (ownAuthority) {
        const [file] = await dialogs.open('Certificate of the authority', { name: 'Certificate (PEM)', extensions: ['*'] })
        if (file === undefined) return { done: false }
        settings.tlsCa = file
      }
      try {
        return { done: true, state: await (await fleet()).use(settings) }
      } catch (error) {
        return failed(error)
      }
    },
    'fleet:drain': async ({ host }) => {
      await (await fleet()).drain(host)
      return undefined
    },
    'fleet:collect': async () => {
      void (await fleet()).collect()
      return undefined
    },
    'fleet:plan': async (order) => (await fleet()).plan(order),
    'fleet:run': async (order) => (await fleet()).run(order),
    'fleet:cancel': async ({ sessionId }) => (await fleet()).cancel(sessionId).catch(failed),
    'fleet:restore': async ({ sessionId }) => (await fleet()).restore(sessionId).catch(failed),
  }) satisfies Partial<Handlers>
