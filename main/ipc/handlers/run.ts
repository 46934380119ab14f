import type { Services } from '../../app/services'
import type { Handlers } from '../answer'
import { noteFound } from './python'

export const runHandlers = ({ history, runner, foundPrograms }: Services) =>
  ({
    'devices:list': async ({ refresh }) => {
      const devices = await runner.devices(refresh)
      noteFound(foundPrograms, devices)
      return devices
    },
    'ceilings:list': () => history.ceilings(),
    'ceilings:measure': ({ devices, all, choices }) => runner.measureCeilings(devices, { ...(all === undefined ? {} : { all }), ...(choices === undefined ? {} : { choices }) }),
    'self-check:run': ({ devices, pairs }) => runner.selfCheck(devices, pairs),
    'noise:list': () => history.noiseFloors(),
    'run:start': ({ spec, name }) => runner.start(spec, name),
    'run:resume-session': ({ sessionId }) => runner.resumeSession(sessionId),
    'run:pause': () => runner.pause(),
    'run:resume': () => runner.resume(),
    'run:stop': () => runner.stop(),
    'run:state': () => runner.state(),
  }) satisfies Partial<Handlers>
