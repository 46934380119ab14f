import type { Services } from '../../app/services'
import { DESTINATION } from '../../remote/ssh'
import { RequestError, type Handlers } from '../answer'

/** Remote machines. A page cannot have ssh connect to anything: the user agrees to each destination in a dialog of main's. */
export const remoteHandlers = ({ remotes, dialogs }: Pick<Services, 'remotes' | 'dialogs'>) =>
  ({
    'remotes:list': () => [...remotes.store.list()],
    'remotes:add': async ({ destination, name }) => {
      if (!DESTINATION.test(destination)) throw new RequestError('bad-request', `"${destination}" is no destination of ssh. Write user@host, or a Host of your ssh config.`)
      const agrees = await dialogs.confirm({
        message: 'Connect to this machine?',
        detail: `${destination}\n\nOpscope connects with ssh and your keys, copies its agent (about 60 MB) to ~/.cache/opscope there, and measures with it. Add only machines that you may use.`,
        action: 'Connect',
      })
      if (!agrees) return { done: false }
      try {
        return { done: true, remote: await remotes.add(destination, name) }
      } catch (error) {
        throw error instanceof RangeError ? new RequestError('bad-request', `${error.message[0]?.toUpperCase()}${error.message.slice(1)}.`) : error
      }
    },
    'remotes:remove': ({ name }) => {
      try {
        remotes.remove(name)
      } catch (error) {
        throw error instanceof RangeError ? new RequestError('not-found', `${error.message[0]?.toUpperCase()}${error.message.slice(1)}.`) : error
      }
      return [...remotes.store.list()]
    },
  }) satisfies Partial<Handlers>
